"""Made runs whose verdicts are obvious: curves with their lowest point at a given step, heads on given blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from headway.analysis import uniform_by_lag
from headway.analysis.staircases import evaluation_times, sigmoid
from headway.claims.claim import Run
from headway.presets import MINIMAL
from headway.records import Trajectory
from headway.tasks.chain import Blocks, Chain
from headway.tasks.run import Settings

TIMES = np.array([0, 1, 2, 5, 10, 20, 40, 60, 100, 160, 300, 600, 1000, 2000])
OFTEN = evaluation_times().astype(int)
"""For what is read from the shape of a loss curve."""
BLOCKS = ((1, 2), (3, 4), (5, 6))

Masses = Sequence[Sequence[float]]
"""Head by head, the attention on each block; what is left goes to the lags outside the blocks."""
Story = Mapping[int, Masses | None]
"""Step -> where the heads look from then on; None is uniform attention."""

FIGURE_2: Story = {
    0: None,
    20: [(0.9, 0, 0), (0.9, 0, 0), (0.6, 0.3, 0)],
    160: [(0.9, 0, 0), (0.8, 0.1, 0), (0.1, 0.8, 0)],
    600: [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
}
"""The four pictures of paper A, each there in time for its step: 0, 60, 300, 1000."""


def made_settings(heads: int = 3, blocks: Blocks = BLOCKS, references: Sequence[int] = ()) -> Settings:
    """The minimal model of any number of heads on any blocks."""
    task = Chain(blocks=blocks, references=tuple(references))
    return Settings(task=task, model=replace(MINIMAL, heads=heads))


def bottoming_at(*steps: int) -> np.ndarray:
    """KL to rungs 1, 2, .. over TIMES with their lowest values at these steps: (time, rung)."""
    return np.abs(np.log((TIMES[:, None] + 1) / (np.array(steps) + 1))) + 0.01


def climbing(*steps: float, blur: float = 0.1, rungs: int = 3) -> dict[str, np.ndarray]:
    """One seed over OFTEN that goes up a rung at each of these steps: its loss, and its KL to the rungs from 1 on.

    Every step is as high as the others and takes the stretch `blur` of log-time; in between the loss waits. The
    last level is 0.01 and a rung more for each that is never reached.
    """
    with np.errstate(divide="ignore"):
        done = [sigmoid(np.maximum(np.log(OFTEN), -50) - np.log(step), blur) for step in steps]
    height = np.sum(done, axis=0)
    return {"times": OFTEN, "loss": rungs - height + 0.01, "kl": np.abs(height[:, None] - np.arange(1, rungs + 1))}


def heads_on(story: Story, settings: Settings, times: np.ndarray = TIMES) -> np.ndarray:
    """Attention by lag over the times: (time, head, lag)."""
    steps = sorted(story)
    now = [story[max(step for step in steps if step <= time)] for time in times]
    return np.stack([_by_lag(masses, settings) for masses in now])


def _by_lag(masses: Masses | None, settings: Settings) -> np.ndarray:
    task = settings.task
    if masses is None:
        return np.tile(uniform_by_lag(task.start, task.horizon), (settings.model.heads, 1))
    profile = np.zeros((settings.model.heads, task.length))
    outside = [lag - 1 for lag in range(1, task.length + 1) if lag not in task.lags]
    for head, row in enumerate(masses):
        profile[head, outside] = (1 - sum(row)) / len(outside)
        for block, mass in zip(task.blocks, row, strict=True):
            profile[head, [lag - 1 for lag in block]] += mass / len(block)
    return profile


def made_trajectory(
    seeds: Sequence[int] | None = None,
    *,
    times: np.ndarray = TIMES,
    kl: Sequence[np.ndarray] | None = None,
    against_ngrams: Sequence[np.ndarray] | None = None,
    subsets: Sequence[np.ndarray] | None = None,
    attention: Sequence[np.ndarray] | None = None,
    loss: Sequence[np.ndarray] | None = None,
    halves: Sequence[np.ndarray] | None = None,
    rates: Sequence[np.ndarray] | None = None,
    stageless: Sequence[Sequence[float]] | None = None,
    diverged: Mapping[int, int] | None = None,
) -> Trajectory:
    """One entry per seed: KL (time, rung from 1 on), to n-grams (time, reference) and to all combinations of blocks
    (time, combination), attention (time, head, lag), excess loss (time,), that of both halves of the test sequences
    (time, half), learning rate (time,); and, a fact, how near confidence alone comes to each rung (rung,).
    """
    given = {
        "kl_rungs": None if kl is None else [np.column_stack([seed[:, 0] + 1, seed]) for seed in kl],
        "kl_references": against_ngrams,
        "kl_subsets": subsets,
        "attention_by_lag": None if attention is None else [seed[:, None] for seed in attention],
        "excess_loss": loss,
        "excess_halves": halves,
        "learning_rate": rates,
    }
    arrays = {name: np.stack(values).astype(np.float32) for name, values in given.items() if values is not None}
    count = len(next(iter(arrays.values())))
    seeds = tuple(range(count)) if seeds is None else tuple(seeds)
    facts = {"diverged_at": np.array([(diverged or {}).get(seed, -1) for seed in seeds])}
    if stageless is not None:
        facts["kl_stageless"] = np.array(stageless, np.float32)
    if stageless is not None and subsets is not None:  # to a combination as to the rung of as many blocks
        sizes = [combination.bit_count() for combination in range(2 ** (len(stageless[0]) - 1))]
        facts["kl_stageless_subsets"] = facts["kl_stageless"][:, sizes]
    return Trajectory(seeds, {"evaluation": times}, arrays, dict.fromkeys(arrays, "evaluation"), facts)


def made_run(
    settings: Any,
    seeds: Sequence[int] = (0,),
    diverged: Mapping[int, int] | None = None,
    times: np.ndarray = TIMES,
    **measured: Any,
) -> Run:
    """A run whose seeds are all alike: what one of them measured, by the names of `made_trajectory`."""
    all_seeds: dict[str, Any] = {name: [values] * len(seeds) for name, values in measured.items()}
    return settings, made_trajectory(seeds, times=times, diverged=diverged, **all_seeds)
