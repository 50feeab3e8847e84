"""The gradient flow of attention on a regression, its portraits and stage times."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from headway.settings.checks import require, require_number, require_whole, settle


@dataclass(frozen=True)
class StrengthSettings:
    """Features of falling strength, one at a position each."""

    GROUP: ClassVar[str] = ""
    """What stands before the name of a setting in messages."""

    features: int = 3
    """h: how many features there are, one at a position each."""
    ratio: float = 1.7
    """m: each feature is this many times as strong as the next."""
    base: float = 1.0
    """Strength of the weakest feature."""

    def __post_init__(self) -> None:
        settle(self, self.GROUP)
        require_whole(f"{self.GROUP}features", self.features, 1)
        require_number(f"{self.GROUP}ratio", self.ratio, above=1)
        require_number(f"{self.GROUP}base", self.base, above=0)

    @property
    def strengths(self) -> tuple[float, ...]:
        """m_k = base ratio^(h - k), k = 1 .. h: the strongest first."""
        return tuple(self.base * self.ratio ** (self.features - k) for k in range(1, self.features + 1))

    @property
    def plateaus(self) -> tuple[float, ...]:
        """1/2 sum_{j > i} m_j^2, i = 0 .. h: where the loss waits once i features are learned, the last at 0."""
        squares = [strength**2 for strength in self.strengths]
        return tuple(sum(reversed(squares[known:])) / 2 for known in range(self.features + 1))


@dataclass(frozen=True)
class FeatureSettings(StrengthSettings):
    """Features, and heads that start near uniform attention."""

    heads: int | None = None
    """H: as many heads as features if not given."""
    length: int = 40
    """T: how many positions there are."""
    noise: float = 1e-6
    """Variance of what is added to the uniform attention that every head starts with; values start at zero."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole(f"{self.GROUP}length", self.length, 1)
        if self.heads is not None:
            require_whole(f"{self.GROUP}heads", self.heads, 1)
        require(
            self.features <= self.length,
            f"{self.features} features do not fit on {self.length} positions. "
            f"Use {self.GROUP}length >= {self.features}.",
        )
        require_number(f"{self.GROUP}noise", self.noise, least=0)

    @property
    def head_count(self) -> int:
        """H, given or not."""
        return self.features if self.heads is None else self.heads


@dataclass(frozen=True)
class FlowSettings(FeatureSettings):
    """The population gradient flow of attention on a regression (paper A, equation 6); the defaults are figure 10's."""

    KIND: ClassVar[str] = "flow"

    projections: Literal[1, 2] = 2
    """How often Pi(s) is applied in ds/dt: twice as printed, once as in the authors' simulation."""
    dimension: int | None = None
    """d: solve for matrices of this size; if not given, for their coordinates: the same flow, whatever d is."""
    first: float = 0.1
    """The first time that is kept, besides 0."""
    last: float = 1e4
    """The last time."""
    points: int = 200
    """How many times are kept, evenly spaced on a logarithmic axis."""
    weight_decay: float = field(default=0.0, metadata={"added": "0.3"})
    """lambda: -lambda V and -lambda q are added to the flow of the values V and of the logits q."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("points", self.points, 2)
        require_number("weight_decay", self.weight_decay, least=0)
        require_number("first", self.first, above=0)
        require_number("last", self.last, above=self.first)
        if self.dimension is not None:
            require_whole("dimension", self.dimension, 1)
            require(
                self.features <= self.dimension**2,
                f"{self.features} orthogonal features do not fit into {self.dimension} x {self.dimension} matrices. "
                "Use a larger dimension, or none.",
            )


@dataclass(frozen=True)
class StageTimesSettings(FeatureSettings):
    """When the gradient flow of attention (paper A, equation 6) goes from plateau to plateau; defaults: figure 10's."""

    KIND: ClassVar[str] = "stage-times"

    projections: Literal[1, 2] = 2
    """How often Pi(s) is applied in ds/dt: twice as printed, once as in the authors' simulation."""
    last: float = 1e4
    """A stage that has not ended by this time counts as never ending."""
    weight_decay: float = field(default=0.0, metadata={"added": "0.3"})
    """lambda: -lambda V and -lambda q are added to the flow of the values V and of the logits q."""

    def __post_init__(self) -> None:
        settle(self)
        require_number("weight_decay", self.weight_decay, least=0)
        require_whole("features", self.features, 2)
        require_whole("length", self.length, 2)
        require_number("noise", self.noise, above=0)
        super().__post_init__()
        require_number("last", self.last, above=0)


@dataclass(frozen=True)
class PortraitSettings(StrengthSettings):
    """The flow of the next head once others have settled (paper A, equation 11), on a plane that it never leaves."""

    KIND: ClassVar[str] = "portrait"

    projections: Literal[1, 2] = 2
    """How often Pi(s) is applied in ds/dt: twice as printed, once as in the authors' simulation."""
    known: int = 1
    """n: how many features are learned already; equation (11) is n = 1."""
    reach: float = 2.5
    """How far the picture goes along the value, in strengths of the next feature; to the other side it goes one."""
    columns: int = 6
    """Orbits begin in this many columns of the picture .."""
    rows: int = 4
    """.. and this many rows: one at a random place in each."""
    first: float = 0.1
    """The first time that is kept, besides 0."""
    last: float = 1e3
    """The last time."""
    points: int = 60
    """How many times are kept, evenly spaced on a logarithmic axis."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("features", self.features, 2)
        require_whole("known", self.known, 1)
        require(
            self.known < self.features,
            f"{self.known} of {self.features} features are known, so the next head has nothing to learn. Use known "
            f"< {self.features}.",
        )
        for name in ("columns", "rows"):
            require_whole(name, getattr(self, name), 1)
        require_whole("points", self.points, 2)
        require_number("reach", self.reach, above=0)
        require_number("first", self.first, above=0)
        require_number("last", self.last, above=self.first)
