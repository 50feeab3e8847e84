"""Where the time of a sweep went: seconds by what they were spent on, for every process if there are several."""

from __future__ import annotations

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
