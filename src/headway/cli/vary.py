"""`headway run EXPERIMENT --vary SETTING VALUES`: the whole experiment, once for every combination of values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from headway.cli import UserError, computing
from headway.cli.arguments import experiment_from
from headway.cli.vary_ending import Sweep, show_varied
from headway.cli.vary_options import axes_from
from headway.experiments.outcome import Outcome
from headway.lookup import readable
from headway.records import Cell
from headway.settings.variation import changed, combinations, value_of

if TYPE_CHECKING:
    from headway.cli.run_command import Options
    from headway.store import Store


def run_varied(
    name: str, runs: Mapping[str, Mapping[str, Cell]], stores: Sequence[Store], options: Options, command: str
) -> None:
    """Compute all combinations as one sweep, which packs those of one shape into one program; then show them."""
    if name == "all":
        raise UserError("--vary takes one experiment at a time, as in `headway run stages --vary task.ratio 1.3 1.7`.")
    cells = runs[name]
    axes = axes_from(options.vary, [cell.settings for cell in cells.values()])
    _require_given_once(name, options.grid, cells, axes)
    every = combinations(axes)
    groups = [
        {run: Cell(changed(cell.settings, values), cell.seeds) for run, cell in cells.items()} for values in every
    ]
    _require_still_different(cells, groups[0], axes)
    wanted = [cell for group in groups for cell in group.values()]
    # Through its module: tests put something else in its place.
    computing.compute(wanted, stores, options)
    among = readable(stores)

    def outcomes() -> Iterator[tuple[Mapping[str, Any], Outcome]]:
        for values, group in zip(every, groups, strict=True):
            yield values, Outcome(experiment_from(name), name, options.grid, computing.records_of(group, stores, among))

    digest = hashlib.sha256(" ".join(cell.identity for cell in wanted).encode()).hexdigest()[:6]
    sweep = Sweep(name, options.grid, tuple(axes), digest, options.into, command)
    show_varied(sweep, outcomes(), len(every), page=options.page)


def _require_given_once(name: str, grid: str, cells: Mapping[str, Cell], axes: Mapping[str, Any]) -> None:
    usual = experiment_from(name).grids[grid]
    for setting in axes:
        if any(value_of(cell.settings, setting) != value_of(usual[run], setting) for run, cell in cells.items()):
            raise UserError(f"--{setting} is given, but it is also varied. Give its values only with --vary.")


def _require_still_different(cells: Mapping[str, Cell], varied: Mapping[str, Cell], axes: Mapping[str, Any]) -> None:
    """Claims compare the runs of a grid: with the setting in which they differ varied, they would compare equals.

    One combination is enough: in all of them the setting has one value for all runs.
    """
    if len(set(map(_trained, varied.values()))) < len(set(map(_trained, cells.values()))):
        raise UserError(
            f"--vary {' '.join(axes)} is not possible: the runs of this grid differ in it and would become equal. "
            "Vary another setting, or another experiment."
        )


def _trained(cell: Cell) -> Any:
    """What a run is but for how it is looked at."""
    kind, _, settings = cell.run
    return kind, tuple(getattr(settings, each.name) for each in fields(settings) if each.name != "evaluation")
