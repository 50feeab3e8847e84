"""Which models a run keeps besides its last one: a choice about files, which changes neither a run's name nor numbers.

12        the first, and those of about twelve log-spaced evaluations
stages    the first and, of every seed and rung, the one at which KL to the rung was lowest
all       that of every evaluation
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from headway.settings.checks import refuse

STAGES, ALL = "stages", "all"


@dataclass(frozen=True)
class Keep:
    """The choice as a word; the empty one keeps nothing but the last model."""

    word: str = ""

    def __post_init__(self) -> None:
        count = int(self.word) if self.word.isascii() and self.word.isdigit() and len(self.word) < 10 else 0
        if self.word not in ("", STAGES, ALL) and count < 1:
            refuse(
                f'--keep-weights is {self.word!r}, but it must be a number of log-spaced steps such as 12, "{STAGES}" '
                f'or "{ALL}".'
            )

    def __bool__(self) -> bool:
        return bool(self.word)

    @property
    def by_rung(self) -> bool:
        """Whether what is kept depends on what is measured."""
        return self.word == STAGES

    def steps(self, evaluations: Sequence[int]) -> set[int]:
        """The evaluations whose models are kept whatever is measured; `evaluations` rise from 0."""
        if self.word in ("", STAGES):
            return set(evaluations[:1]) if self.word else set()
        if self.word == ALL:
            return set(evaluations)
        later = [step for step in evaluations if step > 0]
        if not later:
            return set(evaluations[:1])
        wanted = int(self.word)
        places = [math.log(later[-1]) * number / max(1, wanted - 1) for number in range(wanted)]
        return {0} | {min(later, key=lambda step: abs(math.log(step) - place)) for place in places}


NOTHING = Keep()


def keep_of(told: str | int | None) -> Keep:
    """12, "12", "stages", "all"; nothing for None."""
    if isinstance(told, bool) or not isinstance(told, (str, int, type(None))):
        refuse(f'keep_weights is {told!r}, but it must be a number of steps such as 12, "{STAGES}" or "{ALL}".')
    return Keep("" if told is None else str(told))
