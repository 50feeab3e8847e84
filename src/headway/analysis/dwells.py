"""How long a curve stays near each of several levels: a plateau is a dwell, a level that is passed is none."""

from __future__ import annotations

import numpy as np


def dwells(times: np.ndarray, values: np.ndarray, levels: np.ndarray, near: np.ndarray | float) -> np.ndarray:
    """(first, last) time of the longest stretch within `near` of each level: (level, 2); NaN where there is none.

    values is (time,), of one seed. A stretch that ends between two evaluations ends at the first of them.
    """
    times, levels = np.asarray(times, float), np.asarray(levels, float)
    close = np.abs(np.asarray(values, float)[:, None] - levels) <= near
    found = np.full((len(levels), 2), np.nan)
    for level, inside in enumerate(close.T):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], inside.astype(int), [0]])))
        stretches = edges.reshape(-1, 2)
        if len(stretches):
            first, behind = max(stretches, key=lambda each: times[each[1] - 1] - times[each[0]])
            found[level] = times[first], times[behind - 1]
    return found


def dwell_shares(times: np.ndarray, values: np.ndarray, levels: np.ndarray, near: np.ndarray | float) -> np.ndarray:
    """Of the time until it ended, how much the longest stretch near each level took: (seed, level) of (seed, time).

    0 where the level was passed without a stop; `levels` and `near` may be each seed's own, (seed, level).
    """
    levels = np.broadcast_to(np.asarray(levels, float), (len(values), np.shape(levels)[-1]))
    near = np.broadcast_to(np.asarray(near, float), levels.shape)
    stretches = np.stack([dwells(times, row, own, band) for row, own, band in zip(values, levels, near, strict=True)])
    first, last = stretches[..., 0], stretches[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(last > 0, (last - first) / last, 0.0)


def drop_times(times: np.ndarray, values: np.ndarray, levels: np.ndarray, share: float = 0.5) -> np.ndarray:
    """When each drop from one level to the next is for the first time done to this share: (seed, level - 1).

    levels (seed, level) fall; NaN where a seed did not get there. On a straight line between two evaluations.
    """
    times, values, levels = (np.asarray(each, float) for each in (times, values, levels))
    goals = levels[:, :-1] + share * (levels[:, 1:] - levels[:, :-1])
    found = np.full(goals.shape, np.nan)
    for seed, drop in np.ndindex(*goals.shape):
        below = np.flatnonzero(values[seed] <= goals[seed, drop])
        if len(below) == 0:
            continue
        at = int(below[0])
        if at == 0:
            found[seed, drop] = times[0]
            continue
        high, low = values[seed, at - 1], values[seed, at]
        found[seed, drop] = times[at - 1] + (times[at] - times[at - 1]) * (high - goals[seed, drop]) / (high - low)
    return found
