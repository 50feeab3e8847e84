"""An experiment from a user's own file."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from headway import registry
from headway.experiments.experiment import Experiment, ExperimentError

NAMED = ("EXPERIMENT", "experiment")
"""What the one experiment of a file may be called; any name will do where there is no other."""

_beside: set[str] = set()
"""Modules that lie beside files loaded so far: the next file may have others of the same names, or newer ones."""


def load_experiment(path: str | Path) -> Experiment:
    """The one experiment of a Python file; an `ExperimentError` says in words why there is none."""
    file = Path(path).resolve()
    if file.is_dir():
        raise ExperimentError(f"{path} is a folder, but an experiment is a Python file. Name the file in it.")
    if not file.is_file():
        raise ExperimentError(f"there is no file {path}. Give the path of a Python file that holds an experiment.")
    if file.suffix != ".py":
        raise ExperimentError(f"{path} is not a Python file: its name ends in {file.suffix!r}. Call it {file.stem}.py.")
    experiment = _the_one_in(_imported(file), path)
    experiment.register()
    registry.add_file(str(file))
    return experiment


def _the_one_in(module: ModuleType, path: str | Path) -> Experiment:
    there = vars(module)
    for name in NAMED:
        if name in there and not isinstance(there[name], Experiment):
            kind = f"the class {there[name].__name__}" if isinstance(there[name], type) else type(there[name]).__name__
            raise ExperimentError(
                f"{name} in {path} is {kind}, but it must be an Experiment. Write {name} = Experiment(title=..., "
                "grids=..., seeds=...), or give it another name."
            )
    found = {name: there[name] for name in NAMED if name in there}
    found = found or {name: value for name, value in there.items() if isinstance(value, Experiment)}
    different = {id(experiment): experiment for experiment in found.values()}
    if not different:
        raise ExperimentError(
            f"{path} holds no experiment. Make one at the end of the file: EXPERIMENT = Experiment(title=..., "
            "grids=..., seeds=...)."
        )
    if len(different) > 1:
        raise ExperimentError(
            f"{path} holds {len(different)} experiments, {', '.join(found)}, but only one is expected. Name that "
            "one EXPERIMENT, or give each its own file."
        )
    return next(iter(different.values()))


def _imported(file: Path) -> ModuleType:
    """The file as a module under a private name, which no other file has."""
    name = f"_headway_experiment_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None, "a .py file has a loader"
    module = importlib.util.module_from_spec(spec)
    with _importing_beside(file.parent):
        sys.modules[name] = module  # where dataclasses and pickles look for it
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            del sys.modules[name]
            raise ExperimentError(_in_words(error, file)) from error
    return module


@contextmanager
def _importing_beside(folder: Path) -> Generator[None]:
    """While it lasts, modules of the folder can be imported; they are read from source, and none is written."""
    for name in _beside:
        sys.modules.pop(name, None)
    _beside.clear()
    before, written = set(sys.modules), sys.dont_write_bytecode
    sys.path.insert(0, str(folder))
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = written
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
        _beside.update(name for name in sys.modules.keys() - before if _lies_in(folder, name))


def _lies_in(folder: Path, name: str) -> bool:
    """Whether it is a module or a package of the folder itself, and not of an environment somewhere below it."""
    top = name.partition(".")[0]
    origin = getattr(sys.modules[name], "__file__", None)
    return (
        origin is not None
        and Path(origin).is_relative_to(folder)
        and (Path(origin).relative_to(folder).parts[0] in (f"{top}.py", top))
    )


def _in_words(error: BaseException, file: Path) -> str:
    """Where it went wrong, the last line of the traceback, and what to do."""
    if isinstance(error, SyntaxError):
        line = (error.text or "").strip()
        place = f"{error.filename or file}:{error.lineno}"
        return f"{place} is no Python: {error.msg}{f', in `{line}`' if line else ''}. Correct that line."
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).parent == file.parent]
    place = f"{own[-1].filename}:{own[-1].lineno}" if own else f"{file}"
    if isinstance(error, ExperimentError):
        return f"{place}: {error}"
    if isinstance(error, SystemExit):
        return f"{place} ends the program while it is imported. Put what a script does behind `if __name__ == ...`."
    last = "".join(traceback.format_exception_only(error)).strip().splitlines()[-1]
    return (
        f"{place} cannot be imported: {last}. An experiment's file must import by itself, as with `python {file.name}`."
    )
