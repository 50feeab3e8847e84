"""How a model is fitted, and when it is measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from headway.settings.checks import require, require_number, require_whole, settle


@dataclass(frozen=True)
class TrainingSettings:
    """How a model is fitted; the defaults are what paper A prints."""

    optimiser: Literal["adamw", "sgd"] = "adamw"
    learning_rate: float = 0.003
    momentum: float = 0.9
    """Of SGD."""
    weight_decay: float = 0.01
    clip: float = 1.0
    """Largest global norm of the gradient; 0 leaves it as it is."""
    schedule: Literal["constant", "plateau", "plateau-step", "cosine"] = "plateau"
    """plateau: the rate falls when the training loss stands still, seen once an epoch; plateau-step: at every step."""
    patience: int = 10
    """Epochs, or steps, without progress that the plateau schedule lets pass."""
    factor: float = 0.5
    """What the plateau schedule multiplies the learning rate by."""
    steps: int = 2000
    batch: int = 3000
    data: Literal["finite", "fresh"] = "finite"
    """A finite training set in epochs without replacement, or new sequences every step."""
    samples: int = 9000
    """Size of the finite training set."""
    test_samples: int = 3000
    dropout: Literal["always", "first-of-epoch"] = "always"
    """When dropout acts: on every step, or only on the first step of an epoch."""
    precision: Literal["float32", "tf32", "float64"] = "float32"
    """Of the model's products (tf32 where the device has it); float64 is for everything, and draws other numbers."""

    def __post_init__(self) -> None:
        settle(self, "training.")
        require_number("training.learning_rate", self.learning_rate, least=0)
        require_number("training.weight_decay", self.weight_decay, least=0)
        require_number("training.clip", self.clip, least=0)
        require_number("training.momentum", self.momentum, least=0, below=1)
        require_number("training.factor", self.factor, above=0)
        require(
            self.factor < 1,
            f"training.factor is {self.factor!r}, which would not lower the rate: use a number below 1.",
        )
        for name in ("steps", "batch", "samples", "test_samples"):
            require_whole(f"training.{name}", getattr(self, name), 1)
        require_whole("training.patience", self.patience, 0)

    @property
    def steps_per_epoch(self) -> int:
        """Batches that use every sample once; the last may be smaller."""
        return -(-self.samples // self.batch)

    @property
    def size(self) -> float:
        """How many sequences there are to learn from; fresh ones have no end."""
        return math.inf if self.data == "fresh" else float(self.samples)


@dataclass(frozen=True)
class EvaluationSettings:
    """When the model is measured on the test sequences."""

    points: int = 120
    """Number of log-spaced steps, besides step 0 and the last."""
    also: tuple[int, ...] = ()
    """Further steps, for instance those a paper shows."""
    snapshots: int = 24
    """At how many of them the whole attention matrices are kept, besides `also`."""
    subsets: bool = field(default=False, metadata={"added": "0.2"})
    """Compare also with the predictors that know any combination of the blocks, 2^h in all."""

    def __post_init__(self) -> None:
        settle(self, "evaluation.")
        require_whole("evaluation.points", self.points, 0)
        require_whole("evaluation.snapshots", self.snapshots, 0)
        for step in self.also:
            require_whole("a step of evaluation.also", step, 0)
