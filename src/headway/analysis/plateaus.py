"""Stages where the truth is not known: the plateaus of a loss curve."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from headway.analysis.arrays import of_any_arrays
from headway.analysis.bends import Fit, fit_bends, noise_near, unavoidable_turns
from headway.analysis.stages import LogTime, Stages, finite_part

Array = np.ndarray

CELL = 0.03
"""Width in log-time within which points are averaged: a factor 1.03 in time."""


@of_any_arrays
def stages_from_loss(
    times: Array,
    loss: Array,
    *,
    smallest_drop: float = 0.02,
    flatness: float = 0.6,
    shortest_wait: float = 0.15,
    certainty: float = 3.5,
    noise: float | None = None,
    leaving: float = 0.1,
) -> Stages:
    """A stage is a plateau after a drop; the rate of descent is r = -d(lowest loss so far)/d(log time).

    Each drop must be at least `smallest_drop` of itself and its larger neighbour together: the last of many drops is a
    small part of the whole descent. Between two drops there is a plateau
    if r falls to at most `flatness` times the peak rate of the slower one, and if the loss waits there: the
    time from 90 % of the one drop to 10 % of the next must be at least `shortest_wait` times what the next
    takes from 10 % to 90 %. (A sum of a fast and a slow exponential has a wait of 0.05: it only looks like
    two steps in log-time.) And noise must not be able to make any of it: among the curves within
    `certainty` standard errors of the fitted one, none may be without the plateau, and the levels before and
    after a drop must stay apart. So a curve that falls once has one stage, whatever its shape; a flat curve
    has none; and a loss that rises adds none.

    The boundary between two stages is when the loss has gone half-way from the one's level to the next;
    at the leaving it has gone the share `leaving`. A last drop whose rate at the end of the record is
    still above `flatness` times its peak is `unfinished`: no plateau, no stage.

    `noise` is the standard deviation of one value, estimated from neighbouring values if not given; give
    it where there are fewer than about 40 values, because the bends of the curve then look like noise.
    Missing values (NaN, infinite) are left out.
    """
    times, loss = finite_part(times, loss)
    if loss.ndim != 1:
        raise ValueError(f"got a loss of shape {loss.shape}, but wanted (time,). Pass one seed at a time.")
    clock = LogTime(times)
    fit = fit_bends(clock.values, loss, certainty=certainty, noise=noise, width=CELL)
    if len(fit.places) < 3:
        return Stages()
    descent = _Descent(clock, fit, certainty)
    edges = descent.slowdowns()
    while edges and (joint := descent.worst_joint(edges, smallest_drop, flatness, shortest_wait)) is not None:
        edges = [] if len(edges) == 2 else edges[:joint] + edges[joint + 1 :]

    unfinished = bool(edges and descent.rate[-1] > flatness * descent.rate[edges[-2] :].max())
    drops = list(pairwise(edges))
    drops = drops[:-1] if unfinished else drops
    numbers = tuple(range(1, len(drops) + 1))
    return Stages(
        rungs=numbers,
        boundaries=tuple(descent.when(drop, 0.5) for drop in drops[1:]),
        leavings=tuple(descent.when(drop, leaving) for drop in drops[1:]),
        levels=tuple(float(descent.lowest[end]) for _, end in drops),
        start=descent.when(drops[0], 0.5) if drops else math.nan,
        visits=numbers,
        unfinished=unfinished,
    )


@of_any_arrays
def stages_after_settling(times: Array, loss: Array, level: float) -> Stages:
    """The stages of min(loss, level), where `level` is the loss of a model that has learnt nothing.

    A random start answers by chance, and may cost a hundred times as much as no answer. What it loses until it costs no
    more than that is no drop of the story: beside it the plateau at `level` and the drop after it would not be seen.
    A loss that starts at `level` or below has its usual stages.
    """
    times, loss = finite_part(times, loss)
    if not len(loss) or loss[0] <= level:
        return stages_from_loss(times, loss)
    # Where it is cut the curve is flat, so that its noise has to be read from the whole one.
    places = LogTime(times).values
    noise = float(np.median(noise_near(places, places, loss)))
    return stages_from_loss(times, np.minimum(loss, level), noise=noise)


class _Descent:
    """The lowest loss so far as a curve over log-time; an edge is an index into it, a drop two edges."""

    def __init__(self, clock: LogTime, fit: Fit, certainty: float) -> None:
        self.clock, self.x = clock, fit.places
        self.lowest = np.minimum.accumulate(fit.values)
        self.rate = -np.diff(self.lowest) / np.diff(self.x)
        # The lowest value so far is as uncertain as the point that set it.
        setter = np.maximum.accumulate(np.where(fit.values <= self.lowest, np.arange(len(self.x)), 0))
        self.margin = certainty * np.maximum(fit.errors, fit.errors[setter])

    def slowdowns(self) -> list[int]:
        """First and last index, and between them the middle of each slowdown that noise cannot explain."""
        turns = unavoidable_turns(self.x, self.lowest, self.margin)
        peaks = [a + int(np.argmax(self.rate[a:b])) for a, b in pairwise([0, *turns, len(self.rate)])]
        edges = {0, len(self.x) - 1}
        for left, right in pairwise(peaks):
            stretch = self.rate[left : right + 1]
            slow = left + np.flatnonzero(stretch <= stretch.min() + 1e-9 * self.rate.max())
            points = np.arange(slow[0], slow[-1] + 2)
            middle = (self.x[points[0]] + self.x[points[-1]]) / 2
            edges.add(int(points[np.argmin(np.abs(self.x[points] - middle))]))
        return sorted(edges)

    def when(self, drop: tuple[int, int], share: float) -> float:
        """The time at which this share of a drop is done."""
        part = slice(drop[0], drop[1] + 1)
        level = (1 - share) * self.lowest[drop[0]] + share * self.lowest[drop[1]]
        return self.clock.back(float(np.interp(-level, -self.lowest[part], self.x[part])))

    def worst_joint(self, edges: list[int], smallest: float, flatness: float, wait: float) -> int | None:
        """Position in `edges` of the plateau to give up next, or None if all drops and plateaus are real.

        Plateaus that are none go first, the worst of them; then the plateau beside a drop that is too small.
        """
        drops = list(pairwise(edges))
        peaks = [self.rate[a:b].max() for a, b in drops]
        poor = [
            max(
                min(self.rate[v - 1], self.rate[v]) / max(flatness * min(peaks[k], peaks[k + 1]), 1e-300),
                wait * self._duration(drops[k + 1]) / max(self._wait(drops[k], drops[k + 1]), 1e-300),
            )
            for k, v in enumerate(edges[1:-1])
        ]
        if poor and max(poor) > 1:
            return 1 + int(np.argmax(poor))
        fallen = [self.lowest[a] - self.lowest[b] for a, b in drops]
        beside = [max(two) for two in zip([0.0, *fallen[:-1]], [*fallen[1:], 0.0], strict=True)]
        least = [
            max(smallest * (own + other), self.margin[a] + self.margin[b], 1e-300)
            for (a, b), own, other in zip(drops, fallen, beside, strict=True)
        ]
        sizes = [own / size for own, size in zip(fallen, least, strict=True)]
        small = int(np.argmin(sizes))
        if sizes[small] >= 1:
            return None
        joints = [k for k in (small - 1, small) if 0 <= k < len(poor)]
        return 1 + max(joints, key=lambda k: poor[k]) if joints else 0

    def _duration(self, drop: tuple[int, int]) -> float:
        return self.when(drop, 0.9) - self.when(drop, 0.1)

    def _wait(self, before: tuple[int, int], after: tuple[int, int]) -> float:
        return self.when(after, 0.1) - self.when(before, 0.9)
