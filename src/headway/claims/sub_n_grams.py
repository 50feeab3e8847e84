"""Shorter n-grams are where training waits: at their losses, with as many heads as they need, and a small gradient."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from headway.analysis import nearest_rung, stages_from_loss
from headway.analysis.crossings import first_at_least, first_at_most
from headway.claims.claim import AnyRun, Claim, judged
from headway.records import Finding, Trajectory

CLOSE = 0.01
"""Nats between a plateau and its rung."""
UNIFORM = 0.1
"""Distance from uniform attention, half the sum of differences, below which a head is uniform."""
LOOKS = 0.5
"""Mean attention from which on a head looks somewhere."""
PEAK = 1.5
"""Largest gradient norm in a drop, relative to the median on the plateaus beside it."""
VANISHED = 0.3
"""Norm of the gradient at the longest context, relative to the shortest, that counts as vanishing."""


def plateau_distances(run: AnyRun) -> np.ndarray:
    """Between each rung below the n-gram's and the nearest plateau that comes in its turn: (seed, n - 1).

    Plateaus are found in the loss (`stages_from_loss`); infinite where a rung has none left.
    """
    settings, trajectory = run
    rungs = settings.task.grams - 1
    levels = np.asarray(trajectory.facts["rung_loss"], float)[:, 1 : 1 + rungs]
    found = []
    for loss, wanted in zip(trajectory["loss"], levels, strict=True):
        plateaus = list(stages_from_loss(trajectory.times("loss"), loss).levels)
        row = []
        for level in wanted:
            away = [abs(each - level) for each in plateaus]
            best = int(np.argmin(away)) if away else -1
            row.append(away[best] if away else np.inf)
            plateaus = plateaus[best + 1 :] if away and away[best] <= CLOSE else plateaus
        found.append(row)
    return np.array(found)


@judged
def waits_at_rungs(claim: Claim, *runs: AnyRun) -> Finding:
    """Every rung below n has a plateau within `CLOSE`, one after the other."""
    parts, farthest = {}, []
    for settings, trajectory in runs:
        away = plateau_distances((settings, trajectory))
        farthest.append(away.max(axis=1))
        for rung, column in enumerate(away.T, start=1):
            parts[f"vocabulary of {settings.task.symbols}: {settings.task.rungs[rung]}"] = column <= CLOSE
    return claim.all_of(runs, parts, values=np.max(farthest, axis=0))


def while_nearest(trajectory: Trajectory, rung: int) -> np.ndarray:
    """The middle evaluation of those at which a rung is the nearest, -1 where there is none: (seed,)."""
    found = []
    for nearest in nearest_rung(trajectory["kl_rungs"]):
        there = np.flatnonzero(nearest == rung)
        found.append(there[len(there) // 2] if len(there) else -1)
    return np.array(found)


@judged
def heads_by_stage(claim: Claim, run: AnyRun) -> Finding:
    """All uniform at the unigram, one head 1 back at the bigram, and each of n - 1 back by another at the end."""
    settings, trajectory = run
    lags, seeds = settings.task.grams - 1, np.arange(len(trajectory.seeds))
    back = np.stack([trajectory[f"attention_back_{lag}"][:, :, 0] for lag in range(1, lags + 1)], axis=-1)
    off = trajectory["attention_off_uniform"][:, :, 0]
    first, second = (while_nearest(trajectory, rung) for rung in (1, 2))
    uniform = (first >= 0) & np.all(off[seeds, first] <= UNIFORM, axis=1)
    looking = back[seeds, second] >= LOOKS
    one = (second >= 0) & (looking[:, :, 0].sum(axis=1) >= 1) & ~looking[:, :, 1:].any(axis=(1, 2))
    ends = np.any(back[:, -1] >= LOOKS, axis=1)
    parts = {
        "uniform at the unigram": uniform,
        "one head 1 back at the bigram": one,
        "one head 1 back and one 2 back at the end": np.all(ends, axis=1),
    }
    return claim.all_of([run], parts)


@judged
def farthest_before_between(claim: Claim, run: AnyRun) -> Finding:
    """Some head attends n - 1 tokens back before one attends to any token between that and the previous one."""
    settings, trajectory = run
    times = trajectory.times("attention_back_1").astype(float)
    lags = range(2, settings.task.grams)
    reached = [first_at_least(times, trajectory[f"attention_back_{lag}"][:, :, 0].max(axis=-1), LOOKS) for lag in lags]
    *between, farthest = (np.where(np.isnan(each), np.inf, each) for each in reached)
    first = np.isfinite(farthest) & np.all(farthest < np.array(between), axis=0)
    return claim.finding([run], farthest, first)


@judged
def gradient_peaks_in_drops(claim: Claim, *runs: AnyRun) -> Finding:
    """The largest norm in each drop, over the larger of the medians on the plateaus beside it: at least `PEAK`."""
    return _a_peak_in_each(claim, runs, [_peaks(trajectory, _rungs(trajectory)) for _, trajectory in runs])


@judged
def gradient_peaks_between_plateaus(claim: Claim, *runs: AnyRun) -> Finding:
    """The same between the plateaus that the loss has, wherever they lie."""
    return _a_peak_in_each(claim, runs, [_peaks(trajectory, _own_plateaus(trajectory)) for _, trajectory in runs])


def _a_peak_in_each(claim: Claim, runs: tuple[AnyRun, ...], ratios: list[list[np.ndarray]]) -> Finding:
    """One drop without a peak refutes it; a drop that is not made leaves it open, if no other refutes it."""
    drops = [np.concatenate(own) for own in zip(*ratios, strict=True)]
    least = np.array([np.nanmin(own) if np.isfinite(own).any() else np.nan for own in drops])
    open_ = np.array(
        [not all(np.isfinite(each).all() and len(each) for each in own) for own in zip(*ratios, strict=True)]
    )
    peaks = np.where(np.isnan(least), np.nan, least >= PEAK)
    parts = {"a peak in every drop that is made": peaks, "every drop is made": np.where(open_, np.nan, 1.0)}
    values = np.where(open_ & (peaks != 0), np.nan, least)
    return claim.finding(runs, values, (peaks == 1) & ~open_, parts=parts)


def _rungs(trajectory: Trajectory) -> list[np.ndarray]:
    """Losses of the k-grams from k = 1 on, of each seed."""
    return list(np.asarray(trajectory.facts["rung_loss"], float)[:, 1:])


def _own_plateaus(trajectory: Trajectory) -> list[np.ndarray]:
    """Losses at the plateaus of each seed."""
    times = trajectory.times("loss")
    return [np.array(stages_from_loss(times, loss).levels) for loss in trajectory["loss"]]


def _peaks(trajectory: Trajectory, levels: list[np.ndarray]) -> list[np.ndarray]:
    """Such a ratio for each drop between levels, NaN where it is not made; one array for each seed."""
    times, norm = trajectory.times("loss").astype(float), _smooth(trajectory["gradient_norm"])
    found = []
    for row, curve, own in zip(norm, trajectory["loss"], levels, strict=True):
        edges = [
            [_crossing(times, curve, upper + share * (lower - upper)) for share in (0.1, 0.9)]
            for upper, lower in pairwise(own)
        ]
        starts, ends = [0.0, *(end for _, end in edges)], [*(start for start, _ in edges), times[-1]]
        quiet = [_median(row[(times > a) & (times < b)]) for a, b in zip(starts, ends, strict=True)]
        peaks = [_largest(row[(times >= a) & (times <= b)]) for a, b in edges]
        # Not a number if any of them is not.
        found.append(np.array([peak / np.max(two) for peak, two in zip(peaks, pairwise(quiet), strict=True)]))
    return found


def _smooth(values: np.ndarray) -> np.ndarray:
    """Running medians of five evaluations: one batch's norm is noisy."""
    padded = np.pad(np.where(np.isfinite(values), values, 0), [(0, 0), (2, 2)], mode="edge")
    return np.median(np.stack([padded[:, k : k + values.shape[1]] for k in range(5)]), axis=0)


def _crossing(times: np.ndarray, curve: np.ndarray, level: float) -> float:
    return float(first_at_most(times, curve[None], level)[0])


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if len(values) else np.nan


def _largest(values: np.ndarray) -> float:
    return float(np.max(values)) if len(values) else np.nan


@judged
def gradient_vanishes(claim: Claim, run: AnyRun) -> Finding:
    """|d loss / d QK| at the longest context over that at the shortest: small at k-gram points, not elsewhere."""
    _, trajectory = run
    norms, elsewhere = trajectory["gradient_scores"], trajectory["gradient_random"]
    ratio, other = norms[:, -1] / norms[:, 0], elsewhere[:, -1] / elsewhere[:, 0]
    parts = {
        "smaller for every k": np.all(ratio <= VANISHED, axis=1),
        "falls at every doubling": np.all(np.diff(norms, axis=1) < 0, axis=(1, 2)),
        "not at random weights": other > VANISHED,
    }
    detail = (
        "Norm at the longest context, medians for k = 1, 2, ...: "
        f"{', '.join(f'{each:.3f}' for each in np.median(norms[:, -1], axis=0))}."
    )
    return claim.all_of([run], parts, detail, ratio.max(axis=1))
