"""How clearly the loss waits between two drops: 0 if it falls on without a pause, 1 if it stands still."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from headway.analysis.arrays import of_any_arrays
from headway.analysis.ladder import minima
from headway.analysis.stages import LogTime, finite_part

Array = np.ndarray

WINDOW = 0.3
"""Stretch of log-time over which a rate is taken: a factor 1.35 in steps."""


@of_any_arrays
def clarity(times: Array, loss: Array, kl_rungs: Array) -> Array:
    """1 - (slowest rate between two drops) / (peak rate of the slower drop), for each plateau: (h - 1,).

    The rate is r = -dL/ds of the lowest loss so far in log-time s. Drop k is the stretch between the steps at which KL
    to rungs k - 1 and k reaches its minimum (the first one begins at the start), so that plateau k has drop k before it
    and drop k + 1 behind it. NaN where the rungs are not met in this order. kl_rungs is (time, h + 1), rung 0 included.
    """
    plateaus = np.shape(kl_rungs)[1] - 2
    unknown = np.full(max(plateaus, 0), np.nan)
    together = np.column_stack([loss, kl_rungs])
    times, together = finite_part(times, together)
    if plateaus < 1 or len(times) < 3:
        return unknown
    ends = np.concatenate([[0.0], minima(times, together[:, 2:])])
    if np.any(np.diff(ends) <= 0):
        return unknown
    places, rates = _rates(times, together[:, 0])
    clock = LogTime(times)
    edges = np.log(ends + clock.shift)
    found = unknown
    peaks = [_peak(places, rates, *drop) for drop in pairwise(edges)]
    for plateau in range(plateaus):
        (before, first), (after, second) = peaks[plateau], peaks[plateau + 1]
        lowest = rates[before : after + 1].min() if before <= after else np.nan
        smaller = min(first, second)
        found[plateau] = 1 - max(lowest, 0.0) / smaller if smaller > 0 else np.nan
    return found


def _rates(times: Array, loss: Array) -> tuple[Array, Array]:
    """-dL/ds at evenly spaced places, each over WINDOW."""
    clock = LogTime(times)
    falling = np.minimum.accumulate(loss)
    first, last = clock.values[0], clock.values[-1]
    places = np.arange(first, last, WINDOW / 6)
    before, after = np.maximum(places - WINDOW / 2, first), np.minimum(places + WINDOW / 2, last)
    fall = np.interp(before, clock.values, falling) - np.interp(after, clock.values, falling)
    return places, fall / (after - before)


def _peak(places: Array, rates: Array, begin: float, end: float) -> tuple[int, float]:
    """Where, and how high, the rate peaks within a stretch."""
    inside = np.flatnonzero((places >= begin) & (places <= end))
    if len(inside) == 0:
        return int(np.abs(places - begin).argmin()), 0.0
    top = int(inside[np.argmax(rates[inside])])
    return top, float(rates[top])
