"""Claims and figures of many outcomes, by as many processes as are worth it; by this one alone, the files are the same.

early(outcome)       while others are still trained: judged and drawn by helpers that stand back
begin(outcomes)      judge what is left here, and have it drawn by helpers meanwhile
figures(outcome)     the files of its figures: awaited, or drawn here
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from headway.experiments.helpers import MOST, Helpers, asked_of
from headway.experiments.left_out import say
from headway.experiments.outcome import Outcome
from headway.experiments.pages import draw_figures, drawn_before, is_ours, note

WORTH = 3
"""Outcomes to draw from which on helpers save more time than they take to start."""
EARLY = 2
"""Helpers beside a training."""


def free_cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Drawing:
    """The figures of a command's outcomes, in one folder."""

    def __init__(self, folder: Path, cores: int | None = None) -> None:
        self._folder, self._cores = folder, min(MOST, cores or free_cores())
        self._helpers = Helpers()
        self._early: set[str] = set()

    @property
    def processes(self) -> int:
        """How many draw: helpers, or this one."""
        return self._helpers.started or 1

    @property
    def early_ones(self) -> int:
        """How many outcomes were drawn before `begin`."""
        return len(self._early)

    def early(self, outcome: Outcome) -> None:
        """Have it judged and drawn while other processes train."""
        if self._cores > 1 and self._is_new(outcome):
            self._helpers.most, self._helpers.gentle = min(EARLY, self._cores - 1), True
            self._helpers.ask(asked_of(outcome, self._folder))

    def listen(self) -> None:
        """Let helpers that are done do what comes next: to be called now and then."""
        self._helpers.listen()

    def begin(self, outcomes: Sequence[Outcome]) -> None:
        """Judge those that are to be drawn, and let helpers begin to, if there are enough of them."""
        self._helpers.listen()
        new = {outcome.name: outcome for outcome in outcomes if self._is_new(outcome)}
        for name, outcome in tuple(new.items()):
            done = self._helpers.done(asked_of(outcome, self._folder))
            if done is not None:
                outcome.take(done.judged)
                for complaint in done.complaints:
                    say(complaint)
                self._early.add(name)
                del new[name]
        if self._cores == 1 or (len(new) < WORTH and not self._helpers.started):
            return
        self._helpers.most, self._helpers.gentle = self._cores, False
        self._helpers.start(len(new))
        # The largest first, for they take longest: nobody should begin with one when all others are done.
        for outcome in sorted(new.values(), key=_bytes, reverse=True):
            if outcome.complete:
                self._helpers.ask(asked_of(outcome, self._folder, outcome.judged))

    def figures(self, outcome: Outcome) -> list[Path]:
        """The files of a complete outcome's figures."""
        done = self._helpers.answer(asked_of(outcome, self._folder))
        if done is None:
            return draw_figures(outcome, self._folder)
        for complaint in () if outcome.name in self._early else done.complaints:
            say(complaint)
        note(outcome, self._folder, done.drawn)
        return done.drawn.paths

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._helpers.close()

    def _is_new(self, outcome: Outcome) -> bool:
        """Whether a helper could draw it, and it has not been drawn before."""
        whole = outcome.records.keys() >= outcome.experiment.grids[outcome.grid].keys()
        return whole and is_ours(outcome) and drawn_before(outcome, outcome.records, self._folder) is None


def _bytes(outcome: Outcome) -> int:
    return sum(stamp["bytes"] for record in outcome.records.values() for stamp in record.files.values())
