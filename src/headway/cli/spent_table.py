"""Where the time of a sweep went: seconds by what they were spent on, for every process if there are several."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.table import Table

from headway.cli.screen import clock
from headway.sweep.tally import SPENT

if TYPE_CHECKING:
    from rich.console import Console

    from headway.sweep.tally import Working

LEAST = 5.0
"""Seconds below which nobody asks where they went."""


class StopWatch:
    """Seconds between laps, added up by what they were spent on."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._since = time.monotonic()

    def lap(self, name: str) -> None:
        """Everything since the last lap was spent on this."""
        now = time.monotonic()
        self.laps[name] = self.laps.get(name, 0.0) + now - self._since
        self._since = now


def show_ending(console: Console, spent: Mapping[str, float], processes: int, early: int = 0) -> None:
    """A line about what came after the last training: claims, figures and the page."""
    total = sum(spent.values())
    if total < LEAST:
        return
    by = {"figures": f" by {processes} processes" if processes > 1 else ""}
    parts = ", ".join(f"{name} {clock(seconds)}{by.get(name, '')}" for name, seconds in spent.items())
    before = f" ({early} grids drawn during training)" if early else ""
    words = f"{clock(total)} from records to the page: {parts}{before}"
    console.print(words, style="dim", highlight=False, soft_wrap=True)


def show_working(console: Console, working: Sequence[Working]) -> None:
    """Of workers: what is in none of their reports, they waited, for work or for their end."""
    rows, programs = {}, {}
    for each in working:
        name = f"{each.number}{' (CPU)' if each.place == 'cpu' else ''}"
        known = {**each.spent}
        known["waiting"] = known.get("waiting", 0.0) + max(0.0, each.seconds - sum(known.values()))
        rows[name], programs[name] = known, each.programs
    show_spent(console, rows, programs)


def show_spent(
    console: Console, spent: Mapping[str, Mapping[str, float]], programs: Mapping[str, int] | None = None
) -> None:
    """Name of a process -> seconds by `SPENT`: a line about one, a table if there are several."""
    everything = {name: sum(each.get(name, 0.0) for each in spent.values()) for name in SPENT}
    total = sum(everything.values())
    if total < LEAST:
        return
    if len(spent) == 1:
        parts = (f"{name} {clock(seconds)}" for name, seconds in everything.items() if clock(seconds) != clock(0))
        console.print(f"{clock(total)} in all: {', '.join(parts)}", style="dim", highlight=False)
        return
    # Eighty columns hold it, which is what a log has; `done` are programs.
    table = Table(box=None, padding=(0, 1, 0, 0), title="where the time went", title_justify="left", title_style="bold")
    for name in ("process", "done", *SPENT, "all"):
        table.add_column(name, justify="left" if name == "process" else "right", no_wrap=True)
    rows = [*spent.items(), ("together", everything)]
    counted = dict(programs or {})
    counted["together"] = sum(counted.values())
    for name, own in rows:
        seconds = [own.get(each, 0.0) for each in SPENT]
        table.add_row(name, str(counted.get(name, "")), *map(clock, (*seconds, sum(seconds))))
    table.add_row("", "", *(f"{everything[name] / total:.0%}" for name in SPENT), "")
    console.print(table)
