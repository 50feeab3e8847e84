"""Nobody is measured before all compute the same: loss and gradient at one point, and the losses of a few steps.

Headway's gradient is read off its own compiled program: one step of plain gradient descent with a rate so large
that before - after is the gradient to the last digits. With one batch an epoch, all see the same sequences.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.bench import rivals
from benchmarks.bench.forms import asking, batches_of
from benchmarks.bench.headway_side import Step, begin
from benchmarks.bench.record import BenchError
from headway.tasks.run import Settings

RATE = 2.0**14
STEPS = 3
LIMITS = {
    "float32": {"loss": 1e-5, "gradient": 1e-3, "trained": 2e-3},
    "tf32": {"loss": 1e-3, "gradient": 5e-2, "trained": 1e-2},
}
"""Largest relative differences: float32 sums of many terms in different orders, or factors of ten bits."""
STEP_LIMITS = {"float32": {"loss": 1e-5, "gradient": 1e-3}, "tf32": {"loss": 1e-3, "gradient": 0.1}}
"""The same for a step; of a gradient's arrays the root of the mean square is compared, not the largest number."""
SMALLEST = 1e-2
"""Arrays with less than this share of the gradient's norm are compared with that share of it."""


def check(settings: Settings, names: tuple[str, ...], gpu: bool) -> dict[str, dict[str, float]]:
    """Rival -> its largest relative differences from Headway; one that is too large is a BenchError."""
    precision = settings.training.precision if gpu else "float32"  # what is measured, compared with float32
    training = replace(settings.training, samples=settings.training.batch, precision=precision, schedule="constant")
    plain = replace(settings, model=replace(settings.model, dropout=0.0), training=training)
    descent = replace(training, optimiser="sgd", learning_rate=RATE, momentum=0.0, weight_decay=0.0, clip=0.0)
    start = begin(replace(plain, training=descent), 1)
    loss, gradient = start.gradient_by_one_step(RATE)
    losses = begin(plain, 1).contestant(STEPS).advance()
    found = {}
    for name in names:
        rival = rivals.make(name, plain, start.weights, start.sequences, STEPS, gpu)
        own_loss, own_gradient = rival.gradient(start.sequences)
        found[name] = {
            "loss": abs(own_loss - loss) / abs(loss),
            "gradient": _difference(rival.layout(gradient), own_gradient),
            "trained": float(np.max(np.abs(rival.contestant.advance() - losses) / np.abs(losses))),
        }
        _refuse(name, found[name], LIMITS[precision])
    return found


def check_step(settings: Settings, step: Step, sequences: np.ndarray, gpu: bool) -> dict[str, float]:
    """The relative differences of PyTorch's loss and gradient from those of a step without dropout of a program."""
    from benchmarks.bench.rivals.transformer_training import laid_out, torch_gradient

    (inputs,), (targets,) = batches_of(settings, sequences[step.rows])
    loss, gradient = torch_gradient(settings, step.weights, inputs, targets, asking(settings), gpu)
    norm = np.sqrt(sum(np.sum(each.astype(np.float64) ** 2) for each in gradient.values()))
    shrink = min(1.0, settings.training.clip / norm) if settings.training.clip else 1.0
    ours = laid_out(settings, step.gradient)
    if ours.keys() != gradient.keys():
        raise BenchError(f"the gradients have different names: {sorted(ours.keys() ^ gradient.keys())}.")
    apart = [
        np.linalg.norm(ours[name] - shrink * each) / (shrink * max(np.linalg.norm(each), SMALLEST * norm))
        for name, each in gradient.items()
    ]
    found = {"loss": abs(loss - step.loss) / abs(loss), "gradient": float(np.max(apart))}
    _refuse("torch", found, STEP_LIMITS[settings.training.precision if gpu else "float32"])
    return found


def _difference(ours: rivals.Arrays, theirs: rivals.Arrays) -> float:
    """The largest difference within an array, relative to that array's largest number (or, if that is 0, to 1)."""
    if ours.keys() != theirs.keys():
        raise BenchError(f"the gradients have different names: {sorted(ours.keys() ^ theirs.keys())}.")
    sizes = {name: np.max(np.abs(array)) for name, array in ours.items()}
    # Of NumPy, because the maximum must be "not a number" if any difference is.
    return float(np.max([np.max(np.abs(ours[name] - theirs[name])) / (sizes[name] or 1.0) for name in ours]))


def _refuse(name: str, found: dict[str, float], limits: dict[str, float]) -> None:
    words = {"loss": "the loss", "gradient": "the gradient", "trained": f"the loss within {STEPS} steps of AdamW"}
    for what, limit in limits.items():
        # Written so that a difference that is not a number is refused too.
        if not found[what] <= limit:
            raise BenchError(
                f"Headway and {rivals.TITLES[name]} do not compute the same: {words[what]} differs by "
                f"{found[what]:.2g} of its size, and rounding explains at most {limit:g}. Nothing was measured: "
                "times of different computations cannot be compared. One of the two has a fault: please report it."
            )
