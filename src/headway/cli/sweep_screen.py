"""How far other processes are: a line about all, one about each that reports; plain lines without a terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from headway.cli.screen import LiveScreen, clock
from headway.store.texts import visible

if TYPE_CHECKING:
    from headway.sweep.tally import Tally, Working

PLAIN_EVERY = 30.0
"""Seconds between lines where nobody sees a live one and nothing has changed."""
TRUST = 0.25
"""Of the plan, before anything is known about how good it is."""


class SweepScreen(LiveScreen):
    """Shows every tally that is reported to it."""

    def __init__(self, engine: str, console: Console | None = None) -> None:
        super().__init__(console)
        self._engine = engine
        self._began = time.monotonic()
        self._first: int | None = None
        self._planned: float | None = None
        self._last: tuple[Tally | None, float] = (None, 0.0)
        self.working: tuple[Working, ...] = ()
        """What workers do, or did, by the last tally."""

    def tell(self, tally: Tally) -> None:
        """Show it; without a terminal, when it has changed or after a while."""
        self._first = tally.done if self._first is None else self._first
        line = f"{self._engine}: {words(tally)}, {clock(time.monotonic() - self._began)} so far{self._left(tally)}"
        before, when = self._last
        self.working = tally.working or self.working
        for note in tally.notes:
            self.console.print(visible(note), markup=False, highlight=False)
        if self.console.is_terminal:
            self._live.update(Group(Text(line), rows(tally.working)) if tally.working else Text(line))
        elif tally != before or time.monotonic() - when > PLAIN_EVERY:
            self._last = tally, time.monotonic()
            self.console.print(line + at_step(tally.working), markup=False, highlight=False)

    def _left(self, tally: Tally) -> str:
        """By the plan, as far as it was right until now; without one at the pace of the cells that were done."""
        so_far, done, rest = time.monotonic() - self._began, tally.done - (self._first or 0), tally.all - tally.done
        if not rest - tally.failed:
            return ""
        if tally.ahead is not None:
            self._planned = tally.ahead if self._planned is None else self._planned
            return f", about {clock(corrected(tally.ahead, self._planned, so_far))} left"
        return f", about {clock(so_far / done * (rest - tally.failed))} left" if done else ""


def corrected(ahead: float, planned: float, so_far: float) -> float:
    """Seconds that are left, where the plan had `planned` at first and has `ahead` now.

    What was done took so_far / (planned - ahead) times as long as planned; at first little is known of this, so that a
    part of the plan counts as done in time.
    """
    trusted = TRUST * planned
    return ahead * (so_far + trusted) / max(planned - ahead + trusted, trusted, 1e-9)


def rows(working: Sequence[Working]) -> Table:
    """process 3   8-gram, 10 seeds side by side   step 400/2000   loss 2.31   0:35 left"""
    table = Table(box=None, padding=(0, 2), show_header=False)
    for each in working:
        if each.state == "ended":
            continue
        name = f"process {each.number}{' (CPU)' if each.place == 'cpu' else ''}"
        if each.state != "working":
            table.add_row(name, each.state)
        elif not each.steps:
            table.add_row(name, "computing", "", "", clock(each.since))
        else:
            done = f"step {each.step}/{each.steps}" if each.step else "compiling"
            loss = f"loss {each.loss:.3f}" if each.step and isfinite(each.loss) else ""
            table.add_row(name, f"{each.run} ({each.members} seeds side by side)", done, loss, _rest(each))
    return table


def at_step(working: Sequence[Working]) -> str:
    """; at step 400/2000 (8-gram), compiling (full)"""
    training = [each for each in working if each.state == "working" and each.steps]
    told = [f"{f'{each.step}/{each.steps}' if each.step else 'compiling'} ({each.run})" for each in training]
    return f"; at step {', '.join(told)}" if told else ""


def _rest(working: Working) -> str:
    if not working.step:
        return clock(working.since)
    return f"{clock(working.since * (working.steps - working.step) / working.step)} left"


def words(tally: Tally) -> str:
    """3 of 10 done, 2 running, 1 failed, 4 left"""
    numbers = {
        "running": tally.running,
        "not responding": tally.stale,
        "failed": tally.failed,
        "left": tally.left,
    }
    return ", ".join([f"{tally.done} of {tally.all} done", *(f"{n} {name}" for name, n in numbers.items() if n)])
