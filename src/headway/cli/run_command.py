"""`headway run EXPERIMENT`: train what is missing, then show what was found."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar

import tyro

from headway.cli import UserError, suggestion
from headway.cli.arguments import experiments_with, seeds_of, take_experiment, take_option, take_options
from headway.cli.parsing import parse
from headway.experiments.former_names import FORMERLY
from headway.settings.renamed import renamed_to
from headway.settings.training import OWN_OPTIMISERS

if TYPE_CHECKING:
    from headway.experiments import Experiment
    from headway.records import Cell
    from headway.store import Record

USAGE = """\
Train what an experiment needs, then show its claims, figures and page. `all` stands for every
experiment.

What is already in the output folder (--into, runs by default) is not computed again, and an interrupted run resumes.
Any setting can be changed; the change applies to every run of the grid, or to those that --only names.

examples:
  headway run stages                                  quick grid, half a minute to three minutes
  headway run stages --seeds 16 --task.ratio 1.3      more seeds, blocks of more similar strength
  headway run stages --task.blocks 5-6 3-4 1-2        the furthest block matters most
  headway run stages --vary task.ratio 1.2:2.0:5 --vary model.heads 2 3    every combination of values
  headway run my_task.py                              your own experiment: docs/extend.md
  headway run stages --training.optimiser muon        any optax optimiser
  headway run all --grid as-run --keep results        paper scale, on a GPU; small copies go to results
  headway run stages --keep-weights 12                models at twelve steps: docs/objects.md
  headway run ablations --only full --only "without MLP"    two of the grid's runs
  headway run all --dry-run                           what would be computed, and how long it would take
  headway run all --on processes:4                    with four processes on this machine; --on here: with one
  headway run all --on slurm --engine partition=gpu   as Slurm jobs; for these and Ray, see docs/cluster.md
"""


OF_ALL = "Every experiment. The defaults shown are those of the first run; the others keep their own."

Chosen = TypeVar("Chosen")


@dataclass(frozen=True)
class Options(Generic[Chosen]):
    """What the command takes besides the name of the experiment."""

    settings: Annotated[Chosen, tyro.conf.arg(name="")]

    grid: Annotated[str, tyro.conf.arg(metavar="GRID")] = "quick"
    """Base settings: quick (small), printed (paper A as printed), as-run (its authors' code) or paper (other
    papers)."""
    seeds: int | None = None
    """Number of seeds, counted from 0; if not given, 4 or 8 in quick grids and about 10 at paper scale."""
    only: Annotated[tuple[str, ...], tyro.conf.UseAppendAction, tyro.conf.arg(metavar="RUN")] = ()
    """Compute only this run of the grid, given by its name."""
    into: Path = Path("runs")
    """Folder for records, figures and the page; nothing is written elsewhere."""
    keep: Path | None = None
    """Also write small copies of the records here, to commit or send: no weights, attention in half precision."""
    keep_weights: Annotated[str, tyro.conf.arg(metavar="WHEN")] = ""
    """Keep more models than the last: at a number of log-spaced steps (such as 12), one per rung (stages), or at
    every evaluation (all); only the last if not given."""
    page: bool = True
    """Write the page and the figures, and open the page if there is a desktop."""
    dry_run: bool = False
    """Only report which cells would be computed, in how many programs, in what time and with how much memory."""
    on: Annotated[str, tyro.conf.arg(metavar="WHERE")] = "auto"
    """Where cells are computed: here (in this process), processes:N, slurm or ray; auto means here on a CPU and, on a
    GPU, several processes that share it."""
    engine: Annotated[tuple[str, ...], tyro.conf.UseAppendAction, tyro.conf.arg(metavar="NAME=VALUE")] = ()
    """An option of Slurm or Ray, such as --engine partition=gpu --engine time=4:00:00."""
    cluster: Path | None = None
    """TOML file with defaults for --engine; headway-cluster.toml if not given and present."""
    vary: Annotated[
        tuple[tuple[str, ...], ...], tyro.conf.UseAppendAction, tyro.conf.arg(metavar="SETTING VALUE ...")
    ] = ()
    """A setting and its values, such as --vary task.ratio 1.3 1.7 or 1.2:2.0:5; several give every combination."""
    detach: bool = False
    """With Slurm: submit the jobs and exit; the same command later shows the results."""


def main(arguments: Sequence[str]) -> None:
    word, rest = take_experiment("run", list(arguments), USAGE)
    _require_new_names(rest)
    grid, experiments = experiments_with(take_option(rest, "--grid", None), word)
    name = "all" if word == "all" else next(iter(experiments))
    summary = OF_ALL if name == "all" else experiments[name].title
    strange = set(rest)
    grids = {each: experiment.grids[grid] for each, experiment in experiments.items()}
    chosen = _only(grids, take_options(rest, "--only"))
    parsed: dict[str, dict[str, Options]] = {each: {} for each in chosen}
    untouched: dict[Any, Options] = {}  # of grids with hundreds of runs that differ only in numbers, one is parsed
    for each, runs in chosen.items():
        for run, settings in runs.items():
            kind = settings_type(settings)
            if kind in untouched:
                parsed[each][run] = replace(untouched[kind], settings=settings)
                continue
            parsed[each][run], unknown = _parse(name, rest, settings, summary, grid)
            strange &= set(unknown)
            if not _names_settings(rest, unknown):
                untouched[kind] = parsed[each][run]
    if strange:
        raise UserError(f"no run of this grid has the option {' '.join(each for each in rest if each in strange)}.")
    # From here on nobody waits for help, and NumPy and what else takes time may be loaded.
    from headway.cli.computing import compute, records_of
    from headway.cli.early import Early
    from headway.cli.ending import show
    from headway.experiments.drawing import WORTH, Drawing
    from headway.experiments.outcome import Outcome
    from headway.lookup import readable
    from headway.records import Cell
    from headway.store import Store

    cells: dict[str, dict[str, Cell]] = {}
    experiments = {each: experiments[each] for each in parsed}
    for each, experiment in experiments.items():
        options = next(iter(parsed[each].values()))
        seeds = seeds_of(experiment, grid, options.seeds)
        cells[each] = {run: Cell(one.settings, seeds) for run, one in parsed[each].items()}
    if any(argument.startswith(("--training.batch", "--training.samples")) for argument in rest):
        _note_whole_batches([cell for group in cells.values() for cell in group.values()])
    if any(argument.lstrip("-").partition("=")[0] == "model.width" for argument in rest):
        _note_fixed_width([cell for group in cells.values() for cell in group.values()])
    stores = [Store(options.into), *([] if options.keep is None else [Store(options.keep)])]
    command = f"headway run {shlex.join([word, *rest])}"
    if options.vary:
        from headway.cli.vary import run_varied

        run_varied(name, cells, stores, options, command)
        return
    if name == "all":
        cells = _possible(cells, experiments)
    from headway.report.assemble import changed_settings, page_name

    changes: dict[str, Any] = {}
    for each, group in cells.items():
        for run, cell in group.items():
            changes |= changed_settings(experiments[each].grids[grid][run], cell.settings)
    page = options.into / f"{page_name(f'{name}-{grid}', changes)}.html" if options.page else None

    def outcome_of(each: str, records: Mapping[str, Record]) -> Outcome:
        return Outcome(experiments[each], each, grid, records, changes)

    every = [cell for group in cells.values() for cell in group.values()]
    with Drawing(options.into / "figures") as drawing:
        look = (Early(drawing, cells, stores, outcome_of).look,) if page is not None and len(cells) >= WORTH else ()
        compute(every, stores, options, *look)
        among = readable(stores)
        outcomes = [outcome_of(each, records_of(group, stores, among)) for each, group in cells.items()]
        show(outcomes, options.into, page, [command], drawing=drawing)


def _names_settings(arguments: Sequence[str], unknown: Sequence[str]) -> bool:
    """Whether an option is none of the command's own, so that it may mean something else for every run."""
    own = {each.name.rstrip("_").replace("_", "-") for each in fields(Options)} - {"settings"}
    given = (each for each in arguments if each.startswith("-") and each not in unknown)
    return any(each.lstrip("-").partition("=")[0].replace("_", "-").removeprefix("no-") not in own for each in given)


def _possible(cells: dict[str, dict[str, Cell]], experiments: dict[str, Experiment]) -> dict[str, dict[str, Cell]]:
    """The experiments for which this machine has everything, with a note about each of the others."""
    found = {}
    for each, group in cells.items():
        if words := experiments[each].lacks({run: cell.settings for run, cell in group.items()}):
            print(f"note: {each} is left out: {words}", file=sys.stderr)
        else:
            found[each] = group
    return found


def _note_whole_batches(cells: Sequence[Any]) -> None:
    """A batch beyond the training set is no mistake, but somebody who typed it should know."""
    for training in filter(None, (getattr(cell.settings, "training", None) for cell in cells)):
        if training.data == "finite" and training.batch > training.samples:
            print(
                f"note: training.batch is {training.batch}, but there are only {training.samples} samples: every "
                "step uses all of them.",
                file=sys.stderr,
            )
            return


def _note_fixed_width(cells: Sequence[Any]) -> None:
    """A width that a model does not have is kept in its settings, but somebody who typed it should know."""
    models = [getattr(cell.settings, "model", None) for cell in cells]
    fixed = sum(getattr(model, "embedding", "") == "one-hot" for model in models)
    if fixed:
        which = "" if fixed == len(models) else f" in {fixed} of {len(models)} runs"
        print(
            f"note: model.width has no effect{which}: one-hot embeddings determine the width of the model.",
            file=sys.stderr,
        )


def _only(grids: Mapping[str, Mapping[str, Any]], wanted: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The runs that were asked for by name; all of them if none was.

    Only these are parsed: a setting need not suit the others.
    """
    names = {run: None for runs in grids.values() for run in runs}
    former = {old: new for name in grids for old, new in FORMERLY.get(name, {}).items() if new in names}
    wanted = [each if each in names else former.get(each, each) for each in wanted]
    for each in wanted:
        if each not in names:
            raise UserError(f"no run is called {each!r}.{suggestion(each, tuple(names))} There are {', '.join(names)}.")
    chosen = {
        name: {run: one for run, one in runs.items() if not wanted or run in wanted} for name, runs in grids.items()
    }
    return {name: runs for name, runs in chosen.items() if runs}


def _parse(name: str, arguments: list[str], settings: Any, summary: str, grid: str) -> tuple[Options, list[str]]:
    """The same arguments once for every run of the grid, so that what is not given keeps that run's value.

    With them comes what a run of `all` could not make sense of.
    """
    from headway.cli.settings_options import REGISTRY  # late: the list of experiments need not wait for NumPy

    default = Options(grid=grid, settings=settings)
    # Of `all`, every run takes what it knows; what none knows is refused.
    some = name == "all"
    parsed: Any = parse(
        Options[settings_type(settings)],  # ty: ignore[invalid-type-form]
        arguments,
        default=default,
        prog=f"headway run {name}",
        description=f"{summary}\n\n{USAGE}",
        registry=REGISTRY,
        return_unknown_args=some,
    )
    options, unknown = parsed if some else (parsed, [])
    if options.seeds is not None and options.seeds < 1:
        raise UserError(f"--seeds is {options.seeds}, but at least 1 seed is needed.")
    training = getattr(options.settings, "training", None)
    if training is not None and training.optimiser not in OWN_OPTIMISERS:
        training.require_known_optimiser()
    context, usual = (getattr(getattr(each, "task", None), "context", None) for each in (options.settings, settings))
    # Where the heads look is read by the lags of all blocks, which a window may not hold.
    if context != usual:
        raise UserError(
            f"--task.context is {context}, but the grid determines which models read whole sequences and which read "
            "windows. `--task.references 4` trains the n-gram model of 4 tokens and compares with it."
        )
    return options, unknown


def settings_type(settings: Any) -> Any:
    """The type of the settings, of a training with those of task and model, so that each of their fields is an option.

    A task that brings its own model leaves no option of it.
    """
    if not hasattr(type(settings), "__parameters__"):
        return type(settings)
    model = Annotated[None, tyro.conf.Suppress] if settings.model is None else type(settings.model)
    return type(settings)[type(settings.task), model]


ELSEWHERE = {
    "lr": "training.learning-rate",
    "learning-rate": "training.learning-rate",
    "batch-size": "training.batch",
    "bs": "training.batch",
    "wd": "training.weight-decay",
    "optimizer": "training.optimiser",
    "optim": "training.optimiser",
    "n-heads": "model.heads",
    "n-layers": "model.layers",
    "depth": "model.layers",
    "d-model": "model.width",
    "seed": "seeds",
    "processes": "on processes:N",
    "out": "into",
    "output": "into",
    "from": "into",
}
"""What other programs call an option -> what it is called here."""
EPOCHS = ("epochs", "num-epochs", "n-epochs", "max-epochs")
"""What other programs count in passes over the data."""


def _require_new_names(arguments: Sequence[str]) -> None:
    """A setting that was renamed, or has another name elsewhere, is refused with its name."""
    for argument in arguments:
        if not argument.startswith("--"):
            continue
        name = argument.removeprefix("--").partition("=")[0]
        if now := renamed_to(name):
            raise UserError(f"--{name} is called --{now} now.")
        plain = name.replace("_", "-").lower()
        if here := ELSEWHERE.get(plain):
            raise UserError(f"--{name} is called --{here} here.")
        if plain in EPOCHS:
            raise UserError(f"--{name}: training is measured in steps here. Use --training.steps.")
