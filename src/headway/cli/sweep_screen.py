"""How far other processes are, in one line; plain lines where there is no terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from headway.cli.screen import LiveScreen, clock

if TYPE_CHECKING:
    from headway.sweep.tally import Tally

PLAIN_EVERY = 30.0
"""Seconds between lines where nobody sees a live one and nothing has changed."""


class SweepScreen(LiveScreen):
    """Shows every tally that is reported to it."""

    def __init__(self, engine: str, console: Console | None = None) -> None:
        super().__init__(console)
        self._engine = engine
        self._began = time.monotonic()
        self._first: int | None = None
        self._last: tuple[Tally | None, float] = (None, 0.0)

    def tell(self, tally: Tally) -> None:
        """Show it; without a terminal, when it has changed or after a while."""
        self._first = tally.done if self._first is None else self._first
        line = f"{self._engine}: {words(tally)}, {clock(time.monotonic() - self._began)} so far{self._left(tally)}"
        before, when = self._last
        if self.console.is_terminal:
            self._live.update(Text(line))
        elif tally != before or time.monotonic() - when > PLAIN_EVERY:
            self._last = tally, time.monotonic()
            self.console.print(line, markup=False, highlight=False)

    def _left(self, tally: Tally) -> str:
        """At the pace of the cells that were done while somebody looked."""
        done, rest = tally.done - (self._first or 0), tally.all - tally.done - tally.failed
        if not done or not rest:
            return ""
        return f", about {clock((time.monotonic() - self._began) / done * rest)} left"


def words(tally: Tally) -> str:
    """3 of 10 done, 2 running, 1 failed, 4 left"""
    numbers = {
        "running": tally.running,
        "not responding": tally.stale,
        "failed": tally.failed,
        "left": tally.left,
    }
    return ", ".join([f"{tally.done} of {tally.all} done", *(f"{n} {name}" for name, n in numbers.items() if n)])
