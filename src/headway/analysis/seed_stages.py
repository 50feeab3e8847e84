"""The stages of every seed of a run."""

from __future__ import annotations

import numpy as np

from headway.analysis.stages import Stages, stages_from_ladder
from headway.records import Trajectory


def ladder_stages(trajectory: Trajectory) -> list[Stages]:
    """The stages of each seed, found from its KL to the rungs."""
    times = trajectory.times("kl_rungs")
    return [stages_from_ladder(times, kl) for kl in trajectory["kl_rungs"]]


def rungs_met(trajectory: Trajectory) -> np.ndarray:
    """How many rungs each seed visits: (seed,)."""
    return np.array([len(set(stages.rungs)) for stages in ladder_stages(trajectory)])


def boundary_table(trajectory: Trajectory) -> np.ndarray:
    """When each seed went from rung i to rung i + 1, (seed, h - 1); NaN where it did not."""
    table = np.full((len(trajectory.seeds), max(0, trajectory["kl_rungs"].shape[2] - 2)), np.nan)
    for row, stages in enumerate(ladder_stages(trajectory)):
        for (before, after), time in zip(stages.crossings, stages.boundaries, strict=True):
            if after == before + 1 and np.isnan(table[row, before - 1]):
                table[row, before - 1] = time
    return table


def stage_starts(trajectory: Trajectory) -> np.ndarray:
    """When each seed came to rungs 1 to h, which is when stages 1 to h begin, (seed, h); NaN where it did not."""
    first = [found.start if found.rungs[:1] == (1,) else np.nan for found in ladder_stages(trajectory)]
    return np.column_stack([np.array(first, dtype=float), boundary_table(trajectory)])
