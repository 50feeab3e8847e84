"""`headway export`: the numbers of a record as one long table, or one of its models for another program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from headway.cli import UserError

USAGE = """\
Write the numbers of a record as CSV or Parquet, by the suffix of the file: one row for each number, with columns
seed, clock, time, quantity, the axes by name, and value. Or, with --as, a model of it: as one readable file of plain
PyTorch, for TransformerLens, both with the weights beside it, or as the weights alone.

examples:
  headway export runs/markov-0123456789abcdef numbers.csv
  headway export runs/markov-0123456789abcdef curves.parquet --only excess_loss kl_rungs
  headway export runs/markov-0123456789abcdef model.py --as torch --seed 1
  headway export runs/markov-0123456789abcdef lens.py --as transformerlens --step 120
  headway export runs/markov-0123456789abcdef weights.safetensors --as safetensors
"""


@dataclass(frozen=True)
class Options:
    """What to write, and where."""

    record: Annotated[Path, tyro.conf.Positional]
    """Folder of a record; `headway list` and the page name them."""
    file: Annotated[Path, tyro.conf.Positional]
    """File to write, ending in .csv or .parquet; of a model in .py, or .safetensors for weights alone."""
    as_: Annotated[Literal["table", "torch", "transformerlens", "safetensors"], tyro.conf.arg(name="as")] = "table"
    """What to write: the numbers as a table, or a model."""
    seed: int | None = None
    """Whose model; that of the first seed if not given."""
    step: int | None = None
    """The model of this step, which must have been kept (headway run --keep-weights); the last if not given."""
    only: tuple[str, ...] = ()
    """Quantities to write; all but the attention matrices if not given."""
    overwrite: bool = False
    """Replace the file if it exists."""


def main(arguments: Sequence[str]) -> None:
    options = tyro.cli(Options, args=list(arguments), prog="headway export", description=USAGE)
    from headway.export import ExportError
    from headway.store.texts import printable

    try:
        paths = _table(options) if options.as_ == "table" else _model(options)
    except ExportError as error:
        raise UserError(str(error)) from error
    for path in paths:
        print(printable(str(path)))


def _table(options: Options) -> list[Path]:
    from headway.export import export
    from headway.store import load

    if options.seed is not None or options.step is not None:
        raise UserError("--seed and --step choose a model. Say what to write, as in --as torch.")
    only = options.only or None
    return [export(load(options.record), options.file, quantities=only, overwrite=options.overwrite)]


def _model(options: Options) -> list[Path]:
    from headway.export.models import export_model
    from headway.store import load

    if options.only:
        raise UserError("--only names quantities of a table. A model is written whole: leave it out.")
    model = load(options.record).model(options.seed, options.step)
    return export_model(model, options.file, options.as_, overwrite=options.overwrite)
