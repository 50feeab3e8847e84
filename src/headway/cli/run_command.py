"""`headway run EXPERIMENT`: train what is missing, then show what was found."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, cast

import tyro

from headway.cli.arguments import GRIDS, experiment_from, take_experiment, take_option
from headway.cli.settings_options import REGISTRY
from headway.experiments import Experiment
from headway.lookup import answer
from headway.records import Cell
from headway.settings import Settings
from headway.store import Record, Store

USAGE = """\
Train what an experiment needs and end with its claims, figures and page.

What is already in the folder is not computed again; an interrupted run goes on where it stopped.
Any setting can be changed; the change applies to every run of the grid.

examples:
  headway run stages                                  quick grid, a few minutes on a laptop
  headway run stages --seeds 16 --task.ratio 1.3      more seeds, a weaker hierarchy
  headway run ladder --grid as-run --into results     paper scale, on a GPU
  headway run stages --task.blocks 5-6 3-4 1-2        the furthest block matters most
"""


@dataclass(frozen=True)
class Options:
    """What the command takes besides the name of the experiment."""

    grid: GRIDS = "quick"
    """Which settings to start from: small, as the paper prints them, or as the authors' code ran them."""
    seeds: int | None = None
    """How many seeds, from 0 on; 4 in quick grids and 8 at paper scale if not given."""
    into: Path = Path("runs")
    """Folder for records, figures and the page; nothing is written elsewhere."""
    page: bool = True
    """Write the page and the figures, and open the page where there is a desktop."""
    settings: Annotated[Settings, tyro.conf.arg(name="")] = field(default_factory=Settings)


def main(arguments: Sequence[str]) -> None:
    name, rest = take_experiment("run", list(arguments), USAGE)
    experiment = experiment_from(name)
    grid = take_option(rest, "--grid", "quick")
    if grid not in experiment.GRIDS:
        grid = "quick"  # tyro will say which words there are.
    options = [_parse(name, rest, settings, experiment, grid) for settings in experiment.GRIDS[grid]]
    count = options[0].seeds or experiment.SEEDS[grid]
    cells = [Cell(each.settings, tuple(range(count))) for each in options]
    records = _computed(cells, Store(options[0].into))
    # Late, because the page's and the figures' libraries take a second to load.
    from headway.cli.outcome import Outcome, show

    into = options[0].into
    page = into / f"{name}-{grid}.html" if options[0].page else None
    command = f"headway run {shlex.join([name, *rest])}"
    show([Outcome(name, grid, tuple(records))], into, page, [command])


def _parse(name: str, arguments: list[str], settings: Settings, experiment: Experiment, grid: str) -> Options:
    """The same arguments once for every run of the grid, so that what is not given keeps that run's value."""
    default = Options(grid=cast(GRIDS, grid), settings=settings)
    summary = (experiment.__doc__ or "").strip()
    options: Any = tyro.cli(
        Options,
        args=arguments,
        default=default,
        prog=f"headway run {name}",
        description=f"{summary}\n\n{USAGE}",
        registry=REGISTRY,
    )
    if options.seeds is not None and options.seeds < 1:
        from headway.cli import UserError

        raise UserError(f"--seeds is {options.seeds}, but at least 1 seed is needed.")
    return options


def _computed(cells: Sequence[Cell], store: Store) -> list[Record]:
    """Train what the store lacks; then every cell has an answer."""
    missing = [cell for cell in cells if answer(cell, [store]) is None]
    if missing:
        from headway.cli.screen import Screen
        from headway.sweep.here import run_cells

        with Screen() as screen:
            run_cells(missing, store, screen)
    return [record for cell in cells if (record := answer(cell, [store])) is not None]
