"""What every flow of attention, and every training that it describes, is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

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
