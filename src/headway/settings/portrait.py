"""A picture of one head's flow in a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from headway.settings.checks import require, require_number, require_whole
from headway.settings.features import StrengthSettings


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
            f"{self.known} of {self.features} features are known, so that no next head has anything to learn. "
            f"Use known < {self.features}.",
        )
        for name in ("columns", "rows"):
            require_whole(name, getattr(self, name), 1)
        require_whole("points", self.points, 2)
        require_number("reach", self.reach, above=0)
        require_number("first", self.first, above=0)
        require_number("last", self.last, above=self.first)
