"""`headway bench`: how fast Headway trains here, beside what one would write instead."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from benchmarks.bench import PARTS, Part
from headway.cli import UserError
from headway.cli.parsing import parse

if TYPE_CHECKING:
    from rich.console import Console

    from benchmarks.bench.record import BenchRecord

USAGE = """\
Measure the speed of training on this machine: on the CPU, or on the GPU if JAX has one.

  rivals        a training step of plain PyTorch, torch.compile and plain JAX, in turn with Headway's
  transformers  small transformers of paper B and of text, many seeds in one program, beside PyTorch and a floor
  forms         paper A's models beyond these: a part removed, more layers or heads, other positions, n-gram windows
  scaling       what a step costs against batch, T, d, heads, layers, width, blocks of the task and seeds
  start         compiling, memory, and the time from the command to its first step
  evaluation    what the evaluations of a default run cost beside its steps
  reduction     the gradient flow of d x d matrices against the same flow in coordinates

All contestants must first give the same loss and gradients, or nothing is measured. Records, tables and pictures
are made as the numbers come in: stop it whenever you like. All of it takes about two hours on two cores.
PyTorch is not part of Headway: without `pip install '.[torch]'` only plain JAX takes part.

examples:
  headway bench --what rivals                     who is faster, and by how much
  headway bench --quick                           everything in a minute, in shapes too small to mean anything
  headway bench --what rivals --rivals torch --rounds 15
  headway bench --what forms --only without-norm rotary --rivals torch-compile
  headway bench --into benchmarks --document docs/speed.md
  headway bench --from runs/bench                 show what was measured, and measure nothing
"""


@dataclass(frozen=True)
class Options:
    """What to measure, and where to write."""

    what: tuple[Part | Literal["all"], ...] = ("all",)
    """Parts to measure."""
    quick: bool = False
    """Small shapes, which show that everything works and nothing about speed."""
    rivals: tuple[Literal["torch", "torch-compile", "torch-graphs", "jax"], ...] | None = None
    """Whom to compare with; if not given, torch, torch-compile and jax, and with --quick torch and jax.
    torch-graphs is torch.compile with CUDA graphs, for the parts `transformers` and `forms` on a GPU; jax has no part
    in these two.
    """
    only: tuple[str, ...] = ()
    """Cases to measure, by the names in their records; all of a part if not given."""
    processes: int = 1
    """Of the part `forms`: how many cases are compiled at once. Each is timed alone. They share the device's memory:
    twenty were too many for a GPU of 141 GB."""
    rounds: int | None = None
    """How often everything is measured in turn; each part has its own number if not given."""
    into: Path = Path("runs/bench")
    """Folder for records and pictures; besides --document, nothing is written elsewhere."""
    from_: Annotated[Path | None, tyro.conf.arg(name="from")] = None
    """Show the measurements in this folder instead of measuring."""
    document: Path | None = None
    """Also write all measurements in the folder as Markdown to this file."""


def main(arguments: Sequence[str]) -> None:
    options = parse(Options, arguments, prog="headway bench", description=USAGE)
    if options.rounds is not None and options.rounds < 1:
        raise UserError(f"--rounds is {options.rounds}, but everything must be measured at least once.")
    if options.processes < 1:
        raise UserError(f"--processes is {options.processes}, but somebody must measure. Use 1 or more.")
    if not options.what or options.rivals == ():
        raise UserError("--what and --rivals need a name or more, as in `headway bench --what rivals --rivals jax`.")
    # From here on nobody waits for help.
    from rich.console import Console

    from benchmarks.bench.record import BenchError, read_all

    try:
        made = None
        if options.from_ is None:
            made = _measure(options, Console(stderr=True, highlight=False, markup=False, soft_wrap=True))
        folder = options.into if options.from_ is None else options.from_
        records = read_all(folder)
        if not records:
            raise UserError(f"there are no records in {folder}. `headway bench --into {folder}` measures some.")
        _show(records if made is None else made, Console(highlight=False, markup=False))
        _write(records, folder, options)
    except BenchError as error:
        raise UserError(str(error)) from error


def _measure(options: Options, console: Console) -> list[BenchRecord]:
    """Measure what was asked for; an interruption keeps what is on the disk, and says so."""
    from benchmarks.bench.run import measure

    what = PARTS if "all" in options.what else tuple(dict.fromkeys(options.what))
    usual = ("torch", "jax") if options.quick else ("torch", "torch-compile", "jax")
    rivals = usual if options.rivals is None else tuple(dict.fromkeys(options.rivals))
    given = " --quick" if options.quick else ""
    given += "" if options.rivals is None else f" --rivals {' '.join(rivals)}"
    given += "" if options.rounds is None else f" --rounds {options.rounds}"
    try:
        return measure(
            what,
            options.into,
            quick=options.quick,
            opponents=rivals,
            rounds=options.rounds,
            options=given,
            only=options.only,
            processes=options.processes,
            say=console.print,
        )
    except KeyboardInterrupt:
        print(
            f"\nInterrupted. What was measured is in {options.into}; `headway bench --from {options.into}` shows it.",
            file=sys.stderr,
        )
        raise SystemExit(130) from None


def _show(records: Sequence[BenchRecord], console: Console) -> None:
    """One table for each part, scale and platform."""
    from rich.table import Table

    from benchmarks.bench.document import rounds
    from benchmarks.bench.tables import table

    for part, scale, platform in dict.fromkeys((each.part, each.scale, each.platform) for each in records):
        alike = [each for each in records if (each.part, each.scale, each.platform) == (part, scale, platform)]
        words = table(part, alike)
        title = f"{part}, {scale} scale, {platform}, {rounds(words)}"
        shown = Table(
            box=None, padding=(0, 2), collapse_padding=True, pad_edge=False, title=title, title_justify="left"
        )
        for heading in words.headings:
            shown.add_column(heading)
        for row in words.rows:
            shown.add_row(*row)
        console.print(shown)
        console.print()


def _write(records: Sequence[BenchRecord], folder: Path, options: Options) -> None:
    """The pictures beside the records, and the document where it was asked for."""
    from benchmarks.bench.document import document
    from benchmarks.bench.draw import pictures, save

    for name, figure in pictures(records).items():
        print(save(figure, folder / f"{name}.png"))
    if options.document is not None:
        command = f"headway bench --from {folder} --document {options.document}"
        options.document.parent.mkdir(parents=True, exist_ok=True)
        text = document(records, folder, options.document.parent, command)
        options.document.write_text(text, encoding="utf-8")
        print(options.document)
