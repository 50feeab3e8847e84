"""A whole training of any task: task, model, training and evaluation together."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Generic, TypeVar

from headway.records import About
from headway.settings.checks import require, settle
from headway.settings.model import ModelSettings
from headway.settings.renamed import renamed_to
from headway.settings.training import EvaluationSettings, TrainingSettings
from headway.tasks.chain import Chain
from headway.tasks.task import about_task, name_of, require_task, shape_of, source_of

Task = TypeVar("Task")


@dataclass(frozen=True)
class Settings(Generic[Task]):
    """One transformer trained on one task."""

    task: Task = field(default_factory=Chain)  # ty: ignore[invalid-assignment]
    model: ModelSettings = field(default_factory=ModelSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)

    def __post_init__(self) -> None:
        settle(self)
        require_task(self.task)
        shape = shape_of(self.task)
        self.model.check(shape.inputs, shape.reads)
        for run in self.references:
            self.model.check(shape.inputs, shape_of(run.task).reads)
        if hasattr(self.task, "check"):
            self.task.check(self)  # ty: ignore[call-non-callable]
        require(
            self.evaluation.every is None or self.training.steps % self.evaluation.every == 0,
            f"training.steps is {self.training.steps}, but evaluations come at multiples of evaluation.every, "
            f"{self.evaluation.every}. Use a multiple of it.",
        )

    @property
    def KIND(self) -> str:  # noqa: N802 - what kind of computation it is; other settings have it as a constant
        return name_of(self.task)

    def about(self) -> About:
        """The run in words."""
        return about_task(self.task)

    @property
    def source(self) -> str:
        """A digest of the task's code, if it is a user's."""
        return source_of(type(self.task))

    @property
    def references(self) -> tuple[Settings[Task], ...]:
        """The runs that this one compares itself with, and that must be done before it."""
        return self.task.reference_runs(self) if hasattr(self.task, "reference_runs") else ()  # ty: ignore[call-non-callable]

    def alone(self) -> Settings[Task]:
        """The same run compared with no other: comparing does not change it."""
        return replace(self, task=replace(self.task, references=())) if self.references else self  # ty: ignore[invalid-argument-type]

    def changed(self, **changes: Any) -> Settings[Task]:
        """The same settings but for these: changed(training={"steps": 10}, task={"ratio": 1.3})."""
        names = [each.name for each in fields(self)]
        for name in changes:
            require(name in names, f"there is no group of settings {name!r}; there are {', '.join(names)}.")
        inner = {
            name: _changed(name, getattr(self, name), change) if isinstance(change, dict) else change
            for name, change in changes.items()
        }
        return replace(self, **inner)


def _changed(group: str, settings: Any, change: dict[str, Any]) -> Any:
    known = [each.name for each in fields(settings)]
    for name in change:
        now = renamed_to(f"{group}.{name}")
        hint = f" It is called {now} now." if now else ""
        require(name in known, f"there is no setting {group}.{name}.{hint} There are {', '.join(known)}.")
    return replace(settings, **change)


def plateau_settings(task: Task, threshold: float) -> Settings[Task]:
    """Paper B's transformers: two layers, no norm, Adam on fresh samples until the plateau has ended."""
    model = ModelSettings(
        heads=4,
        layers=2,
        positions="sinusoidal",
        width=256,
        norm="none",
        mlp=1024,
        dropout=0.0,
        initialisation="fan-in",
    )
    training = TrainingSettings(
        learning_rate=1e-4,
        weight_decay=0.0,
        clip=0.0,
        schedule="constant",
        steps=20_000,
        threshold=threshold,
        batch=32,
        data="fresh",
        test_samples=1024,
    )
    return Settings(task, model, training, EvaluationSettings(every=25, growth=0.03, losses="mean"))


def usual_settings(task: type) -> Settings | None:
    """The settings that runs of a task have by default; None where the task itself has settings without a default."""
    if hasattr(task, "usual"):
        return task.usual()  # ty: ignore[call-non-callable]
    try:
        return Settings(task())
    except TypeError:
        return None
