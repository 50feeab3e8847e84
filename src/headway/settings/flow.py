"""A gradient flow instead of a training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from headway.settings.checks import require, require_number, require_whole, settle


@dataclass(frozen=True)
class FlowSettings:
    """The population gradient flow of attention on a regression (paper A, equation 6); the defaults are figure 10's."""

    KIND: ClassVar[str] = "flow"

    features: int = 3
    """h: how many features there are, one at a position each."""
    heads: int | None = None
    """H: as many heads as features if not given."""
    length: int = 40
    """T: how many positions there are."""
    ratio: float = 1.7
    """m: each feature is this many times as strong as the next."""
    base: float = 1.0
    """Strength of the weakest feature."""
    noise: float = 1e-6
    """Variance of what is added to the uniform attention that every head starts with; values start at zero."""
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

    def __post_init__(self) -> None:
        settle(self)
        require_whole("features", self.features, 1)
        require_whole("length", self.length, 1)
        require_whole("points", self.points, 2)
        if self.heads is not None:
            require_whole("heads", self.heads, 1)
        require(
            self.features <= self.length,
            f"{self.features} features do not fit on {self.length} positions. Use length >= {self.features}.",
        )
        require_number("ratio", self.ratio, above=1)
        require_number("base", self.base, above=0)
        require_number("noise", self.noise, least=0)
        require_number("first", self.first, above=0)
        require_number("last", self.last, above=self.first)
        if self.dimension is not None:
            require_whole("dimension", self.dimension, 1)
            require(
                self.features <= self.dimension**2,
                f"{self.features} orthogonal features do not fit into {self.dimension} x {self.dimension} matrices. "
                "Use a larger dimension, or none.",
            )
