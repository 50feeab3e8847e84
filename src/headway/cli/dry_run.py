"""`headway run ... --dry-run`: the cells that are missing, their programs, time and memory, before anything starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from headway.cli.screen import clock
from headway.sweep.fitting import counted, mib, too_large
from headway.sweep.plan import Part, device, plan, total
from headway.sweep.watch import name

if TYPE_CHECKING:
    from headway.records import Cell
    from headway.store import Store
    from headway.training.limits import Limit

MOST_ROWS = 60
"""Programs that are shown one by one; of what is computed in one go there can be thousands."""


def show_plan(
    missing: Sequence[Cell], wanted: int, store: Store, limit: Limit | None, workers: int = 1, elsewhere: bool = False
) -> bool:
    """Print what a sweep of these cells would be, and that nothing was started; whether all of it fits the memory."""
    parts = plan(missing, store, workers, limit)
    table = Table(box=None, padding=(0, 2))
    for heading in ("run", "steps", "cells", "seeds", "programs", "memory", "time"):
        table.add_column(heading, justify="left" if heading == "run" else "right", no_wrap=True)
    for part in parts[:MOST_ROWS]:
        table.add_row(*_row(part))
    console = Console()
    if parts:
        console.print(table)
    if len(parts) > MOST_ROWS:
        console.print(f"and {len(parts) - MOST_ROWS} more programs")
    refused = list(filter(None, (too_large(part.largest, limit) for part in parts)))
    for line in [*_summary(parts, wanted, workers, _machine(limit, elsewhere)), *refused]:
        console.print(line, markup=False, highlight=False)
    return not refused


def _row(part: Part) -> list[str]:
    bundle = part.bundle
    steps = getattr(getattr(bundle.cells[0].settings, "training", None), "steps", "")
    members = sum(len(cell.seeds) for cell in bundle.cells)
    time = "unknown" if part.seconds is None else clock(part.seconds)
    return [
        name(bundle.cells[0]),
        str(steps),
        str(len(bundle.cells)),
        str(members),
        str(part.programs),
        _size(part),
        time,
    ]


def _size(part: Part) -> str:
    return "small" if part.memory is None else mib(part.memory)


def _machine(limit: Limit | None, elsewhere: bool) -> str:
    has = "unknown memory" if limit is None else f"{mib(limit.free)} for a program ({limit.source})"
    return f"A worker has {has}." if elsewhere else f"This device ({device()}) has {has}."


def _summary(parts: Sequence[Part], wanted: int, workers: int, machine: str) -> list[str]:
    cells = sum(len(part.bundle.cells) for part in parts)
    if not cells:
        return [f"Nothing is missing: all {wanted} cells are there. Nothing was started."]
    seconds, unknown = total(parts, workers)
    time = f"about {clock(seconds)} by records of the same shape" if len(parts) > unknown else "time unknown"
    rest = f", and {unknown} programs of which no record says how long they take" if len(parts) > unknown > 0 else ""
    at_once = f", {workers} at once" if workers > 1 else ""
    programs = sum(part.programs for part in parts)
    return [
        f"{counted(cells, 'cell')} to compute in {counted(programs, 'program')}{at_once}: {time}{rest}.",
        f"{machine} Nothing was started.",
    ]
