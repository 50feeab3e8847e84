"""`headway run EXPERIMENT --vary SETTING VALUES`: the whole experiment, once for every combination of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headway.cli import UserError, computing
from headway.cli.outcome import Outcome
from headway.cli.vary_ending import Sweep, show_varied
from headway.cli.vary_options import axes_from
from headway.records import Cell
from headway.settings.variation import changed, combinations

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
    every = combinations(axes_from(options.vary, [cell.settings for cell in cells.values()]))
    groups = [
        {run: Cell(changed(cell.settings, values), cell.seeds) for run, cell in cells.items()} for values in every
    ]
    computing.compute([cell for group in groups for cell in group.values()], stores, options)

    def outcomes() -> Iterator[tuple[Mapping[str, Any], Outcome]]:
        for values, group in zip(every, groups, strict=True):
            yield values, Outcome(name, options.grid, computing.records_of(group, stores))

    sweep = Sweep(name, options.grid, tuple(every[0]), options.into, command)
    show_varied(sweep, outcomes(), len(every), page=options.page)
