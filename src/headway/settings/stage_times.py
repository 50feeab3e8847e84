"""How long the stages of a gradient flow take, and nothing else of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from headway.settings.checks import require, require_number, require_whole, settle


@dataclass(frozen=True)
class StageTimesSettings:
    """When the gradient flow of attention (paper A, equation 6) goes from plateau to plateau; defaults: figure 10's."""

    KIND: ClassVar[str] = "stage-times"

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
    last: float = 1e4
    """A stage that has not ended by this time is said not to end."""

    def __post_init__(self) -> None:
        settle(self)
        require_whole("features", self.features, 2)
        require_whole("length", self.length, 2)
        if self.heads is not None:
            require_whole("heads", self.heads, 1)
        require(
            self.features <= self.length,
            f"{self.features} features do not fit on {self.length} positions. Use length >= {self.features}.",
        )
        require_number("ratio", self.ratio, above=1)
        require_number("base", self.base, above=0)
        require_number("noise", self.noise, above=0)
        require_number("last", self.last, above=0)

    @property
    def crowd(self) -> int:
        """H, given or not."""
        return self.features if self.heads is None else self.heads
