"""When curves pass a level: for the first time, or for good. Curves are (seed, time), NaN where a seed had stopped.

First times are also those of many curves a seed, (seed, time, ..), each with a level of its own if wanted. They are
times at which was measured; `between` puts them where a straight line from one to the next meets the level.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from headway.analysis.arrays import of_any_arrays
from headway.records import Trajectory


@of_any_arrays
def first_at_most(
    times: np.ndarray, values: np.ndarray, level: float | np.ndarray, *, between: bool = False
) -> np.ndarray:
    """The first time at which each curve is at most `level`; NaN for those that never are: (seed, ..)."""
    there = values <= level
    return _met(times, values, level, there) if between else _first(times, there)


@of_any_arrays
def first_at_least(times: np.ndarray, values: np.ndarray, level: float | np.ndarray) -> np.ndarray:
    """The first time at which each curve is at least `level`; NaN for those that never are: (seed, ..)."""
    return _first(times, values >= level)


def learnt_at(trajectory: Trajectory, level: float) -> np.ndarray:
    """The first evaluation at which a run's accuracy, or its loss if it has none, has got to `level`: (seed,)."""
    if "accuracy" in trajectory:
        return first_at_least(trajectory.times("accuracy"), trajectory["accuracy"], level)
    return first_at_most(trajectory.times("loss"), trajectory["loss"], level)


def ending_at(trajectory: Trajectory, level: float) -> Trajectory:
    """The same run with a plateau that ends at another loss or accuracy, NaN where it does not."""
    return replace(trajectory, facts={**trajectory.facts, "plateau": learnt_at(trajectory, level)})


@of_any_arrays
def for_good(times: np.ndarray, values: np.ndarray, level: float, *, between: bool = False) -> np.ndarray:
    """The first time from which on each curve is at least `level` to its end; NaN where its end is not: (seed,)."""
    above = np.isnan(values) | (values >= level)
    # What is above to the end, seen from the end; a curve of nothing but NaN never was.
    lasting = np.logical_and.accumulate(above[:, ::-1], axis=1)[:, ::-1] & ~np.isnan(values)
    return _met(times, values, level, lasting) if between else _first(times, lasting)


@of_any_arrays
def at_end(values: np.ndarray) -> np.ndarray:
    """The last number of each curve; NaN where there is none: (seed, ...) of (seed, time, ...)."""
    missing = np.isnan(values.reshape(*values.shape[:2], -1)).all(axis=2)
    last = values.shape[1] - 1 - np.argmin(np.flip(missing, axis=1), axis=1)
    return values[np.arange(len(values)), last]


def _first(times: np.ndarray, there: np.ndarray) -> np.ndarray:
    return np.where(there.any(axis=1), np.asarray(times, float)[np.argmax(there, axis=1)], np.nan)


def _met(times: np.ndarray, values: np.ndarray, level: float | np.ndarray, there: np.ndarray) -> np.ndarray:
    """Where the line to the first point that is `there` meets the level: (seed,) of (seed, time)."""
    at = np.argmax(there, axis=1)[:, None]
    times, values = np.asarray(times, float), np.asarray(values, float)
    before, after = (np.take_along_axis(values, place, axis=1) for place in (np.maximum(at - 1, 0), at))
    start, end = times[np.maximum(at - 1, 0)], times[at]
    with np.errstate(divide="ignore", invalid="ignore"):
        met = np.where(at > 0, start + (end - start) * (level - before) / (after - before), end)
    return np.where(there.any(axis=1), met[:, 0], np.nan)
