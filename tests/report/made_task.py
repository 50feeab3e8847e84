"""Made-up runs of tasks that nobody wrote: formulas that look like training, for tests of the page.

in_context_chain()   2 layers of 1 head, 64 positions, the ladder uniform, unigram, bigram, attention matrices
curves_alone()       a regression: a loss that falls twice, and nothing of a ladder or of heads
heads_alone()        4 layers of 4 heads, of which only numbers a head are known; accuracy rises, seeds stop early
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from headway.records import About, Trajectory
from headway.report.build import run_view
from headway.report.page import RunView
from headway.settings.plain import plain

STEPS = 2000
SEEDS = (0, 1, 2)
TIMES = np.unique([0, STEPS, *np.geomspace(1, STEPS, 70).round().astype(int)])
CHAIN = About(
    "An in-context Markov chain of 4 states",
    rungs=("uniform", "unigram", "bigram"),
    loss="cross-entropy",
    progress="excess_loss",
    measures=(("attention_previous", "attention on the token before"),),
)
LINE = About("A line through noisy points", loss="half the squared error", unit="", progress="loss")
HEADS = About(
    "Associative recall of 16 pairs",
    loss="cross-entropy",
    progress="accuracy",
    measures=(
        ("attention_relevant", "attention on the value that is asked for"),
        ("attention_previous", "attention on the token before"),
    ),
)


def settings(**task: Any) -> SimpleNamespace:
    """Settings as they come out of somebody's record: attributes, and no class of ours."""
    return SimpleNamespace(task=SimpleNamespace(**task), training=SimpleNamespace(steps=STEPS, learning_rate=1e-3))


def _rise(times: np.ndarray, middle: float) -> np.ndarray:
    """1 / (1 + (middle / t)^5): from 0 to 1 around `middle`."""
    return 1 / (1 + (middle / np.maximum(times, 0.1)) ** 5)


def in_context_chain(positions: int = 64, seeds: tuple[int, ...] = SEEDS) -> Trajectory:
    """Unigrams from step 20 on, bigrams from step 310 (seed 0) on, by a previous-token head and an induction head."""
    snapshot = TIMES[np.linspace(0, len(TIMES) - 1, 24).round().astype(int)]
    first = [_rise(TIMES, 20 * (1 + 0.2 * seed)) for seed in seeds]
    second = [_rise(TIMES, 310 * (1 + 0.3 * seed)) for seed in seeds]
    progress = np.stack([a + b for a, b in zip(first, second, strict=True)])
    levels = np.array([0.75, 0.32, 0.0])
    kl = 0.6 * np.abs(progress[..., None] - np.arange(3)) ** 1.5 + 0.004
    found = np.stack(second)  # how far the circuit is, (seed, time)
    rows = np.searchsorted(TIMES, snapshot)
    query, key = np.mgrid[0:positions, 0:positions]
    spread = np.where(key <= query, 1.0, 0.0)
    spread /= spread.sum(axis=1, keepdims=True)
    previous = np.where(key == np.maximum(query - 1, 0), 1.0, 0.0)
    band = np.where((key <= query) & ((query - key) % 4 == 3), 1.0, 0.0) + np.eye(positions) * 1e-6
    band /= band.sum(axis=1, keepdims=True)
    share = found[:, rows, None, None, None]
    layers = [spread * (1 - 0.9 * share[:, :, 0]) + 0.9 * share[:, :, 0] * picture for picture in (previous, band)]
    attention = np.stack(layers, axis=2)[:, :, :, None]
    lags = np.zeros((len(seeds), len(snapshot), 2, 1, positions))
    for lag in range(1, positions + 1):
        own = query - key + 1 == lag
        lags[..., lag - 1] = attention[..., own].sum(axis=-1) / positions
    measure = np.stack([0.05 + 0.85 * found, 0.04 + 0.1 * found], axis=-1)[..., None]
    arrays = {
        "train_loss": np.interp(progress, [0, 1, 2], levels + 0.6),
        "excess_loss": np.interp(progress, [0, 1, 2], levels),
        "kl_rungs": kl,
        "attention_previous": measure,
        "gradient_norm": 0.2 + progress * (2 - progress),
        "attention": attention,
        "attention_by_lag": lags,
    }
    clock_of = dict.fromkeys(arrays, "evaluation") | {"attention": "snapshot", "attention_by_lag": "snapshot"}
    return _made(
        seeds,
        {"evaluation": TIMES, "snapshot": snapshot},
        arrays,
        clock_of,
        {
            "rung_excess": np.tile(levels, (len(seeds), 1)),
            "entropy": np.full(len(seeds), 0.6),
            "diverged_at": np.full(len(seeds), -1),
        },
    )


def curves_alone(seeds: tuple[int, ...] = SEEDS) -> Trajectory:
    """A loss that falls at step 15 and again at step 400."""
    loss = np.stack([1 - 0.6 * _rise(TIMES, 15) - 0.38 * _rise(TIMES, 400 + 40 * seed) for seed in seeds])
    return _made(seeds, {"evaluation": TIMES}, {"loss": loss}, {"loss": "evaluation"}, {})


def heads_alone(seeds: tuple[int, ...] = SEEDS) -> Trajectory:
    """Accuracy that rises at once, late, and numbers of 16 heads; seeds stop once it is learned."""
    learnt = np.stack([_rise(TIMES, 300 + 60 * seed) for seed in seeds])
    stopped = np.array([1200 + 200 * k for k in range(len(seeds))])
    weights = np.zeros((4, 4))
    weights[2, 1], weights[3, 0], weights[1, 3] = 0.9, 0.5, 0.3
    before = np.zeros((4, 4))
    before[0, 2] = 0.8
    arrays = {
        "accuracy": 0.05 + 0.93 * learnt,
        "loss": 2.7 * (1 - 0.97 * learnt),
        "train_loss": 2.7 * (1 - 0.98 * learnt),
        "attention_relevant": 0.03 + learnt[..., None, None] * weights,
        "attention_previous": 0.02 + _rise(TIMES, 120)[None, :, None, None] * before + 0 * learnt[..., None, None],
    }
    for values in arrays.values():
        for seed, stop in enumerate(stopped):
            values[seed, stop < TIMES] = np.nan
    facts = {"stopped_at": stopped, "plateau": stopped / 4, "diverged_at": np.full(len(seeds), -1)}
    return _made(seeds, {"evaluation": TIMES}, arrays, dict.fromkeys(arrays, "evaluation"), facts)


def _made(seeds: Any, clocks: Any, arrays: Any, clock_of: Any, facts: Any) -> Trajectory:
    small = {name: np.asarray(values, np.float32) for name, values in arrays.items()}
    return Trajectory(seeds, clocks, small, clock_of, {name: np.asarray(values) for name, values in facts.items()})


def chain_view(label: str = "in-context chain", positions: int = 64, section: str = "") -> RunView:
    about = {"about": plain(CHAIN), "commit": "none: made up"}
    own = settings(states=4, length=positions)
    return run_view(label, own, in_context_chain(positions), about, section=section)


def line_view(label: str = "line") -> RunView:
    return run_view(label, settings(points=8), curves_alone(), {"about": plain(LINE)})


def heads_view(label: str = "recall") -> RunView:
    return run_view(label, settings(pairs=16), heads_alone(), {"about": plain(HEADS)})
