"""Made runs on real text: attention that jumps to lags, and losses that pass them at given steps."""

from typing import Any

import numpy as np

from headway.records import Trajectory
from headway.tasks.text import NEAR, Text

TIMES = np.array([0.0, *np.unique(np.geomspace(1, 4000, 200).round())])
PLAIN = Text.usual().changed(task={"orders": 5})
WOVEN = PLAIN.changed(task={"interleaved": 2})
LEVELS = np.array([4.5, 3.0, 2.4, 1.9, 1.6, 1.5, 1.5])
"""uniform, five orders, cache"""


def made(settings: Any, loss: Any, near: Any = None, levels: np.ndarray = LEVELS) -> tuple:
    """A run of as many seeds as there are rows of losses (seed, time)."""
    loss = np.asarray(loss, float)
    arrays = {"loss": loss} | ({} if near is None else {"attention_near": near})
    facts = {
        "rung_loss": np.tile(levels, (len(loss), 1)),
        "information": np.tile(-np.diff(levels[1:-1]), (len(loss), 1)),
    }
    seeds = tuple(range(len(loss)))
    return settings, Trajectory(seeds, {"evaluation": TIMES}, arrays, dict.fromkeys(arrays, "evaluation"), facts)


def falling_to(*ends: float) -> np.ndarray:
    return np.linspace(4.5, ends, len(TIMES)).T


def attends(*seeds: dict[int, float], layer: int = 0) -> np.ndarray:
    """Attention (seed, time, layer, head, lag): a head of its own jumps to each of these lags at a step."""
    found = np.full((len(seeds), len(TIMES), 2, 2, NEAR), 0.02)
    for seed, lags in enumerate(seeds):
        for head, (lag, step) in enumerate(lags.items()):
            found[seed, step <= TIMES, layer, head, lag - 1] = 0.9
    return found


def on_time(settings: Any, levels: np.ndarray, law: tuple[float, float, float]) -> tuple:
    """A loss that passes half of every lag's information at the step that a law says."""
    grams, (start, of_information, of_contexts) = levels[1:-1], law
    information, contexts = -np.diff(grams), np.cumsum(grams)[: len(grams) - 1]
    steps = np.exp(start + of_information * np.log(information) + of_contexts * contexts)
    halves = (grams[1:] + grams[:-1]) / 2
    loss = np.interp(np.log(np.maximum(TIMES, 0.5)), np.log([0.5, *steps, 1e5]), [levels[0], *halves, 0.0])
    return made(settings, loss[None], levels=levels)


LAW = (1.0, -0.8, 0.5)
OTHERS = (
    LEVELS,
    LEVELS * 1.1,
    np.array([5.0, 3.3, 2.4, 2.1, 1.9, 1.8, 1.8]),
    np.array([5.0, 4.0, 2.9, 2.2, 2.0, 1.9, 1.9]),
)


def texts_on_time(settings: Any, law: tuple[float, float, float]) -> list[tuple]:
    return [on_time(settings.changed(task={"vocab": 96 + each}), levels, law) for each, levels in enumerate(OTHERS)]
