"""`headway run ... --dry-run`: the cells that are missing, their programs, time and memory, before anything starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from headway.cli.screen import clock
from headway.sweep.fitting import counted, limit_of, mib, too_large
from headway.sweep.schedule import Part, Schedule, costs_for, device, left_of, on_processes, one_by_one, planned
from headway.sweep.watch import name

if TYPE_CHECKING:
    from headway.records import Cell
    from headway.store import Store
    from headway.sweep.engines import Engine
    from headway.sweep.engines.layout import Layout

MOST_ROWS = 60
"""Programs that are shown one by one; of what is computed in one go there can be thousands."""


def show_plan(missing: Sequence[Cell], wanted: int, stores: Sequence[Store], engine: Engine | None) -> bool:
    """Print what a sweep of these cells would be, and that nothing was started; whether all of it fits the memory."""
    left, costs = left_of(missing, stores[0], stores[1:]), costs_for(missing, stores)
    layout: Layout | None = None if engine is None else engine.layout
    elsewhere = engine is not None and engine.elsewhere
    limit = limit_of(engine, len(missing))
    if layout is not None:
        schedule = on_processes(left, layout, costs)
    else:
        platform = None if elsewhere else "cpu" if device().startswith("cpu") else "gpu"
        schedule = one_by_one(left, limit, costs, platform)
    console = Console()
    if not schedule.parts:
        console.print(
            f"Nothing to compute: {counted(wanted, 'cell')}, on disk already. Nothing was started.", highlight=False
        )
        return True
    console.print(_table(schedule.parts, beside=layout is not None and bool(layout.gpus)))
    if len(schedule.parts) > MOST_ROWS:
        console.print(f"and {len(schedule.parts) - MOST_ROWS} more programs")
    with planned(None if layout is None else layout.memory):
        large = (part.largest for part in schedule.parts if part.place == "device")
        refused = list(filter(None, (too_large(each, limit) for each in large)))
    has = "unknown memory" if limit is None else f"{mib(limit.free)} for a program ({limit.source})"
    machine = "A worker" if elsewhere else f"This device ({device()})"
    for line in [*_summary(schedule, engine), f"{machine} has {has}. Nothing was started.", *refused]:
        console.print(line, markup=False, highlight=False)
    return not refused


def _table(parts: Sequence[Part], beside: bool) -> Table:
    table = Table(box=None, padding=(0, 2))
    for heading in ("run", "steps", "cells", "seeds", "programs", "memory", "time", *(["on"] if beside else [])):
        # On a narrow screen a long name is wrapped: numbers would be cut.
        table.add_column(heading, justify="left" if heading in ("run", "on") else "right", no_wrap=heading != "run")
    for part in parts[:MOST_ROWS]:
        bundle = part.bundle
        steps = getattr(getattr(bundle.cells[0].settings, "training", None), "steps", "")
        numbers = (steps, len(bundle.cells), bundle.members, part.programs)
        memory = "small" if part.memory is None else mib(part.memory)
        time = "unknown" if part.seconds is None else clock(part.seconds)
        where = [{"device": "GPU", "cpu": "CPU"}[part.place]] if beside else []
        table.add_row(name(bundle.cells[0]), *map(str, numbers), memory, time, *where)
    return table


def _summary(schedule: Schedule, engine: Engine | None) -> list[str]:
    cells = sum(len(part.bundle.cells) for part in schedule.parts)
    programs = counted(sum(part.programs for part in schedule.parts), "program")
    time = "time unknown" if schedule.seconds is None else f"about {clock(schedule.seconds)}, and the page"
    return [f"{counted(cells, 'cell')} to compute in {programs}{_by(engine)}: {time} (how accurate: docs/cluster.md)."]


def _by(engine: Engine | None) -> str:
    if engine is None or engine.workers is None:
        return ""
    layout = engine.layout
    beside = f" and {layout.beside} on the CPU" if layout is not None and layout.gpus and layout.beside else ""
    share = f", each with {layout.share:.1%} of the GPU's memory" if layout is not None and layout.gpus else ""
    number = "1 process" if engine.workers == 1 else f"{engine.workers} processes"
    return f" by {number}{beside}{share}"
