"""What the commands' arguments have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from headway.cli import UserError, suggestion
from headway.experiments import NAMES, Experiment, find, titles
from headway.experiments.former_names import EXPERIMENTS

GRIDS = Literal["quick", "printed", "as-run", "paper"]
ALL_GRIDS: tuple[str, ...] = get_args(GRIDS)
"""Paper A at its scale comes as printed and as run, paper B as paper; an experiment has some of them."""

MOST_SEEDS = 100_000
"""A cell holds all of its seeds in memory and in one record."""

USUAL = (Path("runs"), Path("results"))
"""Where records usually lie: what was run here, and what came with the source."""


def take_experiment(command: str, arguments: list[str], usage: str) -> tuple[str, list[str]]:
    """The experiment's name and the arguments behind it; without a name, say which there are."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"usage: headway {command} EXPERIMENT [OPTIONS]\n\n{usage}")
        print("experiments:")
        lines = {**titles(), "all": "all of them", "FILE.py": "your own experiment: docs/extend.md"}
        for name, title in lines.items():
            print(f"  {name:<{max(map(len, lines))}}  {title}")
        print(f"\n`headway {command} {NAMES[0]} --help` lists every setting.")
        raise SystemExit(0 if arguments else 2)
    if arguments[0].startswith("-"):
        option = arguments[0].partition("=")[0]
        raise UserError(
            f"`headway {command}` needs an experiment before {option}, such as `headway {command} stages --seeds 8`. "
            "`headway list` shows all."
        )
    return arguments[0], arguments[1:]


def name_of(word: str) -> str:
    """The name of an experiment that is typed, or had that name; of a user's file, without folder and ending."""
    return Path(word).stem if _is_file(word) else EXPERIMENTS.get(word, word)


def _is_file(word: str) -> bool:
    return word.endswith(".py") or "/" in word or "\\" in word


def experiment_from(name: str) -> Experiment:
    """The experiment of that name, or of a file that was loaded."""
    if name in _loaded:
        return _loaded[name]
    if name not in NAMES:
        hint = f" To run a file of your own, give its path, as in {name}.py." if Path(f"{name}.py").is_file() else ""
        near = suggestion(name, NAMES)
        known = "`headway list` shows all." if near else f"There are {', '.join(NAMES)}."
        raise UserError(f"there is no experiment {name!r}.{near}{hint} {known}")
    return find(name)


def load(word: str) -> Experiment:
    """An experiment by its name, or from a user's own file."""
    if not _is_file(word):
        return experiment_from(name_of(word))
    from headway.experiments.load import load_experiment

    name = name_of(word)
    if name in NAMES:
        raise UserError(f"{word} has the name of the built-in experiment {name!r}. Give the file another name.")
    _loaded[name] = load_experiment(word)
    return _loaded[name]


_loaded: dict[str, Experiment] = {}
"""Users' experiments, by the names of their files."""


def check_grids(grids: tuple[str, ...]) -> None:
    """Refuse a word that is no grid, and no word at all."""
    if not grids:
        raise UserError(f"--grid needs at least one name. There are {', '.join(ALL_GRIDS)}.")
    for grid in grids:
        if grid not in get_args(GRIDS):
            raise UserError(
                f"there is no grid {grid!r}.{suggestion(grid, ALL_GRIDS)} There are {', '.join(ALL_GRIDS)}."
            )


def experiments_with(grid: str | None, word: str) -> tuple[str, dict[str, Experiment]]:
    """The grid that is meant, and the experiment of that name, or of that file, or all those that have the grid.

    Without a word the grid is "quick", or the first that an experiment has.
    """
    if word == "all":
        chosen = grid or "quick"
        check_grids((chosen,))
        return chosen, {each: find(each) for each in NAMES if chosen in find(each).grids}
    name, experiment = name_of(word), load(word)
    usual = "quick" if "quick" in experiment.grids else next(iter(experiment.grids))
    chosen = grid or usual
    if chosen not in experiment.grids:
        raise UserError(f"{name} has no grid {chosen!r}. It has {', '.join(experiment.grids)}.")
    return chosen, {name: experiment}


def seeds_of(experiment: Experiment, grid: str, seeds: int | None = None) -> tuple[int, ...]:
    """So many seeds from 0 on, or as many as the grid wants."""
    if seeds is not None and not 1 <= seeds <= MOST_SEEDS:
        raise UserError(f"--seeds is {seeds}, but it must be a whole number from 1 to {MOST_SEEDS}.")
    return tuple(range(seeds or experiment.seeds[grid]))


def folders_with_records(folders: tuple[Path, ...]) -> list[Path]:
    """The folders that were named, which must exist, or the usual ones that do; what dead processes left there goes."""
    if not folders:
        raise UserError("--from needs at least one folder, as in `--from results`.")
    for folder in folders:
        if folders != USUAL and not folder.is_dir():
            raise UserError(f"there is no folder {folder}. Run something first, or name another folder with --from.")
    found = [folder for folder in folders if folder.is_dir()]
    from headway.store.tidying import tidy  # late: help does not wait for it

    for folder in found:
        tidy(folder)
    return found


def take_option(arguments: list[str], name: str, default: str | None) -> str | None:
    """The value of an option that decides what the others mean, before they are parsed; given twice, the last."""
    return (take_options(arguments, name) or [default])[-1]


def take_options(arguments: Sequence[str], name: str) -> list[str]:
    """Every value of an option that may be given several times."""
    values = []
    for place, argument in enumerate(arguments):
        if argument == name and place + 1 < len(arguments):
            values.append(arguments[place + 1])
        if argument.startswith(f"{name}="):
            values.append(argument.split("=", 1)[1])
    return values
