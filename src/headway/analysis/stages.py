"""Stages: the record, and how to find them where the truth, hence the ladder of rungs, is known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from headway.analysis.arrays import of_any_arrays

Array = np.ndarray


@dataclass(frozen=True)
class Stages:
    """n stages have n - 1 boundaries: `boundaries[i]` ends the stage `rungs[i]` and begins `rungs[i + 1]`."""

    rungs: tuple[int, ...] = ()
    """The stages in order: 1, 2, .. from a loss curve; from a ladder the rungs >= 1 as they were visited."""
    boundaries: tuple[float, ...] = ()
    """When each stage gave way to the next: half of the drop is done, or both KL are equally far above their minima."""
    leavings: tuple[float, ...] = ()
    """When each stage but the last began to end: a tenth of the drop is done, or KL to its rung reaches its minimum."""
    levels: tuple[float, ...] = ()
    """One per stage: the loss of its plateau, or the lowest KL to its rung."""
    start: float = math.nan
    """When the first stage was entered; NaN without stages."""
    visits: tuple[int, ...] = ()
    """The rungs whose KL is least above its own minimum, in order, rung 0 included; for a loss curve as `rungs`."""
    unfinished: bool = False
    """The last drop of a loss curve had not slowed down at the end: it has no plateau and is no stage."""

    @property
    def count(self) -> int:
        return len(self.rungs)

    @property
    def reached(self) -> int:
        """The rung at the end; 0 if no stage was entered."""
        return self.visits[-1] if self.visits else 0

    @property
    def crossings(self) -> tuple[tuple[int, int], ...]:
        """The stages on both sides of each boundary: ((1, 2), (2, 3)), or ((1, 3),) if 2 was skipped."""
        return tuple(pairwise(self.rungs))

    def at(self, time: float) -> int:
        """The stage that a time belongs to; 0 before the first one."""
        if not self.rungs or not time >= self.start:
            return 0
        return self.rungs[sum(time >= boundary for boundary in self.boundaries)]

    @property
    def skipped(self) -> tuple[int, ...]:
        """Rungs below the highest one visited that were never visited themselves."""
        return tuple(rung for rung in range(1, max(self.rungs, default=0)) if rung not in self.rungs)


class LogTime:
    """s = log(t + t_1), with t_1 the first positive time: time 0 has a place, and units do not matter."""

    def __init__(self, times: Array) -> None:
        positive = times[times > 0]
        self.shift = float(positive[0]) if len(positive) else 1.0
        self.values = np.log(times + self.shift)

    def back(self, value: float) -> float:
        """The time t at which log(t + t_1) is `value`."""
        return float(np.exp(value) - self.shift)


def finite_part(times: Array, values: Array) -> tuple[Array, Array]:
    """Times and values (time, ...) without the times at which anything is NaN or infinite."""
    times, values = np.asarray(times, np.float64), np.asarray(values, np.float64)
    if times.ndim != 1 or values.shape[:1] != times.shape:
        raise ValueError(
            f"got times of shape {times.shape} and values of shape {values.shape}, but wanted (time,) and "
            "(time, ...). Pass one seed at a time, with the clock that belongs to the array."
        )
    if np.any(times < 0) or np.any(np.diff(times) <= 0):
        raise ValueError(
            "the times must be 0 or more and increase strictly. Sort them, and keep one value for each time."
        )
    kept = np.isfinite(values).all(axis=tuple(range(1, values.ndim)))
    return times[kept], values[kept]


@of_any_arrays
def stages_from_ladder(
    times: Array,
    kl_rungs: Array,
    *,
    least_growth: float = 1.1,
    least_evaluations: int = 2,
    least_turn: float = 0.03,
) -> Stages:
    """The stage at a time is the rung i >= 1 whose D_i(t) = KL_i(t) - min KL_i is smallest: kl_rungs (time, h + 1).

    KL_i = KL(f_{1:i} || model). A rung is judged by how near the model ever comes to it, because the rungs
    that leave blocks out are overconfident: a model that has learned all that the first block
    predicts stays further from f_{1:1} in KL than from f_{1:2}. A rung counts as met only if the model turns
    towards it from the one before: see `distance_to_own_best`.

    A rung counts as visited if it stays the nearest while time grows by the factor `least_growth`, and
    for at least `least_evaluations` evaluations in a row; shorter visits are flickers and belong to the
    rung before. A boundary is the last crossing of the two D curves before the next rung's visit,
    interpolated linearly in log-time. Rungs may be skipped or visited again: `visits` lists them. Times with a
    NaN are left out.
    """
    times, values = finite_part(times, kl_rungs)
    if values.ndim != 2:
        raise ValueError(f"got KL values of shape {values.shape}, but wanted (time, rung). Pass one seed at a time.")
    if len(times) == 0:
        return Stages()
    kl = distance_to_own_best(values, least_turn)
    clock = LogTime(times)
    runs = _lasting_runs(np.argmin(kl, axis=1), clock.values, math.log(least_growth), least_evaluations)
    visits = tuple(rung for rung, _ in runs)

    above = [(rung, first) for rung, first in runs if rung > 0]
    entries = [run for k, run in enumerate(above) if k == 0 or run[0] != above[k - 1][0]]
    if not entries:
        return Stages(visits=visits)
    before_first = [rung for rung, first in runs if first < entries[0][1]]
    start = _crossing(clock, kl, before_first[-1], *entries[0]) if before_first else float(times[0])

    boundaries, leavings, levels = [], [], []
    ends = [first for _, first in entries[1:]] + [len(times)]
    for (rung, first), end in zip(entries, ends, strict=True):
        lowest_at = first + int(np.argmin(values[first:end, rung]))
        levels.append(float(values[lowest_at, rung]))
        leavings.append(float(times[lowest_at]))
    for (before, _), (after, first) in pairwise(entries):
        boundaries.append(_crossing(clock, kl, before, after, first))
    return Stages(
        rungs=tuple(rung for rung, _ in entries),
        boundaries=tuple(boundaries),
        leavings=tuple(leavings[:-1]),
        levels=tuple(levels),
        start=start,
        visits=visits,
    )


def distance_to_own_best(kl: Array, least_turn: float = 0.03) -> Array:
    """D_i(t) = KL_i(t) - min KL_i for the rungs that were met, infinite for the others: (time, rung).

    The first one met is the nearest at the start. Rung j is met after rung i if, from the minimum of KL_i to the later
    minimum of KL_j, KL_j falls and KL_i rises, each by more than the share `least_turn` of how far it fell since the
    minimum of the rung met before i: a turn is measured by the steps beside it and not by the whole descent, of which
    the last of many steps is a small part. So a model that stays at a rung meets no other one, whatever the noise does,
    and of several rungs that it still approaches at the end only the lowest counts.
    """
    met, lowest = met_and_lowest(kl, least_turn)
    distance = np.full(kl.shape, np.inf)
    distance[:, met] = kl[:, met] - lowest[met]
    return distance


def met_and_lowest(kl: Array, least_turn: float = 0.03) -> tuple[list[int], Array]:
    """The rungs that were met, by the rule of `distance_to_own_best`, and min KL_i of every rung: kl (time, rung)."""
    smooth = _median_of_three(kl)  # one odd evaluation is no minimum
    lowest_at, lowest = np.argmin(smooth, axis=0), smooth.min(axis=0)
    met, since = [int(np.argmin(kl[0]))], 0
    for rung in range(met[0] + 1, kl.shape[1]):
        before = met[-1]
        falls = smooth[lowest_at[before], rung] - lowest[rung] > least_turn * (kl[since, rung] - lowest[rung])
        rises = smooth[lowest_at[rung], before] - lowest[before] > least_turn * (kl[since, before] - lowest[before])
        if lowest_at[rung] > lowest_at[before] and falls and rises:
            met.append(rung)
            since = int(lowest_at[before])
    return met, lowest


def _median_of_three(values: Array) -> Array:
    """Every value replaced by the median of itself and its neighbours in time; the ends stay."""
    smooth = values.copy()
    smooth[1:-1] = np.median([values[:-2], values[1:-1], values[2:]], axis=0)
    return smooth


def _lasting_runs(nearest: Array, log_times: Array, least: float, evaluations: int) -> list[tuple[int, int]]:
    """Runs of equal nearest rungs as (rung, first index), without flickers, the shortest removed first."""
    changes = np.flatnonzero(np.diff(nearest)) + 1
    runs = [(int(nearest[first]), int(first)) for first in (0, *changes)]
    middles = np.concatenate([log_times[:1], (log_times[1:] + log_times[:-1]) / 2, log_times[-1:]])
    while len(runs) > 1:
        firsts = [first for _, first in runs] + [len(nearest)]
        lengths = [float(middles[b] - middles[a]) for a, b in pairwise(firsts)]
        counts = [b - a for a, b in pairwise(firsts)]
        short = [k for k in range(len(runs)) if lengths[k] < least or counts[k] < evaluations]
        if not short:
            break
        gone = min(short, key=lambda k: lengths[k])
        if gone == 0:  # nothing comes before it, so the next rung's visit begins here
            runs[1] = (runs[1][0], 0)
        del runs[gone]
        runs = [run for k, run in enumerate(runs) if k == 0 or run[0] != runs[k - 1][0]]
    return runs


def _crossing(clock: LogTime, kl: Array, before: int, after: int, first: int) -> float:
    """Last time up to index `first`, where rung `after` is the nearest, at which it overtakes `before`."""
    ahead = kl[: first + 1, before] - kl[: first + 1, after]
    still = np.flatnonzero(ahead < 0)
    if len(still) == 0:
        return clock.back(clock.values[first])
    a = int(still[-1])
    share = -ahead[a] / (ahead[a + 1] - ahead[a])
    return clock.back(clock.values[a] + share * (clock.values[a + 1] - clock.values[a]))
