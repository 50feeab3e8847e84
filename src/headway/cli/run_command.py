"""`headway run EXPERIMENT`: train what is missing, then show what was found."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, cast, get_args

import tyro

from headway.cli import UserError
from headway.cli.arguments import GRIDS, experiments_with, seeds_of, take_experiment, take_option
from headway.cli.settings_options import REGISTRY
from headway.settings import Settings

if TYPE_CHECKING:
    from headway.records import Cell
    from headway.store import Record, Store
    from headway.sweep.engines import Engine

USAGE = """\
Train what an experiment needs and end with its claims, figures and page; `all` stands for every experiment.

What is already in the folder is not computed again; an interrupted run goes on where it stopped.
Any setting can be changed; the change applies to every run of the grid.

examples:
  headway run stages                                  quick grid, a few minutes on a laptop
  headway run stages --seeds 16 --task.ratio 1.3      more seeds, a weaker hierarchy
  headway run stages --task.blocks 5-6 3-4 1-2        the furthest block matters most
  headway run all --grid as-run --keep results        paper scale, on a GPU; small copies go to results
  headway run all --dry-run                           what would be computed, in how many programs, how long
  headway run all --on processes:4                    by four processes of this machine
  headway run all --on slurm --engine partition=gpu   by Slurm's jobs; docs/cluster.md says how, for Ray too
"""


Chosen = TypeVar("Chosen")


@dataclass(frozen=True)
class Options(Generic[Chosen]):
    """What the command takes besides the name of the experiment."""

    settings: Annotated[Chosen, tyro.conf.arg(name="")]

    grid: GRIDS = "quick"
    """Which settings to start from: small, as paper A prints them, as its authors' code ran them, or paper B's."""
    seeds: int | None = None
    """How many seeds, from 0 on; 4 or 8 in quick grids and 10 at paper scale if not given."""
    into: Path = Path("runs")
    """Folder for records, figures and the page; nothing is written elsewhere."""
    keep: Path | None = None
    """Also keep small copies of the records here, to commit or to send: no weights, attention in half precision."""
    page: bool = True
    """Write the page and the figures, and open the page where there is a desktop."""
    dry_run: bool = False
    """Only say which cells would be computed, in how many programs, how long it takes and what memory."""
    on: str = "here"
    """Where cells are computed: here, processes:N, slurm or ray."""
    engine: Annotated[tuple[str, ...], tyro.conf.UseAppendAction] = ()
    """An option of the engine, such as --engine partition=gpu --engine time=4:00:00; may be given several times."""
    cluster: Path | None = None
    """TOML file with a cluster's defaults for these options; headway-cluster.toml, if it is there."""
    detach: bool = False
    """With Slurm: submit the jobs and leave; the same command later shows what they found."""


def main(arguments: Sequence[str]) -> None:
    name, rest = take_experiment("run", list(arguments), USAGE)
    grid = take_option(rest, "--grid", "quick")
    grid = grid if grid in get_args(GRIDS) else "quick"  # tyro will say which words there are.
    experiments = experiments_with(grid, name)
    summary = "Every experiment." if name == "all" else (experiments[name].__doc__ or "").strip()
    strange = set(rest)
    parsed: dict[str, dict[str, Options]] = {each: {} for each in experiments}
    for each, experiment in experiments.items():
        for run, settings in experiment.GRIDS[grid].items():
            parsed[each][run], unknown = _parse(name, rest, settings, summary, grid)
            strange &= set(unknown)
    if strange:
        raise UserError(f"no run of this grid knows {' '.join(each for each in rest if each in strange)}.")
    # From here on nobody waits for help, and NumPy and what else takes time may be loaded.
    from headway.cli.ending import show
    from headway.cli.outcome import Outcome
    from headway.records import Cell
    from headway.store import Store

    cells: dict[str, dict[str, Cell]] = {}
    for each, experiment in experiments.items():
        options = next(iter(parsed[each].values()))
        seeds = seeds_of(experiment, grid, options.seeds)
        cells[each] = {run: Cell(one.settings, seeds) for run, one in parsed[each].items()}
    stores = [Store(options.into), *([] if options.keep is None else [Store(options.keep)])]
    _compute([cell for group in cells.values() for cell in group.values()], stores, options)
    outcomes = [Outcome(each, grid, _records(group, stores)) for each, group in cells.items()]
    page = options.into / f"{name}-{grid}.html" if options.page else None
    show(outcomes, options.into, page, [f"headway run {shlex.join([name, *rest])}"])


def _parse(name: str, arguments: list[str], settings: Any, summary: str, grid: str) -> tuple[Options, list[str]]:
    """The same arguments once for every run of the grid, so that what is not given keeps that run's value.

    With them comes what a run of `all` could not make sense of.
    """
    default = Options(grid=cast(GRIDS, grid), settings=settings)
    # Of `all`, paper A's trainings refuse what is no setting of theirs; the other runs take what they know of it.
    some = name == "all" and not isinstance(settings, Settings)
    parsed: Any = tyro.cli(
        Options[type(settings)],  # ty: ignore[invalid-type-form]
        args=arguments,
        default=default,
        prog=f"headway run {name}",
        description=f"{summary}\n\n{USAGE}",
        registry=REGISTRY,
        return_unknown_args=some,
    )
    options, unknown = parsed if some else (parsed, [])
    if options.seeds is not None and options.seeds < 1:
        raise UserError(f"--seeds is {options.seeds}, but at least 1 seed is needed.")
    context = getattr(options.settings, "context", None)
    # Where the heads look is read by the lags of all blocks, which a window may not hold.
    if context != getattr(settings, "context", None):
        raise UserError(
            f"--context is {context}, but the grid says which models read whole sequences and which only windows. "
            "`--references 4` trains the n-gram model of 4 tokens and compares with it."
        )
    return options, unknown


def _compute(cells: Sequence[Cell], stores: Sequence[Store], options: Options) -> None:
    """Train what no store has into the first one; the second, if there is one, keeps small copies."""
    from headway.lookup import needed

    engine = _engine(options)
    missing = needed(cells, stores)
    if options.dry_run:
        from headway.cli.dry_run import show_plan

        show_plan(missing, len(cells), stores[0], 1 if engine is None else engine.workers or 1)
        raise SystemExit(0)
    if missing and engine is None:
        from headway.cli.screen import Screen
        from headway.sweep.compiled import kept_compiled
        from headway.sweep.here import run_cells

        with kept_compiled(stores[0].root), Screen() as screen:
            run_cells(missing, stores[0], screen)
    elif missing and engine is not None:
        _hand_out(missing, stores[0], engine, options.detach)
    everything = dict.fromkeys(each for cell in cells for each in (*cell.references(), cell))
    for keep in stores[1:]:
        for cell in everything:
            if stores[0].has(cell):
                stores[0].copy_small(cell, keep)


def _engine(options: Options) -> Engine | None:
    """The engine that was asked for; none for this process."""
    if options.on == "here":
        if options.engine or options.detach:
            raise UserError("--engine and --detach say how other processes work. Name them too, as in --on slurm.")
        return None
    from headway.sweep.engines import NAMES, engine
    from headway.sweep.engines.options import given

    name = options.on.partition(":")[0]
    chosen = engine(options.on, given(name, options.engine, options.cluster, NAMES[1:]))
    if options.detach and not chosen.outlives:
        raise UserError(f"--detach is for slurm, whose jobs outlive this command; with {name} they end with it.")
    return chosen


def _hand_out(cells: Sequence[Cell], store: Store, engine: Engine, detach: bool) -> None:
    from headway.cli.sweep_screen import SweepScreen
    from headway.sweep.handing_out import Detached, SweepError, hand_out

    try:
        with SweepScreen(engine.name) as screen:
            hand_out(cells, store, engine, screen.tell, detach=detach)
    except Detached as left:
        print(f"{left}\nThey go on without this command; given again later, it goes on from what they have done.")
        raise SystemExit(0) from None
    except SweepError as error:
        raise UserError(str(error)) from error


def _records(cells: Mapping[str, Cell], stores: Sequence[Store]) -> dict[str, Record]:
    from headway.lookup import answer

    return {run: record for run, cell in cells.items() if (record := answer(cell, stores)) is not None}
