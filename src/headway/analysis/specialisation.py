"""Do the heads do the same, or does each do its part? All from mass[..., head, block], see attention.py."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from headway.analysis.arrays import of_any_arrays

Array = np.ndarray


@of_any_arrays
def competition(mass: Array) -> Array:
    """Mean over pairs of heads i < j of sum_k b_i[k] b_j[k]: (..., head, block) -> (...).

    The chance that two heads, each picking a lag by its attention, land in the same block: 1 if all heads
    are on one block, 0 if no two share one. Attention outside the blocks meets nobody. With overlapping
    blocks it is the expected number of blocks that hold both picks, and may exceed 1. With one head there
    is no pair: NaN.
    """
    mass = np.asarray(mass, np.float64)
    heads = mass.shape[-2]
    if heads < 2:
        return np.full(mass.shape[:-2], np.nan)
    together = mass.sum(axis=-2) ** 2 - (mass**2).sum(axis=-2)
    return np.asarray(together.sum(axis=-1) / (heads * (heads - 1)))


@of_any_arrays
def cooperation(mass: Array) -> Array:
    """Mean over blocks k of max_i b_i[k]: (..., head, block) -> (...). How well the heads cover the blocks.

    1 if every block has a head of its own, 1/h if all heads are on the same one of h blocks. Fewer heads
    than disjoint blocks cannot reach 1. With overlapping blocks a head on the shared lags covers both.
    """
    return np.asarray(np.asarray(mass, np.float64).max(axis=-2).mean(axis=-1))


@dataclass(frozen=True)
class Owner:
    """A head and the time from which it kept its block."""

    head: int
    time: float


@of_any_arrays
def held_since(mass: Array, times: Array, threshold: float = 0.5) -> Array:
    """First time from which b_i[k] >= threshold until the end: (time, head, block) -> (head, block).

    NaN if there is none. A NaN mass is not a hold.
    """
    mass, times = np.asarray(mass, np.float64), np.asarray(times, np.float64)
    if mass.ndim != 3 or len(times) != len(mass):
        raise ValueError(
            f"got masses of shape {mass.shape} and {len(times)} times, but wanted (time, head, block) and a "
            "time for each. Pass one seed and one layer at a time."
        )
    held_to_the_end = np.logical_and.accumulate((mass >= threshold)[::-1], axis=0)
    lasting = held_to_the_end.sum(axis=0)
    return np.where(lasting > 0, times[np.minimum(len(times) - lasting, len(times) - 1)], np.nan)


@of_any_arrays
def owners(mass: Array, times: Array, threshold: float = 0.5) -> tuple[Owner | None, ...]:
    """For each block the head that took it first and kept a mass >= threshold to the end, or None.

    Heads that took it at the same time are ordered by their mass at the end. With a threshold above
    0.5 and disjoint blocks a head owns at most one block; with overlapping blocks it may own several.
    """
    since = held_since(mass, times, threshold)
    found: list[Owner | None] = []
    for block in range(since.shape[1]):
        heads = np.flatnonzero(np.isfinite(since[:, block]))
        if len(heads) == 0:
            found.append(None)
            continue
        first = min(heads, key=lambda head: (since[head, block], -mass[-1, head, block]))
        found.append(Owner(head=int(first), time=float(since[first, block])))
    return tuple(found)


@dataclass(frozen=True)
class Hump:
    """A curve's first, highest and last value; true if it rises and then falls by more than the margin."""

    first: float
    peak: float
    last: float
    peak_time: float
    margin: float

    @property
    def rises(self) -> bool:
        return self.peak - self.first > self.margin

    @property
    def falls(self) -> bool:
        return self.peak - self.last > self.margin

    def __bool__(self) -> bool:
        return self.rises and self.falls


@of_any_arrays
def rises_then_falls(times: Array, values: Array, margin: float = 0.1) -> Hump:
    """max_t v(t) exceeds both v(first) and v(last) by more than the margin; NaN values are left out.

    The margin is in units of the values: choose it above their noise.
    """
    times, values = np.asarray(times, np.float64), np.asarray(values, np.float64)
    known = np.isfinite(values)
    if not known.any():
        return Hump(math.nan, math.nan, math.nan, math.nan, margin)
    times, values = times[known], values[known]
    top = int(np.argmax(values))
    return Hump(float(values[0]), float(values[top]), float(values[-1]), float(times[top]), margin)
