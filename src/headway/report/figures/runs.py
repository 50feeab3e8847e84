"""What figures of several runs share: one colour a run, where its loss reaches its minimum."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.records import Trajectory
from headway.report.colours import to_hex, to_rgb
from headway.report.figures.lines import moving_values

Run = tuple[Any, Trajectory]

# From dark to light, because most families have an order; blue to green, because rungs go from purple to orange.
_RUN_RAMP = ("#12233F", "#1C6A78", "#4FA076", "#A8B33F")


def run_colours(runs: int) -> tuple[str, ...]:
    """One colour a run, in their order from dark to light."""
    ramp = np.array([to_rgb(colour) for colour in _RUN_RAMP])
    # A single run is dark; two need not go to the palest colour to differ.
    along = np.linspace(0, min(len(ramp) - 1, 2 * (runs - 1)), runs)
    channels = [np.interp(along, np.arange(len(ramp)), ramp[:, channel]) for channel in range(3)]
    return tuple(to_hex(rgb) for rgb in np.stack(channels, axis=-1))


def longest_times(trajectories: list[Trajectory], name: str) -> np.ndarray:
    """The times of the array `name` in the run that went on for longest; none without a run."""
    clocks = [trajectory.times(name) for trajectory in trajectories]
    return max(clocks, key=lambda times: times[-1] if len(times) else -1, default=np.empty(0))


def first_best(values: np.ndarray) -> np.ndarray:
    """The first index of the lowest number in each row of (seed, time), and -1 in rows without a number."""
    known = np.isfinite(values)
    lowest = np.where(known, values, np.inf)
    return np.where(known.any(axis=1), np.argmin(lowest, axis=1) if values.shape[1] else 0, -1)


def best_steps(trajectory: Trajectory) -> np.ndarray:
    """The first step of the lowest excess loss of each seed, NaN for a seed without a number: (seed,)."""
    best = first_best(moving_values(trajectory, "excess_loss"))
    return np.where(best >= 0, trajectory.times("excess_loss").astype(float)[best], np.nan)


def best_losses(trajectory: Trajectory) -> np.ndarray:
    """The lowest excess loss of each seed, NaN for a seed without a number: (seed,)."""
    values = moving_values(trajectory, "excess_loss")
    best = first_best(values)
    return np.where(best >= 0, values[np.arange(len(values)), best], np.nan)
