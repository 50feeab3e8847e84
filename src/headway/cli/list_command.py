"""`headway list`: the experiments with their grids, and which runs are on disk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table

from headway.cli.arguments import title
from headway.experiments import NAMES, find
from headway.lookup import answer
from headway.records import Cell
from headway.store import Store

USAGE = """\
The experiments, their grids, and how much of each is on disk.

examples:
  headway list
  headway list --from results     what a GPU found at paper scale
"""


@dataclass(frozen=True)
class Options:
    """Where to look."""

    from_: Annotated[tuple[Path, ...], tyro.conf.arg(name="from")] = (Path("runs"),)
    """Folders with records."""


def main(arguments: Sequence[str]) -> None:
    options = tyro.cli(Options, args=list(arguments), prog="headway list", description=USAGE)
    stores = [Store(folder) for folder in options.from_ if folder.is_dir()]
    table = Table(box=None, padding=(0, 2))
    for heading in ("experiment", "grid", "on disk", "what it shows"):
        table.add_column(heading)
    for name in NAMES:
        experiment = find(name)
        for number, (grid, runs) in enumerate(experiment.GRIDS.items()):
            cells = [Cell(settings, tuple(range(experiment.SEEDS[grid]))) for settings in runs]
            done = sum(answer(cell, stores, loosely=True) is not None for cell in cells)
            first = number == 0
            table.add_row(name if first else "", grid, f"{done}/{len(cells)} runs", title(experiment) if first else "")
    console = Console()
    console.print(table)
    unfinished = [entry for store in stores for entry in store.status() if entry.state != "done"]
    if unfinished:
        console.print("\nnot whole:")
        for entry in unfinished:
            console.print(f"  {entry.state:<10} {entry.identity}  {entry.summary}", highlight=False, markup=False)
