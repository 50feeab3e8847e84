"""A whole training on the Markov chain: task, model, training and evaluation together."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

from headway.settings.checks import require, require_whole, settle
from headway.settings.model import ModelSettings
from headway.settings.task import TaskSettings
from headway.settings.training import EvaluationSettings, TrainingSettings


@dataclass(frozen=True)
class Settings:
    """One transformer trained on one Markov chain."""

    KIND: ClassVar[str] = "markov"

    task: TaskSettings = field(default_factory=TaskSettings)
    model: ModelSettings = field(default_factory=ModelSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    evaluation: EvaluationSettings = field(default_factory=EvaluationSettings)
    context: int | None = None
    """Show the model only windows of this many tokens (an n-gram model); all of them if not given."""
    references: tuple[int, ...] = ()
    """Compare with the n-gram models of these contexts, trained by the same settings."""

    def __post_init__(self) -> None:
        settle(self)
        if self.context is not None:
            require_whole("context", self.context, 1)
            require(
                self.context <= self.task.start,
                f"a window of {self.context} tokens does not fit before the first predicted token, "
                f"which has {self.task.start}. Use context <= {self.task.start}, or a larger task.order.",
            )
        for context in self.references:
            require_whole("a context of references", context, 1)
            require(
                context <= self.task.start,
                f"a reference of {context} tokens does not fit before the first predicted token, "
                f"which has {self.task.start}. Use contexts of at most {self.task.start}.",
            )
            self.model.check(self.task.tokens, context)
        self.model.check(self.task.tokens, self.length)

    def changed(self, **changes: Any) -> Settings:
        """The same settings but for these: changed(training={"steps": 10}, context=4)."""
        names = [each.name for each in fields(self)]
        for name in changes:
            require(name in names, f"there is no group of settings {name!r}; there are {', '.join(names)}.")
        inner = {
            name: replace(getattr(self, name), **change) if isinstance(change, dict) else change
            for name, change in changes.items()
        }
        return replace(self, **inner)

    def ngram(self, context: int) -> Settings:
        """The n-gram model that these settings compare themselves with: the same in all but the context."""
        evaluation = replace(self.evaluation, snapshots=0, also=(), subsets=False)
        return replace(self, context=context, references=(), evaluation=evaluation)

    def beside_ngrams(self) -> Settings:
        """The same run, compared with one n-gram model for each rung: contexts that end where a block ends."""
        return replace(self, references=tuple(sorted({max(block) for block in self.task.blocks})))

    @property
    def length(self) -> int:
        """Number of tokens the model reads at once."""
        return self.task.length if self.context is None else self.context
