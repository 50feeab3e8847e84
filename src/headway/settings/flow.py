"""A gradient flow instead of a training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from headway.settings.checks import require, require_number, require_whole
from headway.settings.features import FeatureSettings


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

    def __post_init__(self) -> None:
        super().__post_init__()
        require_whole("points", self.points, 2)
        require_number("first", self.first, above=0)
        require_number("last", self.last, above=self.first)
        if self.dimension is not None:
            require_whole("dimension", self.dimension, 1)
            require(
                self.features <= self.dimension**2,
                f"{self.features} orthogonal features do not fit into {self.dimension} x {self.dimension} matrices. "
                "Use a larger dimension, or none.",
            )
