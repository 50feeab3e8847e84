"""The ladder of any run in the same words: how long it waits before each rung, and how much that rung gains.

Of a run whose loss, and whose rungs' losses, were measured, transition i is when the loss has for the first time made
half of its way from rung i - 1 to rung i. The plateau before it lasts from the transition before (or the start) until
then; its gain is the difference of the two rungs' losses. Rungs between which the loss does not fall are left out.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from headway.analysis.dwells import drop_times
from headway.analysis.laws import slopes
from headway.records import Trajectory

LADDERS = (("loss", "rung_loss"), ("excess_loss", "rung_excess"))
"""A curve, and the fact that holds the same loss of every rung."""
LEAST = 1e-3
"""A rung counts if it gains at least this share of the whole way from the first rung to the last."""

EQUAL = 1e-9
"""Gains whose logarithms differ by less are equal: no law can be read from them."""


class Transitions(NamedTuple):
    """Of one run: times (seed, rung - 1), NaN where a seed did not get there, and gains of the same shape."""

    times: np.ndarray
    gains: np.ndarray
    rungs: tuple[int, ...]
    """Which rungs they lead to."""

    @property
    def waits(self) -> np.ndarray:
        """From the transition before, or from the start; 0 where one was skipped at once."""
        before = np.concatenate([np.zeros((len(self.times), 1)), self.times[:, :-1]], axis=1)
        return np.maximum(self.times - before, 0.0)


def ladder_of(trajectory: Trajectory) -> tuple[str, np.ndarray] | None:
    """The name of its loss and the losses of its rungs, (seed, rung); None where a run has no ladder of losses."""
    for curve, levels in LADDERS:
        if curve in trajectory and levels in trajectory.facts:
            return curve, np.asarray(trajectory.facts[levels], float)
    return None


def transitions(trajectory: Trajectory) -> Transitions | None:
    """None where a run has no ladder of losses; of one that only says when its plateau ended, that one transition."""
    found = ladder_of(trajectory)
    if found is None:
        ended = trajectory.facts.get("plateau")
        return None if ended is None else Transitions(np.asarray(ended, float)[:, None], np.ones((len(ended), 1)), (1,))
    curve, own = found
    values = np.asarray(trajectory[curve], float)
    kept = _counted(np.median(own, axis=0))
    if not kept or own.shape[0] != values.shape[0]:
        return None
    ladder = own[:, [kept[0] - 1, *kept]]
    times = drop_times(trajectory.times(curve), values, ladder)
    return Transitions(times, -np.diff(ladder, axis=1), tuple(kept))


def _counted(levels: np.ndarray) -> list[int]:
    """Rungs that gain enough over the one before, and anything over every rung that counts.

    Longer n-grams may be worse than shorter ones, as in shuffled text.
    """
    gains = -np.diff(levels)
    least = LEAST * max(gains.sum(), 1e-12)
    kept: list[int] = []
    for rung, gain in enumerate(gains, start=1):
        if gain > least and (not kept or levels[rung] < levels[kept[-1]]):
            kept.append(rung)
    return kept


class Law(NamedTuple):
    """wait ~ gain^power within a run: what is left when every seed has a scale of its own."""

    power: float
    """Median over seeds of all runs."""
    low: float
    high: float
    """Quarters of the seeds lie below and above."""
    ordered: float
    """Of all pairs of successive plateaus of a seed, in how many the one before the smaller gain is longer."""
    seeds: int
    plateaus: int


def law(runs: Iterable[Transitions]) -> Law | None:
    """Over all seeds with two plateaus or more before rungs of different gains.

    A wait or a gain of nothing has no logarithm and is left out.
    """
    powers, agree, plateaus = [], [], 0
    for run in runs:
        waits = np.where(run.waits > 0, run.waits, np.nan)
        for own, gains in zip(waits, run.gains, strict=True):
            known = np.isfinite(own) & (gains > 0)
            if known.sum() < 2 or np.ptp(np.log(gains[known])) < EQUAL:
                continue
            plateaus += int(known.sum())
            powers.append(slopes(np.log(gains[known]), np.log(own[known])[None])[0])
            places = np.flatnonzero(known)
            for first, second in pairwise(places):
                if gains[first] != gains[second]:
                    agree.append((own[second] > own[first]) == (gains[second] < gains[first]))
    finite = np.array([each for each in powers if np.isfinite(each)])
    if len(finite) == 0:
        return None
    low, middle, high = np.quantile(finite, [0.25, 0.5, 0.75])
    return Law(
        float(middle), float(low), float(high), float(np.mean(agree)) if agree else np.nan, len(finite), plateaus
    )
