"""An optimiser of one's own: Muon beside AdamW on paper A's chain, same seeds, same data.

    headway run examples/my_optimiser.py

Muon steps along the nearest orthogonal matrix to its momentum. It acts on matrices; heads are stacked, so it is given
which axes make one.
"""

import jax
import numpy as np
import optax

from headway import Claim, Experiment, presets
from headway.analysis import minima


def muon(learning_rate):
    """Every head's matrix apart: the first of three axes counts heads."""

    def axes(weights):
        along = optax.contrib.MuonDimensionNumbers(reduction_axis=-2, output_axis=-1)
        return jax.tree.map(lambda leaf: along if leaf.ndim >= 2 else None, weights)

    return optax.contrib.muon(learning_rate, muon_weight_dimension_numbers=axes)


adamw = presets.minimal_quick()
settings = {
    "AdamW": adamw,
    "Muon": adamw.changed(training={"optimiser": muon, "learning_rate": 0.2}),
}


def in_order(claim, results):
    """Whether every rung's minimum comes after the one before, with Muon."""
    _, trajectory = results["Muon"]
    steps = minima(trajectory.times("kl_rungs"), trajectory["kl_rungs"][:, :, 1:])
    ratios = (steps[:, 1:] / np.maximum(steps[:, :-1], 1)).min(axis=1)
    return ratios, np.all(np.diff(steps, axis=1) > 0, axis=1)


def sooner(claim, results):
    """The step at which excess loss is first below 0.3 nats, Muon over AdamW."""
    steps = []
    for name in ("Muon", "AdamW"):
        _, trajectory = results[name]
        low = trajectory["excess_loss"] < 0.3
        times = trajectory.times("excess_loss")
        steps.append(np.where(low.any(axis=1), times[np.argmax(low, axis=1)], np.inf))
    with np.errstate(invalid="ignore"):
        return steps[0] / steps[1], steps[0] < steps[1]


EXPERIMENT = Experiment(
    title="Muon beside AdamW: does the ladder depend on the optimiser?",
    grids={"quick": settings},
    seeds={"quick": 4},
    claims=(
        Claim(
            "order",
            "With Muon, too, the rungs are passed in order.",
            "KL to every rung reaches its minimum after KL to the one before.",
            "smallest ratio between the steps of successive minima (above 1: in order)",
            judge=in_order,
        ),
        Claim(
            "sooner",
            "Muon gets to a low loss sooner than AdamW.",
            "The excess loss is below 0.3 nats at an earlier step.",
            "that step, relative to AdamW's",
            judge=sooner,
        ),
    ),
)
