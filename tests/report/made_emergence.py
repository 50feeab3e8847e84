"""Runs of paper B's transformers as the slides tell of them, made in NumPy: a plateau of any length, then a fall."""

from __future__ import annotations

import numpy as np

from headway.claims.plateau_laws import LOCATION, RECALL
from headway.records import Trajectory
from headway.tasks.recall import Recall
from headway.tasks.run import Settings
from headway.tasks.single_location import SingleLocation

POINTS = 201
SEEDS = (0, 1, 2, 3)


def made_emergence(
    settings: Settings,
    seeds: tuple[int, ...] = SEEDS,
    diverged: dict[int, int] | None = None,
    **how: float,
) -> Trajectory:
    """`how` are the arguments of the function for the settings' task."""
    made = made_location if isinstance(settings.task, SingleLocation) else made_recall
    trajectory = made(settings, seeds, **how)
    at = np.array([(diverged or {}).get(row, -1) for row in range(len(seeds))])
    behind = (at >= 0)[:, None] & (trajectory.times("loss") >= at[:, None])
    arrays = {name: values.copy() for name, values in trajectory.arrays.items()}
    for values in arrays.values():
        values[behind] = np.nan
    facts = {**trajectory.facts, "diverged_at": at}
    return Trajectory(trajectory.seeds, trajectory.clocks, arrays, trajectory.clock_of, facts)


def made_location(
    settings: Settings[SingleLocation],
    seeds: tuple[int, ...] = SEEDS,
    length: float | None = None,
    fall: float = 0.1,
    gain_at: float = 0.5,
) -> Trajectory:
    """The loss is 1/2, falls in the last share `fall` of the plateau and is 0 behind; attention comes with the end.

    `gain_at` is the share of the plateau at which the gain is there. Without a `length` the plateau has the published
    one, shorter with cross-sample repetition.
    """
    if length is None:
        length = float(LOCATION.predict([settings])[0]) * (1 - settings.task.repeated / 2)
    at, times, share = _clock(length, seeds)
    loss = np.clip(0.5 - 0.5 * (share - (1 - fall)) / fall, 0, 0.5)
    # It is the threshold that is passed at the end, and not at the foot of the fall.
    loss = np.where(share >= 1, 0.0, np.maximum(loss, settings.training.threshold + 0.01))
    uniform = 1 / settings.task.reads
    attention = uniform + (0.95 - uniform) * (share >= 0.98)
    heads = np.full((*share.shape, settings.model.layers, settings.model.heads), uniform)
    heads[:, :, -1, 0] = attention
    arrays = {
        "train_loss": loss,
        "loss": loss,
        "loss_alone": loss,
        "gain": (share >= gain_at) * 1.0,
        "attention_relevant": heads,
    }
    return _trajectory(seeds, times, arrays, at)


def made_recall(
    settings: Settings[Recall],
    seeds: tuple[int, ...] = SEEDS,
    length: float | None = None,
    known_at: float = 1.1,
    attention_at: tuple[float, float] = (0.99, 0.99),
    end: float = 1.0,
    end_repeated: float = 1.0,
) -> Trajectory:
    """Accuracy is chance, then just above the threshold, and `end` from the share `known_at` of the plateau on."""
    if length is None:
        length = float(RECALL.predict([settings])[0]) / settings.task.copies * (1 - settings.task.favoured / 4)
    at, times, share = _clock(length, seeds)
    chance = 1 / settings.task.vocab

    def accuracy(last: float) -> np.ndarray:
        return np.where(share >= known_at, last, np.where(share >= 1, settings.training.threshold + 0.01, chance))

    layers, heads = settings.model.layers, settings.model.heads
    relevant, previous = (np.full((*share.shape, count, heads), 0.1) for count in (layers, layers - 1))
    previous[:, :, 0, 0] = 0.1 + 0.8 * (share >= attention_at[0])
    relevant[:, :, -1, 0] = 0.1 + 0.8 * (share >= attention_at[1])
    arrays = {
        "train_loss": -np.log(accuracy(end)),
        "loss": -np.log(accuracy(end)),
        "loss_repeated": -np.log(accuracy(end_repeated)),
        "accuracy": accuracy(end),
        "accuracy_repeated": accuracy(end_repeated),
        "attention_relevant": relevant,
        "attention_previous": previous,
    }
    return _trajectory(seeds, times, arrays, at)


def long_clock(length: float, seeds: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `_clock`, to three plateaus."""
    at = np.full(len(seeds), round(length))
    times = np.unique(np.append(np.round(np.linspace(0, 3 * at[0], 301)), at[0])).astype(np.int64)
    return at, times, times[None] / at[:, None]


def _clock(length: float, seeds: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """When the plateau of each seed ends, the evaluations, and which share of the plateau each of them is."""
    at = np.round(length * (1 + 0.002 * np.arange(len(seeds))))
    times = np.unique(np.append(np.round(np.linspace(0, 1.5 * at.max(), POINTS)), at)).astype(np.int64)
    return at, times, times[None] / at[:, None]


def _trajectory(seeds: tuple[int, ...], times: np.ndarray, arrays: dict[str, np.ndarray], at: np.ndarray) -> Trajectory:
    arrays = {name: values.astype(np.float32) for name, values in arrays.items()}
    stopped = np.full(len(seeds), times[-1])
    facts = {"plateau": at, "stopped_at": stopped, "diverged_at": np.full(len(seeds), -1)}
    return Trajectory(seeds, {"evaluation": times}, arrays, dict.fromkeys(arrays, "evaluation"), facts)
