"""When curves pass a level: for the first time, or for good. Curves are (seed, time), NaN where a seed had stopped.

First times are also those of many curves a seed, (seed, time, ..), each with a level of its own if wanted.
"""

from __future__ import annotations

import numpy as np

from headway.records import Trajectory


def first_at_most(times: np.ndarray, values: np.ndarray, level: float | np.ndarray) -> np.ndarray:
    """The first time at which each curve is at most `level`; NaN for those that never are: (seed, ..)."""
    return _first(times, values <= level)


def first_at_least(times: np.ndarray, values: np.ndarray, level: float | np.ndarray) -> np.ndarray:
    """The first time at which each curve is at least `level`; NaN for those that never are: (seed, ..)."""
    return _first(times, values >= level)


def learnt_at(trajectory: Trajectory, level: float) -> np.ndarray:
    """The first evaluation at which a run's accuracy, or its loss if it has none, has got to `level`: (seed,)."""
    if "accuracy" in trajectory:
        return first_at_least(trajectory.times("accuracy"), trajectory["accuracy"], level)
    return first_at_most(trajectory.times("loss"), trajectory["loss"], level)


def for_good(times: np.ndarray, values: np.ndarray, level: float) -> np.ndarray:
    """The first time from which on each curve is at least `level` to its end; NaN where its end is not: (seed,)."""
    above = np.isnan(values) | (values >= level)
    # What is above to the end, seen from the end; a curve of nothing but NaN never was.
    lasting = np.logical_and.accumulate(above[:, ::-1], axis=1)[:, ::-1]
    return _first(times, lasting & ~np.isnan(values))


def at_end(values: np.ndarray) -> np.ndarray:
    """The last number of each curve; NaN where there is none: (seed, ...) of (seed, time, ...)."""
    missing = np.isnan(values.reshape(*values.shape[:2], -1)).all(axis=2)
    last = values.shape[1] - 1 - np.argmin(np.flip(missing, axis=1), axis=1)
    return values[np.arange(len(values)), last]


def _first(times: np.ndarray, there: np.ndarray) -> np.ndarray:
    return np.where(there.any(axis=1), np.asarray(times, float)[np.argmax(there, axis=1)], np.nan)
