"""Made flows and trainings of the regression whose boundaries, heads and order are what a test says."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.analysis.staircases import sigmoid
from headway.records import Trajectory
from headway.settings import FlowSettings
from headway.tasks.regression import Regression

TIMES = np.concatenate([[0.0], np.geomspace(0.1, 1000, 60)])
BOUNDARIES = (10.0, 40.0, 160.0)

FLOW = FlowSettings(length=10, last=1000.0)
GD = Regression.usual().changed(task={"length": 10})
SGD = GD.changed(training={"data": "fresh", "precision": "float32"})
ADAMW = SGD.changed(training={"optimiser": "adamw", "weight_decay": 0.01})


def made_theory(
    settings: Any,
    boundaries: Sequence[float] = BOUNDARIES,
    *,
    heads: Sequence[int] | None = None,
    order: Sequence[int] | None = None,
    seeds: Sequence[int] = (0, 1),
    diverged: dict[int, int] | None = None,
) -> tuple[Any, Trajectory]:
    """A run whose seeds are alike: features are learned at the boundaries, in `order`; head k ends at `heads[k]`.

    Until a feature is learned its head stays where the first feature is.
    """
    task = getattr(settings, "task", settings)
    count = task.features
    heads = list(range(count)) if heads is None else list(heads)
    order = range(count) if order is None else order
    with np.errstate(divide="ignore"):
        log_times = np.maximum(np.log(TIMES), -50)
    done = np.zeros((len(TIMES), count))
    for boundary, feature in zip(boundaries, order, strict=True):
        if np.isfinite(boundary):
            done[:, feature] = sigmoid(log_times - np.log(boundary), 0.1)
    strengths = task.base * task.ratio ** np.arange(count - 1, -1, -1.0)
    attention, values = (np.zeros((len(TIMES), len(heads), count)) for _ in range(2))
    for head, feature in enumerate(heads):
        attention[:, head, 0] += 1 - done[:, feature]
        attention[:, head, feature] += done[:, feature]
        values[:, head, feature] = strengths[feature] * done[:, feature]
    loss = 0.5 * np.sum((strengths * (1 - done)) ** 2, axis=1)
    once = {"loss": loss, "attention": attention, "values": values}
    arrays = {name: np.stack([each] * len(seeds)).astype(np.float32) for name, each in once.items()}
    clock = "time" if task is settings else "evaluation"
    # Boundaries and times are given in the flow's time, which gd and sgd count in steps; AdamW's are steps.
    stepped = task is not settings and settings.training.optimiser != "adamw"
    unit = settings.training.learning_rate if stepped else 1.0
    return settings, Trajectory(
        seeds=tuple(seeds),
        clocks={clock: TIMES / unit},
        arrays=arrays,
        clock_of=dict.fromkeys(arrays, clock),
        facts={
            "boundaries": np.array([list(boundaries)] * len(seeds)) / unit,
            "diverged_at": np.array([(diverged or {}).get(seed, -1) for seed in seeds]),
        },
    )
