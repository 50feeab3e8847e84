"""Made runs whose verdicts are obvious: curves with their lowest point at a given step, heads on given blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from headway.analysis import uniform_by_lag
from headway.presets import MINIMAL
from headway.records import Trajectory
from headway.settings import Blocks, Settings, TaskSettings

TIMES = np.array([0, 1, 2, 5, 10, 20, 40, 60, 100, 160, 300, 600, 1000, 2000])
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
    task, model = TaskSettings(blocks=blocks), replace(MINIMAL, heads=heads)
    return Settings(task=task, model=model, references=tuple(references))


def bottoming_at(*steps: int) -> np.ndarray:
    """KL to rungs 1, 2, .. over TIMES with their lowest values at these steps: (time, rung)."""
    return np.abs(np.log((TIMES[:, None] + 1) / (np.array(steps) + 1))) + 0.01


def heads_on(story: Story, settings: Settings) -> np.ndarray:
    """Attention by lag over TIMES: (time, head, lag)."""
    steps = sorted(story)
    now = [story[max(step for step in steps if step <= time)] for time in TIMES]
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
    kl: Sequence[np.ndarray] | None = None,
    against_ngrams: Sequence[np.ndarray] | None = None,
    attention: Sequence[np.ndarray] | None = None,
    diverged: Mapping[int, int] | None = None,
) -> Trajectory:
    """One entry per seed: KL (time, rung from 1 on), KL to n-grams (time, reference), attention (time, head, lag)."""
    arrays = {}
    if kl is not None:
        rungs = np.stack(kl)
        arrays["kl_rungs"] = np.concatenate([rungs[..., :1] + 1, rungs], axis=-1)  # rung 0 is never the nearest
    if against_ngrams is not None:
        arrays["kl_references"] = np.stack(against_ngrams)
    if attention is not None:
        arrays["attention_by_lag"] = np.stack(attention)[:, :, None]
    count = len(next(iter(arrays.values())))
    seeds = tuple(range(count)) if seeds is None else tuple(seeds)
    return Trajectory(
        seeds=seeds,
        clocks={"evaluation": TIMES},
        arrays={name: values.astype(np.float32) for name, values in arrays.items()},
        clock_of=dict.fromkeys(arrays, "evaluation"),
        facts={"diverged_at": np.array([(diverged or {}).get(seed, -1) for seed in seeds])},
    )
