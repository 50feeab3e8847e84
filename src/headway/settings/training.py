"""How a model is fitted, and when it is measured."""

from __future__ import annotations

import importlib
import math
import sys
from dataclasses import dataclass, field
from typing import Any, Literal

from headway.settings.checks import refuse, require, require_number, require_whole, settle
from headway.settings.given import Given, Part, given

Arguments = tuple[tuple[str, Any], ...]
Groups = tuple[tuple[str, float, float], ...]
OWN_OPTIMISERS: dict[str, tuple[str, ...]] = {"adamw": ("b1", "b2", "eps"), "sgd": ()}
"""With PyTorch's conventions, and numbers that may differ between the members of one program; -> their arguments."""


@dataclass(frozen=True)
class TrainingSettings:
    """How a model is trained."""

    optimiser: Part = "adamw"
    """adamw, sgd, or any optax optimiser by name, such as muon or lion. In Python also a transformation of
    optax."""
    arguments: Arguments = field(default=(), metadata={"added": "0.2"})
    """Arguments of the optimiser by name, such as beta=0.9; for adamw b1, b2 and eps."""
    learning_rate: float = 0.003
    """Learning rate before the schedule acts."""
    momentum: float = 0.9
    """Momentum of SGD, and of optimisers that have an argument of this name."""
    weight_decay: float = 0.01
    """Strength of the weight decay."""
    groups: Groups = field(default=(), metadata={"added": "0.2"})
    """Factors on learning rate and weight decay for some parameters, selected by path, as in layers.*.value=5,1."""
    clip: float = 1.0
    """Largest global norm of the gradient; 0 means no clipping."""
    schedule: Literal["constant", "plateau", "plateau-step", "cosine"] = "plateau"
    """plateau: lower the learning rate if the training loss, tested every epoch, stops falling; plateau-step: tested
    every step."""
    patience: int = 10
    """Number of epochs (or steps) without progress before the plateau schedule acts."""
    factor: float = 0.5
    """Factor by which the plateau schedule multiplies the learning rate."""
    steps: int = 2000
    """Number of steps; with a threshold, at most this many: a run that has not reached the threshold by then is
    censored."""
    threshold: float | None = field(default=None, metadata={"added": "0.2"})
    """Train until learnt: the plateau ends when the task's measure of progress (a loss, an accuracy) reaches this."""
    until: float | None = field(default=None, metadata={"added": "0.2"})
    """With a threshold: continue training until this level is reached; the threshold if not given."""
    tail: float = field(default=0.5, metadata={"added": "0.2"})
    """With a threshold: continue for this share of the steps so far; below 0, continue to the last step."""
    batch: int = 3000
    """Number of sequences per step."""
    data: Literal["finite", "fresh", "exact"] = "finite"
    """finite: a training set, in epochs without replacement; fresh: new sequences every step; exact: the expected
    loss."""
    samples: int = 9000
    """Size of the finite training set."""
    test_samples: int = 3000
    """Number of test sequences."""
    dropout: Literal["always", "first-of-epoch"] = "always"
    """Apply dropout at every step, or only at the first step of an epoch."""
    precision: Literal["float32", "tf32", "bfloat16", "float64"] = "float32"
    """Precision of matrix products (tf32 and bfloat16 if the device has them); with float64, everything is computed
    in it."""
    frozen: tuple[str, ...] = field(default=(), metadata={"added": "0.3"})
    """Parts of the model (attention, mlp, ...) frozen at the final weights that the same seed reaches without
    freezing."""
    rates: tuple[float, ...] = field(default=(), metadata={"added": "0.3"})
    """Learning rates to choose from, instead of learning_rate: the one whose pilot runs end their plateau first."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "optimiser", given(self.optimiser))
        settle(self, "training.")
        self._check_optimiser()
        self._check_groups()
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
        for name in ("threshold", "until"):
            if getattr(self, name) is not None:
                require_number(f"training.{name}", getattr(self, name), above=0)
        require_number("training.tail", self.tail)
        require(
            self.threshold is not None or self.until is None,
            f"training.until is {self.until}, but without training.threshold a run continues to its last step. Also "
            "give the threshold at which its plateau ends.",
        )

        self._check_rates()

    def _check_rates(self) -> None:
        for rate in self.rates:
            require_number("a rate of training.rates", rate, above=0)
        require(
            len(set(self.rates)) == len(self.rates) != 1,
            f"training.rates is {self.rates}, but there must be different rates to choose from, or none. Give two or "
            "more, or only training.learning_rate.",
        )
        require(
            not self.rates or self.threshold is not None,
            "training.rates needs training.threshold: the rate whose plateau ends first is chosen, and the threshold "
            "defines that end. Set training.threshold, or use training.learning_rate instead.",
        )
        require(
            not self.rates or self.optimiser in OWN_OPTIMISERS,
            f"training.rates are there for {' and '.join(OWN_OPTIMISERS)}, but training.optimiser is "
            f"{self.optimiser!r}. Use one of them, or only training.learning_rate.",
        )
        require(
            not (self.rates and self.frozen),
            "training.rates and training.frozen do not go together. Leave out one of them.",
        )

    def _check_optimiser(self) -> None:
        if isinstance(self.optimiser, str):
            require(
                self.optimiser.isidentifier(),
                f"training.optimiser is {self.optimiser!r}, but it must be the name of an optimiser, such as adamw.",
            )
            # Whoever only reads settings need not have optax; whoever computes gets an error before training.
            if "optax" in sys.modules:
                self.require_known_optimiser()
        elif not isinstance(self.optimiser, Given):
            refuse(f"training.optimiser is {self.optimiser!r}, but it must be a name, a transformation or a function.")
        elif self.arguments:
            refuse(
                "training.arguments are given, but the optimiser is not given by name. Pass them to the "
                "optimiser itself."
            )

    def require_known_optimiser(self) -> None:
        """Hold the optimiser's name and arguments against optax, which is loaded for it."""
        if isinstance(self.optimiser, str):
            names = importlib.import_module("headway.training.optimiser_names")
            names.require_known(self.optimiser, dict(self.arguments))

    def _check_groups(self) -> None:
        for each in self.groups:
            require(
                len(each) == 3 and isinstance(each[0], str),
                f"training.groups has {each!r}, but a group is a name and two factors, on the learning rate and on the "
                'weight decay, as in ("W", 0.01, 1.0).',
            )
            for factor in each[1:]:
                require_number(f"a factor of the group {each[0]!r} of training.groups", factor, least=0)
        if self.groups:
            told = tuple((name, float(rate), float(decay)) for name, rate, decay in self.groups)
            object.__setattr__(self, "groups", told)

    @property
    def steps_per_epoch(self) -> int:
        """Batches that use every sample once; the last may be smaller."""
        return -(-self.samples // self.batch)

    @property
    def size(self) -> float:
        """How many sequences there are to learn from; fresh ones have no end."""
        return math.inf if self.data == "fresh" else float(self.samples)


def plain_descent(learning_rate: float, **more: Any) -> TrainingSettings:
    """w <- w - rate * gradient: no momentum, decay, clipping or schedule, as theory follows it."""
    return TrainingSettings(
        optimiser="sgd",
        learning_rate=learning_rate,
        momentum=0.0,
        weight_decay=0.0,
        clip=0.0,
        schedule="constant",
        **more,
    )


@dataclass(frozen=True)
class EvaluationSettings:
    """When the model is evaluated on the test sequences."""

    points: int = 120
    """Number of log-spaced evaluations, in addition to step 0 and the last step."""
    also: tuple[int, ...] = ()
    """Additional steps, such as those that a paper shows."""
    snapshots: int = 24
    """Number of evaluations at which whole attention matrices are kept, in addition to `also`."""
    comparisons: bool = field(default=False, metadata={"added": "0.2"})
    """Also compare with the task's other predictors; for the chain, those that know any combination of blocks."""
    every: int | None = field(default=None, metadata={"added": "0.2"})
    """Instead of log-spaced steps, evaluate at multiples of this; see growth."""
    growth: float = field(default=0.0, metadata={"added": "0.2"})
    """With `every`: evaluations are at least this share of the step apart; 0 means equal spacing."""
    losses: Literal["step", "mean"] = field(default="step", metadata={"added": "0.2"})
    """Keep the training loss of every step, or its mean between two evaluations."""

    def __post_init__(self) -> None:
        settle(self, "evaluation.")
        require_whole("evaluation.points", self.points, 0)
        require_whole("evaluation.snapshots", self.snapshots, 0)
        for step in self.also:
            require_whole("a step of evaluation.also", step, 0)
        if self.every is not None:
            require_whole("evaluation.every", self.every, 1)
        require_number("evaluation.growth", self.growth, least=0)

    def steps(self, last: int) -> list[int]:
        """0, the log-spaced steps or the multiples, the listed ones up to the last, and the last."""
        spaced = _log_spaced(self.points, last) if self.every is None else self._multiples(self.every, last)
        return sorted({0, last, *spaced, *(step for step in self.also if step <= last)})

    def _multiples(self, every: int, last: int) -> list[int]:
        ticks, step = [], 0
        while step < last:
            step += max(1, int(self.growth * step / every)) * every
            ticks.append(min(step, last))
        return ticks

    def pictures(self, last: int) -> list[int]:
        """The evaluations at which whole attention matrices are kept: evenly many of them, and the listed ones."""
        evaluations = self.steps(last)
        count = min(self.snapshots, len(evaluations))
        span = len(evaluations) - 1
        picked = {evaluations[round(span * i / max(1, count - 1))] for i in range(count)}
        return sorted(picked | {step for step in self.also if step <= last})


def _log_spaced(points: int, last: int) -> list[int]:
    """About `points` whole numbers from 1 to `last`, evenly spaced on a logarithmic axis."""
    if points == 0:
        return []
    import numpy as np  # late: help must not wait for it

    return [int(step) for step in np.unique(np.geomspace(1, last, points).round())]


def changed_defaults(settings: Any, names: tuple[str, ...]) -> list[str]:
    """Those of the names whose values are not the default's."""
    usual = type(settings)()
    return [name for name in names if getattr(settings, name) != getattr(usual, name)]
