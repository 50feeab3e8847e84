"""Kinds of runs by name: the one place that knows which there are, and where their code lies.

A trained run is called by its task's name; other kinds are computed in one go. Code is loaded when it is needed, so
that records can be read where the accelerator's packages are missing. A kind that nobody here knows is a user's: its
records are read as they are (`settings.plain.Open`), and it can be trained once its file is loaded (`add`).
"""

from __future__ import annotations

import functools
import importlib
import marshal
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from headway.records import Cell, Trajectory
from headway.settings.checks import SettingsError
from headway.settings.plain import Open, revive


class Computed(NamedTuple):
    """Where the settings of a kind that is computed in one go lie, and the function that computes a cell of it."""

    settings: str
    compute: str
    shape: str = ""
    """Of a kind whose cells are computed side by side: settings -> what is equal for such. `compute` takes them all."""


TASKS = {
    "markov": "headway.tasks.chain:Chain",
    "single-location": "headway.tasks.single_location:SingleLocation",
    "recall": "headway.tasks.recall:Recall",
    "toy": "headway.tasks.toy:Toy",
    "regression": "headway.tasks.regression:Regression",
    "moving-window": "headway.tasks.moving_window:MovingWindow",
    "in-context-regression": "headway.tasks.in_context_regression:InContextRegression",
    "softmax-regression": "headway.tasks.softmax_regression:SoftmaxRegression",
    "in-context-markov": "headway.tasks.in_context_chain:InContextChain",
    "minimal-induction": "headway.tasks.minimal_induction:MinimalInduction",
    "sub-n-grams": "headway.tasks.sub_n_grams:SubNGrams",
    "sub-n-grams-simple": "headway.tasks.sub_n_grams_simple:SimpleSubNGrams",
    "text": "headway.tasks.text:Text",
}
"""Trained by `headway.training`, whatever the task is."""
COMPUTED = {
    "k-gram-points": Computed(
        "headway.tasks.k_gram_points:KGramPointSettings", "headway.laboratory.k_gram_points:k_gram_points"
    ),
    "construction": Computed(
        "headway.tasks.construction:ConstructionSettings", "headway.laboratory.hand_made:hand_made"
    ),
    "flow": Computed("headway.settings:FlowSettings", "headway.laboratory.flow:flow"),
    "portrait": Computed("headway.settings:PortraitSettings", "headway.laboratory.portrait:portrait"),
    "stage-times": Computed("headway.settings:StageTimesSettings", "headway.laboratory.stage_times:stage_times"),
    "toy-flow": Computed(
        "headway.settings:ToyFlowSettings",
        "headway.laboratory.toy_flow:toy_flows",
        "headway.laboratory.toy_flow:shape_of",
    ),
}
MEASURED = {"telemetry": "headway.telemetry.settings:TelemetrySettings"}
"""Trained by somebody else's program, and only measured by ours."""
_added: dict[str, type] = {}
"""Users' tasks by name, of the files that were loaded."""
_files: dict[str, None] = {}
"""Those files."""


def names() -> tuple[str, ...]:
    """Every kind that can be computed here."""
    return (*TASKS, *COMPUTED, *_added)


def add(task: type, name: str) -> None:
    """A user's task: from now on its cells can be trained, and come back from disk as its own settings."""
    if name in COMPUTED or name in MEASURED or (name in TASKS and _load(TASKS[name]) is not task):
        raise SettingsError(
            f"the task {task.__name__} is called {name!r}, which is a task of Headway. Give it another NAME."
        )
    if name not in TASKS:
        _added[name] = task


def add_file(path: str) -> None:
    """A user's file that was loaded: whoever else computes its cells has to load it, too."""
    _files[path] = None


def files() -> tuple[str, ...]:
    """Users' files that were loaded, in their order."""
    return tuple(_files)


def is_trained(kind: str) -> bool:
    """Whether cells of it are trained, many in one program."""
    return kind not in COMPUTED


OF_RECORD = {
    "steps": "headway.trained:steps",
    "model": "headway.trained:model",
    "at": "headway.trained:at",
    "to_frame": "headway.export.frame:to_frame",
}
"""What a record offers whose code lies nearer to the accelerator than the record does."""


def of_record(name: str) -> Any:
    """That function, of a record and more."""
    return _load(OF_RECORD[name])


def compute(cells: Sequence[Cell]) -> list[Trajectory]:
    """What cells of a kind that is computed in one go come to, which share their shape."""
    kind = COMPUTED[cells[0].kind]
    function = _load(kind.compute)
    return function(cells) if kind.shape else [function(cell) for cell in cells]


def shape(cell: Cell) -> Any:
    """Equal for cells that share a program: a shape, or a name of its own for what is computed alone."""
    if cell.kind in COMPUTED:
        place = COMPUTED[cell.kind].shape
        return (cell.kind, _load(place)(cell.settings)) if place else cell.identity
    if isinstance(cell.settings, Open):
        return cell.identity
    return _load("headway.training.problem:shape")(cell.settings)


def settings_of(kind: str, told: Mapping[str, Any], source: str = "") -> Any:
    """Settings from their description; of a user's task whose code is another, or is not here, as they are written."""
    if kind in COMPUTED:
        return revive(_load(COMPUTED[kind].settings), told)
    if kind in MEASURED:
        return revive(_load(MEASURED[kind]), told)
    task = _task(kind)
    if task is None or _source(task) != source:
        return Open(told)
    from headway.settings import EvaluationSettings, ModelSettings, TrainingSettings
    from headway.tasks.run import Settings

    groups = {"task": task, "model": ModelSettings, "training": TrainingSettings, "evaluation": EvaluationSettings}
    if told.keys() != groups.keys():
        raise ValueError(f"its settings are {sorted(told)}, not {sorted(groups)}: made by another version of Headway.")
    parts: dict[str, Any] = {
        name: None if told[name] is None else _group(cls, marshal.dumps(told[name])) for name, cls in groups.items()
    }
    return Settings(**parts)


@functools.lru_cache(4096)
def _group(cls: type, told: bytes) -> Any:
    """Ten thousand cells share most of their groups: each is made and checked once."""
    return revive(cls, marshal.loads(told))


def usual(kind: str) -> Any | None:
    """The settings that a kind of run has by default; None where nothing says."""
    if kind in COMPUTED:
        return _load(COMPUTED[kind].settings)()
    if kind in MEASURED:
        return _load(MEASURED[kind])()
    task = _task(kind)
    if task is None:
        return None
    from headway.tasks.run import usual_settings

    return usual_settings(task)


def _task(kind: str) -> type | None:
    return _load(TASKS[kind]) if kind in TASKS else _added.get(kind)


def _source(task: type) -> str:
    from headway.tasks.task import source_of

    return source_of(task)


def _load(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
