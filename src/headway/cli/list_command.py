"""`headway list`: the experiments with their grids, and every record on disk by its name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table

from headway.cli.arguments import USUAL, folders_with_records, seeds_of, title
from headway.experiments import NAMES, find
from headway.lookup import answer, readable
from headway.records import Cell
from headway.store import Record, Store, StoreError

USAGE = """\
The experiments, their grids, and how much of each is on disk; then every record with the settings that set it apart.

examples:
  headway list
  headway list --from results     what a GPU found at paper scale
"""

FIGURES = "figures"
"""Our own folder among the records."""


@dataclass(frozen=True)
class Options:
    """Where to look."""

    from_: Annotated[tuple[Path, ...], tyro.conf.arg(name="from")] = USUAL
    """Folders with records; runs and results, where they are, if not given."""


def main(arguments: Sequence[str]) -> None:
    options = tyro.cli(Options, args=list(arguments), prog="headway list", description=USAGE)
    stores = [Store(folder) for folder in folders_with_records(options.from_)]
    table = Table(box=None, padding=(0, 2))
    for heading in ("experiment", "grid", "on disk", "what it shows"):
        table.add_column(heading)
    among = readable(stores)
    for name in NAMES:
        experiment = find(name)
        for number, (grid, runs) in enumerate(experiment.GRIDS.items()):
            cells = [Cell(settings, seeds_of(experiment, grid)) for settings in runs.values()]
            done = sum(_is_done(cell, stores, among) for cell in cells)
            first = number == 0
            table.add_row(name if first else "", grid, f"{done}/{len(cells)} runs", title(experiment) if first else "")
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print(table, soft_wrap=False)
    for store in stores:
        console.print(f"\n{store.root}:")
        for entry in store.status():
            if entry.identity != FIGURES:
                console.print(f"  {entry.state:<10} {entry.identity}  {entry.summary}")


def _is_done(cell: Cell, stores: Sequence[Store], among: Sequence[Record]) -> bool:
    """Whether something on disk answers the cell; a record that is damaged does not, and is listed as such below."""
    try:
        return answer(cell, stores, loosely=True, among=among) is not None
    except StoreError:
        return False
