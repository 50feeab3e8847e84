"""`headway ladders`: the plateaus and transitions of every task in the same words, from whatever records there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from headway.cli import UserError
from headway.cli.arguments import USUAL, folders_with_records
from headway.cli.parsing import parse

if TYPE_CHECKING:
    from headway.analysis.transitions import Transitions

USAGE = """\
Compare the length of the plateau before each rung with the gain of that rung, the drop in loss to it: one line per
task, over all records, seeds and rungs in the folders. In records without losses of their rungs, the end of the
plateau counts as the one transition. With --into, two figures are written.

examples:
  headway ladders --from results
  headway ladders --from results runs --into docs/figures
"""


@dataclass(frozen=True)
class Options:
    """Where the records are, and where figures go."""

    from_: Annotated[tuple[Path, ...], tyro.conf.arg(name="from")] = USUAL
    """Folders with records."""
    into: Path | None = None
    """Folder for the figures common-ladders and common-waits; no figures if not given."""


def main(arguments: Sequence[str]) -> None:
    _show(parse(Options, arguments, prog="headway ladders", description=USAGE))


def _show(options: Options) -> None:
    runs = _runs(folders_with_records(options.from_))
    if not runs:
        raise UserError("no record in these folders has a ladder of losses. Name others with --from, or train some.")
    found = {name: [each for _, each in own] for name, own in runs.items()}
    _tell(found)
    if options.into is not None:
        from headway.report.figures import figure_ladders, figure_waits, has_ladder, save

        known = {name: own for name, own in runs.items() if any(len(each.rungs) > 1 for _, each in own)}
        drawn = {name: [run for run in own if has_ladder(run[0][1])] for name, own in runs.items()}
        longest = {name: max(own, key=_shown)[0] for name, own in drawn.items() if own}
        waits = figure_waits({name: found[name] for name in known})
        for name, figure in (("common-ladders", figure_ladders(longest)), ("common-waits", waits)):
            for path in save(figure, options.into / name):
                print(path)


def _runs(folders: list[Path]) -> dict[str, list[tuple[Any, Transitions]]]:
    """Task -> its runs, settings and numbers, with their transitions."""
    from headway.analysis.transitions import transitions
    from headway.lookup import readable
    from headway.store import Store

    found: dict[str, list[tuple[Any, Transitions]]] = {}
    for record in readable([Store(folder) for folder in folders]):
        own = None if record.cell.is_pilot else transitions(record.trajectory)
        if own is not None:
            run = (record.cell.settings, record.trajectory)
            found.setdefault(record.cell.kind, []).append((run, own))
    return dict(sorted(found.items()))


def _shown(run: tuple[Any, Transitions]) -> tuple[float, int, float]:
    """The run that shows most: with most plateaus that took a tenth of the time until they ended, then most seeds, then
    the longest."""
    import numpy as np

    times, waits = run[1].times, run[1].waits
    with np.errstate(invalid="ignore"):
        clear = np.isfinite(times) & (waits >= 0.1 * times) & (times > 0)
    return float(clear.sum(axis=1).mean()), len(times), float(np.median(np.nan_to_num(times)))


def _tell(found: dict[str, list[Transitions]]) -> None:
    from headway.analysis.transitions import law

    head = f"{'task':<24} {'runs':>5} {'seeds':>6} {'plateaus':>9}"
    print(f"{head}   wait ~ gain^a, a (quartiles)   smaller gain, longer wait")
    every = {**found, "all with several": [each for own in found.values() for each in own if len(each.rungs) > 1]}
    for name, own in every.items():
        told = law(own)
        if told is None:
            seeds = sum(len(each.times) for each in own)
            ended = sum(int(((each.waits > 0) & (each.waits < math.inf)).sum()) for each in own)
            why = "one transition each" if all(len(each.rungs) == 1 for each in own) else "no seed has two plateaus"
            print(f"{name:<24} {len(own):>5} {seeds:>6} {ended:>9}   {why}")
            continue
        power = f"{told.power:+.2f} ({told.low:+.2f} to {told.high:+.2f})"
        print(f"{name:<24} {len(own):>5} {told.seeds:>6} {told.plateaus:>9}   {power:<31}{told.ordered:.0%}")
