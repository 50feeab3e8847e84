"""`headway run ... --dry-run`: the cells that are missing, their programs, time and memory, before anything starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from headway.cli.screen import clock, name
from headway.sweep.plan import Part, device, plan, room, total

if TYPE_CHECKING:
    from headway.records import Cell
    from headway.store import Store

MOST_ROWS = 60
"""Programs that are shown one by one; of what is computed in one go there can be thousands."""


def show_plan(missing: Sequence[Cell], wanted: int, store: Store, workers: int = 1) -> None:
    """Print what a sweep of these cells would be, and that nothing was started."""
    parts = plan(missing, store, workers)
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
    for line in _summary(parts, wanted, workers):
        console.print(line, markup=False, highlight=False)


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
    return "small" if part.memory is None else f"{part.memory / 2**20:,.0f} MiB"


def _summary(parts: Sequence[Part], wanted: int, workers: int) -> list[str]:
    cells = sum(len(part.bundle.cells) for part in parts)
    if not cells:
        return [f"Nothing is missing: all {wanted} cells are there. Nothing was started."]
    seconds, unknown = total(parts, workers)
    time = f"about {clock(seconds)} by records of the same shape" if len(parts) > unknown else "time unknown"
    rest = f", and {unknown} programs of which no record says how long they take" if len(parts) > unknown > 0 else ""
    limit = room()
    has = "unknown memory" if limit is None else f"{limit / 2**20:,.0f} MiB for a program"
    at_once = f", {workers} at once" if workers > 1 else ""
    programs = sum(part.programs for part in parts)
    return [
        f"{counted(cells, 'cell')} to compute in {counted(programs, 'program')}{at_once}: {time}{rest}.",
        f"This device ({device()}) has {has}. Nothing was started.",
        *too_large(parts),
    ]


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def too_large(parts: Sequence[Part]) -> list[str]:
    """The programs that will not fit, with the number and what to change."""
    limit = room()
    return [
        f"{name(part.bundle.cells[0])} needs about {part.memory / 2**20:,.0f} MiB and will not fit. "
        "Take fewer seeds, a smaller model or fewer samples."
        for part in parts
        if limit is not None and part.memory is not None and part.memory > limit
    ]
