"""`headway export`: the numbers of a record as one long table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from headway.cli import UserError

USAGE = """\
Write the numbers of a record as CSV or Parquet, by the suffix of the file: one row for each number, with columns
seed, clock, time, quantity, the axes by name, and value.

examples:
  headway export runs/markov-0123456789abcdef numbers.csv
  headway export runs/markov-0123456789abcdef curves.parquet --only excess_loss kl_rungs
"""


@dataclass(frozen=True)
class Options:
    """What to write, and where."""

    record: Annotated[Path, tyro.conf.Positional]
    """Folder of a record; `headway list` and the page name them."""
    file: Annotated[Path, tyro.conf.Positional]
    """File to write, ending in .csv or .parquet."""
    only: tuple[str, ...] = ()
    """Quantities to write; all but the attention matrices if not given."""
    overwrite: bool = False
    """Replace the file if it exists."""


def main(arguments: Sequence[str]) -> None:
    options = tyro.cli(Options, args=list(arguments), prog="headway export", description=USAGE)
    from headway.export import ExportError, export
    from headway.store import load

    try:
        path = export(load(options.record), options.file, quantities=options.only or None, overwrite=options.overwrite)
    except ExportError as error:
        raise UserError(str(error)) from error
    from headway.store.texts import printable

    print(printable(str(path)))
