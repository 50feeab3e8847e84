"""A whole training of any task: task, model, training and evaluation together."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, Generic

from typing_extensions import TypeVar

from headway.records import About, shortened, told_apart
from headway.settings.checks import require, settle
from headway.settings.model import ModelSettings
from headway.settings.renamed import renamed_to
from headway.settings.training import EvaluationSettings, TrainingSettings
from headway.tasks.chain import Chain
from headway.tasks.task import about_task, has_own_model, name_of, require_task, shape_of, source_of

Task = TypeVar("Task")
Model = TypeVar("Model", default=ModelSettings)


@dataclass(frozen=True, repr=False)
class Settings(Generic[Task, Model]):
    """One model trained on one task."""

    task: Task = field(default_factory=Chain)  # ty: ignore[invalid-assignment]
    """What is to be learnt."""
    model: Model = None  # ty: ignore[invalid-assignment]
    """A transformer; None if the task has its own model."""
    training: TrainingSettings = field(default_factory=TrainingSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)

    def __post_init__(self) -> None:
        settle(self)
        require_task(self.task)
        if has_own_model(self.task):
            require(
                self.model is None,
                f"the task {type(self.task).__name__} has its own model, but model is {self.model!r}. Leave it out.",
            )
        else:
            self._check_transformer()
        self._check_data()
        if hasattr(self.task, "check"):
            self.task.check(self)  # ty: ignore[call-non-callable]
        require(
            self.evaluation.every is None or self.training.steps % self.evaluation.every == 0,
            f"training.steps is {self.training.steps}, but evaluations come at multiples of evaluation.every, "
            f"{self.evaluation.every}. Use a multiple of it.",
        )

    def _check_transformer(self) -> None:
        if self.model is None:
            object.__setattr__(self, "model", ModelSettings())
        model: Any = self.model
        require(
            type(model).__name__ == ModelSettings.__name__,
            f"model is {model!r}, but it must be ModelSettings(...).",
        )
        shape = shape_of(self.task)
        model.check(shape.inputs, shape.reads)
        for run in self.references:
            model.check(shape.inputs, shape_of(run.task).reads)
        require(
            model.emphasis == 1 or hasattr(self.task, "relevant"),
            f"model.emphasis is {model.emphasis:g}, but the task {self.KIND!r} does not mark relevant positions. "
            "Give it `relevant`, pairs of positions (query, key), or use model.emphasis 1.",
        )

    def _check_data(self) -> None:
        """The expectation is there where a task knows it, and samples where it draws some."""
        what, exact = type(self.task).__name__, self.training.data == "exact"
        require(
            not exact or hasattr(self.task, "expected_loss"),
            f'training.data is "exact", but the task {what} does not know its expected loss. Write '
            'expected_loss(parameters), or use "fresh" or "finite".',
        )
        require(
            exact or hasattr(self.task, "sample"),
            f'training.data is "{self.training.data}", but the task {what} draws no samples. Use "exact".',
        )

    def __repr__(self) -> str:
        """Group by group, what is not the default."""
        groups = [f"  {each.name}={told_apart(getattr(self, each.name))}," for each in fields(self)]
        return shortened(["Settings(", *groups, ")"])

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
    def references(self) -> tuple[Settings[Task, Model], ...]:
        """The runs that this one compares itself with, and last the one that its frozen parts come from.

        All must be done before it.
        """
        compared = self.task.reference_runs(self) if hasattr(self.task, "reference_runs") else ()  # ty: ignore[call-non-callable]
        return (*compared, *(self._compared_with_none.thawed() for _ in self.training.frozen[:1]))

    @property
    def pilots(self) -> tuple[Settings[Task, Model], ...]:
        """The runs that choose the learning rate, one for each of `training.rates`: they end with their plateau."""
        alone = self._compared_with_none
        return tuple(
            replace(alone, training=replace(self.training, learning_rate=rate, rates=(), until=None, tail=0.0))
            for rate in self.training.rates
        )

    def thawed(self) -> Settings[Task, Model]:
        """The same run with nothing frozen."""
        return replace(self, training=replace(self.training, frozen=()))

    def alone(self) -> Settings[Task, Model]:
        """The same run compared with no other: comparing does not change it."""
        return self._compared_with_none

    @property
    def _compared_with_none(self) -> Settings[Task, Model]:
        compared = getattr(self.task, "references", ())
        return replace(self, task=replace(self.task, references=())) if compared else self  # ty: ignore[invalid-argument-type]

    def changed(self, **changes: Any) -> Settings[Task, Model]:
        """The same settings but for these: changed(training={"steps": 10}, task={"ratio": 1.3})."""
        names = [each.name for each in fields(self)]
        for name in changes:
            require(name in names, f"there is no group of settings {name!r}; there are {', '.join(names)}.")
        for name, change in changes.items():
            require(
                getattr(self, name) is not None or not isinstance(change, dict),
                f"there are no settings of the {name} to change: the task {type(self.task).__name__} has its "
                "own model.",
            )
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
    """Paper B's transformers: two layers, no norm, Adam on fresh samples until the plateau has ended.

    Ours where the appendix is silent: PyTorch's start, with the biases that its linear maps have, GELU and no mask.
    """
    model = ModelSettings(
        heads=4,
        layers=2,
        positions="sinusoidal",
        width=256,
        norm="none",
        mlp=1024,
        dropout=0.0,
        initialisation="pytorch",
        activation="gelu",
        biases=True,
        edge_biases=True,
        causal=False,
    )
    training = TrainingSettings(
        learning_rate=1e-4,
        weight_decay=0.0,
        clip=0.0,
        schedule="constant",
        steps=50_000,
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
