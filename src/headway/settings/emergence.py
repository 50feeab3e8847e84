"""Transformers that wait on a plateau until attention has found what matters (paper B)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeVar

from headway.settings.adaptive import AdaptiveTrainingSettings
from headway.settings.checks import require, require_number, require_whole, settle
from headway.settings.model import ModelSettings

Made = TypeVar("Made")


@dataclass(frozen=True)
class LocationTaskSettings:
    """y = W* x at the relevant position of T noisy ones."""

    length: int = 64
    """T: how many positions there are to look at, before an empty one at which the model answers."""
    dimension: int = 16
    """d: of every vector and of the answer."""
    position: Literal["random", "fixed"] = "random"
    """Where the relevant vector is: anywhere in each sequence, or always at the last of the T positions."""
    mark: bool = True
    """Whether a further input says which position is relevant."""
    copies: int = 1
    """B: at how many positions the relevant vector stands (context repetition)."""
    repeated: float = 0.0
    """p: how probably the relevant vector is one that stays the same all along (cross-sample repetition)."""

    def __post_init__(self) -> None:
        settle(self, "task.")
        require_whole("task.length", self.length, 1)
        require_whole("task.dimension", self.dimension, 1)
        require_whole("task.copies", self.copies, 1)
        require(
            self.copies <= self.length,
            f"{self.copies} copies do not fit on {self.length} positions. Use task.copies <= {self.length}.",
        )
        _require_probability("task.repeated", self.repeated)


@dataclass(frozen=True)
class RecallTaskSettings:
    """k_1 v_1 .. k_n v_n q -> the v that stood behind the k that equals q."""

    tokens: int = 64
    """N_tokens: symbols in the pool that keys and values share."""
    pairs: int = 16
    """N_pairs: how many pairs a sequence shows before the query."""
    copies: float = 1.0
    """B: how many slots hold the query's pair on average; with 1 it is always one (context repetition)."""
    favoured: float = 0.0
    """p: how probably the query is one of the favourite symbols (cross-sample repetition)."""
    favourites: int = 2
    """How many symbols are favourites."""

    def __post_init__(self) -> None:
        settle(self, "task.")
        require_whole("task.tokens", self.tokens, 2)
        require_whole("task.pairs", self.pairs, 1)
        require_whole("task.favourites", self.favourites, 1)
        require_number("task.copies", self.copies, least=1)
        require(
            self.copies <= self.pairs,
            f"{self.copies:g} copies do not fit into {self.pairs} pairs. Use task.copies <= {self.pairs}.",
        )
        require(
            self.favourites <= self.tokens,
            f"{self.favourites} favourites are more than the {self.tokens} symbols. Use at most {self.tokens}.",
        )
        _require_probability("task.favoured", self.favoured)

    @property
    def chance(self) -> float:
        """Accuracy without a look at the sequence: 1/N_tokens."""
        return 1 / self.tokens

    @property
    def naming(self) -> float:
        """Accuracy of naming the value in any one slot, without repetition.

        It is right if the slot is the query's, or if the slot's value happens to be the query's.
        """
        right = 1 / self.pairs
        return right + (1 - right) / self.tokens


EMERGENCE_MODEL = ModelSettings(
    heads=4, blocks=2, positions="sinusoidal", width=256, norm="none", mlp=1024, dropout=0.0, initialisation="fan-in"
)
"""Two layers of four heads of 64, no norm. The start is ours, the usual one of libraries: the slides are silent."""
_RECALL_MODEL = replace(EMERGENCE_MODEL, blocks=4, initialisation="unit-embedding")
"""Symbols are looked up in a table, which libraries start with variance 1 whatever the number of symbols is."""
_RECALL_TRAINING = AdaptiveTrainingSettings(threshold=0.05, until=0.9, test_samples=2048)
"""Ours: goes on until most answers are right; with few pairs, naming any value gets 5 % right."""


@dataclass(frozen=True)
class SingleLocationSettings:
    """A transformer on single-location regression."""

    KIND: ClassVar[str] = "single-location"

    task: LocationTaskSettings = field(default_factory=LocationTaskSettings)
    model: ModelSettings = EMERGENCE_MODEL
    training: AdaptiveTrainingSettings = field(default_factory=AdaptiveTrainingSettings)

    def __post_init__(self) -> None:
        settle(self)
        _check_model(self.model)
        self.model.check(self.inputs, self.length)

    def changed(self, **changes: Any) -> SingleLocationSettings:
        """The same settings but for these: changed(task={"copies": 4})."""
        return _changed(self, changes)

    @property
    def inputs(self) -> int:
        """Numbers that a position holds: the vector and the mark."""
        return self.task.dimension + 1

    @property
    def outputs(self) -> int:
        return self.task.dimension

    @property
    def length(self) -> int:
        """Positions that the model reads: the T of the task and the one at which it answers."""
        return self.task.length + 1


@dataclass(frozen=True)
class RecallSettings:
    """A transformer on in-context associative recall."""

    KIND: ClassVar[str] = "recall"

    task: RecallTaskSettings = field(default_factory=RecallTaskSettings)
    model: ModelSettings = _RECALL_MODEL
    training: AdaptiveTrainingSettings = _RECALL_TRAINING

    def __post_init__(self) -> None:
        settle(self)
        _check_model(self.model)
        self.model.check(self.task.tokens, self.length)
        chance = self.task.chance
        require(
            chance < self.training.threshold <= 1,
            f"training.threshold is {self.training.threshold:g}, but {chance:.2g} of the answers are right without a "
            f"look at the sequence. Use a number above {chance:.2g} and at most 1, or more symbols.",
        )

    def changed(self, **changes: Any) -> RecallSettings:
        """The same settings but for these: changed(task={"copies": 4.0})."""
        return _changed(self, changes)

    @property
    def inputs(self) -> int:
        return self.task.tokens

    @property
    def outputs(self) -> int:
        return self.task.tokens

    @property
    def length(self) -> int:
        """Keys, values and the query."""
        return 2 * self.task.pairs + 1


def _changed(settings: Made, changes: dict[str, Any]) -> Made:
    inner = {
        name: replace(getattr(settings, name), **change) if isinstance(change, dict) else change
        for name, change in changes.items()
    }
    return replace(settings, **inner)  # ty: ignore[invalid-argument-type]


def _check_model(model: ModelSettings) -> None:
    """What these tasks ask of every model: a matrix in, a matrix out, and nothing random while it learns."""
    require(
        model.embedding == "learned" and model.readout,
        f'model.embedding is "{model.embedding}" and model.readout {model.readout}, but these tasks need a learned '
        'embedding and a readout. Use model.embedding "learned" and model.readout True.',
    )
    require(model.dropout == 0, f"model.dropout is {model.dropout}, but these tasks train without it. Use 0.")


def _require_probability(name: str, value: float) -> None:
    require_number(name, value, least=0)
    require(value <= 1, f"{name} is {value!r}, but a probability is at most 1.")
