"""`headway export`: the numbers of a record as one long table, one seed as a moving picture, or one of its models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from headway.cli import UserError
from headway.cli.parsing import parse

USAGE = """\
Write the numbers of a record as CSV or Parquet, depending on the suffix of the file: one row per
number, with columns seed, clock, time, quantity, the axes by name, and value. A file that ends in .gif gets an
animation of one seed: its ladder and the attention of its heads. With --as, a model of the record is written: as
one readable file of plain PyTorch or for TransformerLens, each with a file of weights, or as the weights alone.

examples:
  headway export runs/markov-0123456789abcdef numbers.csv
  headway export runs/markov-0123456789abcdef curves.parquet --only excess_loss kl_rungs
  headway export runs/markov-0123456789abcdef learning.gif --seed 3
  headway export runs/markov-0123456789abcdef model.py --as torch --seed 1
  headway export runs/markov-0123456789abcdef lens.py --as transformerlens --step 120
  headway export runs/markov-0123456789abcdef weights.safetensors --as safetensors
"""


@dataclass(frozen=True)
class Options:
    """What to write, and where."""

    record: Annotated[Path, tyro.conf.Positional]
    """Folder of a record, as shown by `headway list` and the page."""
    file: Annotated[Path, tyro.conf.Positional]
    """File to write: .csv, .parquet or .gif; for a model .py, or .safetensors for the weights alone."""
    as_: Annotated[Literal["numbers", "torch", "transformerlens", "safetensors"], tyro.conf.arg(name="as")] = "numbers"
    """What to write: the numbers, in the format given by the suffix, or a model."""
    only: tuple[str, ...] = ()
    """Quantities to write; all except the attention matrices if not given."""
    seed: int | None = None
    """Seed of the animation or the model; 0, or the record's first seed, if not given."""
    step: int | None = None
    """Step of the model, which must have been kept (headway run --keep-weights); the last if not given."""
    overwrite: bool = False
    """Replace the file if it exists."""


def main(arguments: Sequence[str]) -> None:
    options = parse(Options, arguments, prog="headway export", description=USAGE)
    from headway.store.texts import printable

    try:
        paths = _numbers(options) if options.as_ == "numbers" else _model(options)
    except ValueError as error:
        raise UserError(str(error)) from error
    for path in paths:
        print(printable(str(path)))


def _numbers(options: Options) -> list[Path]:
    from headway.export import export
    from headway.store import load

    if options.step is not None:
        raise UserError("--step chooses a model. Say what to write, as in --as torch.")
    record = load(options.record)
    if options.file.suffix == ".gif":
        from headway.export.animation import export_animation

        return [export_animation(record, options.file, options.seed or 0, options.overwrite)]
    return [export(record, options.file, quantities=options.only or None, overwrite=options.overwrite)]


def _model(options: Options) -> list[Path]:
    from headway.export.models import export_model
    from headway.store import load

    if options.only:
        raise UserError("--only names quantities of a table. A model is written whole: leave it out.")
    model = load(options.record).model(options.seed, options.step)
    return export_model(model, options.file, options.as_, overwrite=options.overwrite)
