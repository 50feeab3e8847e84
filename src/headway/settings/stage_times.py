"""How long the stages of a gradient flow take, and nothing else of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from headway.settings.checks import require_number, require_whole, settle
from headway.settings.features import FeatureSettings


@dataclass(frozen=True)
class StageTimesSettings(FeatureSettings):
    """When the gradient flow of attention (paper A, equation 6) goes from plateau to plateau; defaults: figure 10's."""

    KIND: ClassVar[str] = "stage-times"

    projections: Literal[1, 2] = 2
    """How often Pi(s) is applied in ds/dt: twice as printed, once as in the authors' simulation."""
    last: float = 1e4
    """A stage that has not ended by this time counts as never ending."""

    def __post_init__(self) -> None:
        settle(self)
        require_whole("features", self.features, 2)
        require_whole("length", self.length, 2)
        require_number("noise", self.noise, above=0)
        super().__post_init__()
        require_number("last", self.last, above=0)
