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
    rows = {}
    for each in working:
        name = f"process {each.number}{' (CPU)' if each.place == 'cpu' else ''}, {each.programs} programs"
        known = {**each.spent}
        known["waiting"] = known.get("waiting", 0.0) + max(0.0, each.seconds - sum(known.values()))
        rows[name] = known
    show_spent(console, rows)


def show_spent(console: Console, spent: Mapping[str, Mapping[str, float]]) -> None:
    """Name of a process -> seconds by `SPENT`: a line about one, a table if there are several."""
    everything = {name: sum(each.get(name, 0.0) for each in spent.values()) for name in SPENT}
    total = sum(everything.values())
    if total < LEAST:
        return
    if len(spent) == 1:
        parts = (f"{name} {clock(seconds)}" for name, seconds in everything.items() if clock(seconds) != clock(0))
        console.print(f"time: {', '.join(parts)}", style="dim", highlight=False)
        return
    table = Table(box=None, padding=(0, 2))
    table.add_column("where the time went")
    for name in (*SPENT, "all"):
        table.add_column(name, justify="right")
    rows = [*spent.items(), ("all together", everything)]
    for name, own in rows:
        seconds = [own.get(each, 0.0) for each in SPENT]
        table.add_row(name, *map(clock, (*seconds, sum(seconds))))
    table.add_row("", *(f"{everything[name] / total:.0%}" for name in SPENT), "")
    console.print(table)
