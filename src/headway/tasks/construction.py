"""A solution made by hand, for a look at what training could find."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

from headway.settings.checks import require, require_number, require_whole, settle
from headway.tasks.chain import Chain


@dataclass(frozen=True)
class ConstructionSettings:
    """The hand-made solution of one Markov chain (paper A, section 2.3), looked at for several sharpnesses."""

    KIND: ClassVar[str] = "construction"

    task: Chain = field(default_factory=Chain)
    sharpness: tuple[float, ...] = tuple(map(float, range(21)))
    """lambda: the score of the positions that a head is made to look at; the others have 0."""
    test_samples: int = 3000

    def __post_init__(self) -> None:
        settle(self)
        require_whole("test_samples", self.test_samples, 1)
        for number in self.sharpness:
            require_number("a number of sharpness", number, least=0)
        require(
            len(self.sharpness) > 0 and all(a < b for a, b in pairwise(self.sharpness)),
            f"sharpness is {self.sharpness!r}, but it must be one or more numbers, each larger than the one before.",
        )
