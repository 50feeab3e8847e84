"""`headway export`: the numbers of a record as one long table, or one seed of it as a moving picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from headway.cli import UserError
from headway.cli.parsing import parse

USAGE = """\
Write the numbers of a record as CSV or Parquet, by the suffix of the file: one row for each number, with columns
seed, clock, time, quantity, the axes by name, and value. A file that ends in .gif gets a moving picture of one seed:
its ladder, and where its heads attend.

examples:
  headway export runs/markov-0123456789abcdef numbers.csv
  headway export runs/markov-0123456789abcdef curves.parquet --only excess_loss kl_rungs
  headway export runs/markov-0123456789abcdef learning.gif --seed 3
"""


@dataclass(frozen=True)
class Options:
    """What to write, and where."""

    record: Annotated[Path, tyro.conf.Positional]
    """Folder of a record; `headway list` and the page name them."""
    file: Annotated[Path, tyro.conf.Positional]
    """File to write, ending in .csv, .parquet or .gif."""
    only: tuple[str, ...] = ()
    """Quantities to write; all but the attention matrices if not given."""
    seed: int = 0
    """Of a moving picture: the seed that it shows."""
    overwrite: bool = False
    """Replace the file if it exists."""


def main(arguments: Sequence[str]) -> None:
    options = parse(Options, arguments, prog="headway export", description=USAGE)
    from headway.export import export
    from headway.store import load

    try:
        record = load(options.record)
        if options.file.suffix == ".gif":
            from headway.report.figures.animation import export_animation

            path = export_animation(record, options.file, options.seed, options.overwrite)
        else:
            path = export(record, options.file, quantities=options.only or None, overwrite=options.overwrite)
    except ValueError as error:
        raise UserError(str(error)) from error
    from headway.store.texts import printable

    print(printable(str(path)))
