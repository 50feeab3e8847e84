"""Made records of transformers whose plateaus obey a known law, but for what cells and seeds miss."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from tests.report.made_emergence import made_location, made_recall

from headway.forecast.from_laws import concentration
from headway.records import Trajectory
from headway.tasks.recall import Recall
from headway.tasks.single_location import SingleLocation

SEEDS = (0, 1, 2, 3)
POWERS = {
    "transformer": {"constant": 3.0, "dimension": 1.1, "length": 0.7, "copies": -0.6, "q": -0.4},
    "recall": {"constant": 0.8, "vocab": 0.6, "pairs": 1.9, "copies": -0.5, "q": -0.3},
}
_PLAIN = [{"length": t, "dimension": d} for t in (32, 64, 128, 256) for d in (16, 32, 64, 128) if t * d < 2**15]
_PAIRS = [{"vocab": n, "pairs": m} for n in (32, 64, 128, 256) for m in (8, 16, 32) if n * m < 2**12 and m < n]
TASKS = {
    "transformer": [*_PLAIN, *({"length": 128, "dimension": 32, "copies": b} for b in (2, 4, 8))],
    "recall": [
        *_PAIRS,
        *({"vocab": 64, "pairs": 16, "copies": b} for b in (2.0, 4.0, 16.0)),
        *({"vocab": 64, "pairs": 16, "favoured": p} for p in (0.25, 0.5, 0.95)),
    ],
}
"""Much like the grids of the experiments, without the largest."""


def made_settings(model: str) -> list[Any]:
    """All tasks; with repetition across samples a transformer's plateau ends at another loss."""
    if model == "recall":
        return [Recall.usual().changed(task=task) for task in TASKS[model]]
    shared = [{"length": 128, "dimension": 32, "repeated": p} for p in (0.1, 0.2, 0.4)]
    plain = [SingleLocation.usual().changed(task=task) for task in TASKS[model]]
    return plain + [SingleLocation.usual().changed(task=task, training={"threshold": 0.4}) for task in shared]


def true_steps(model: str, task: Any) -> float:
    """c d^a T^b B^e q^f."""
    law = POWERS[model]
    if model == "recall":
        q = concentration(task.vocab, task.favoured, task.favourites)
        sizes = task.vocab ** law["vocab"] * task.pairs ** law["pairs"]
    else:
        q = concentration(task.dimension, task.repeated)
        sizes = task.dimension ** law["dimension"] * task.length ** law["length"]
    return float(law["constant"] * sizes * task.copies ** law["copies"] * q ** law["q"])


def made_law(model: str, *, miss: float = 0.05, noise: float = 0.05, seed: int = 0) -> list[tuple[Any, Trajectory]]:
    """One run for every task; each cell misses the law by `miss`, each seed by `noise`, in logarithms."""
    rng = np.random.default_rng(seed)

    def off() -> np.ndarray:
        return rng.normal(0, miss) + rng.normal(0, noise, len(SEEDS))

    return [(each, one_run(model, each, off())) for each in made_settings(model)]


def one_run(model: str, settings: Any, off: np.ndarray) -> Trajectory:
    """A run whose seeds are off the law by these logarithms."""
    made = made_recall if model == "recall" else made_location
    lengths = true_steps(model, settings.task) * np.exp(off)
    each = [made(settings, (seed,), float(length)) for seed, length in zip(SEEDS, lengths, strict=True)]
    # One clock for all seeds, on which each has ended where it should.
    times = np.unique(np.concatenate([run.times("loss") for run in each]))
    arrays = {}
    for name in each[0].arrays:
        rows = [run[name][0][np.searchsorted(run.times(name), times, side="right") - 1] for run in each]
        arrays[name] = np.stack(rows)
    facts = {name: np.concatenate([run.facts[name] for run in each]) for name in each[0].facts}
    return dataclasses.replace(each[0], seeds=SEEDS, clocks={"evaluation": times}, arrays=arrays, facts=facts)
