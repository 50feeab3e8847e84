"""Models of in-context chains and n-grams pass the rungs in order, wait at some of them, and build induction heads."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.analysis import nearest_rung
from headway.analysis.crossings import at_end, first_at_most
from headway.claims.claim import AnyRun, Claim, judged
from headway.records import Finding, Trajectory

NEAR = 0.25
"""A loss so near to a rung's, relative to it, is on that rung's plateau."""
DWELL = 0.3
"""Share of the training that a plateau lasts."""
SHORT = 0.1
"""Share of the training for which a rung is the nearest without being a plateau."""
FALL = 0.15
"""Share of the training within which the loss is half of the rung's, once it has left the plateau."""
FLOOR = 0.7
"""Of the unigram's distance from the truth: below it a model knows more than frequencies."""
WAY = 0.5
"""Share of the way from where attention starts to all of it."""
CROSSED = 0.9
"""Of the unigram's distance from the truth, at which the law is being learnt: KL 0.20 with four states."""


def first_nearest(trajectory: Trajectory) -> np.ndarray:
    """The first time at which each rung is the nearest to the model, NaN where it never is: (seed, rung)."""
    kl, times = trajectory["kl_rungs"], trajectory.times("kl_rungs").astype(float)
    nearest = nearest_rung(kl)
    there = nearest[:, :, None] == np.arange(kl.shape[2])
    return np.where(there.any(axis=1), times[np.argmax(there, axis=1)], np.nan)


def in_order(trajectory: Trajectory) -> np.ndarray:
    """Whether every rung is the nearest once, the next one later, and the last at the end: (seed,)."""
    first = first_nearest(trajectory)
    last = at_end(nearest_rung(trajectory["kl_rungs"]).astype(float)) == first.shape[1] - 1
    with np.errstate(invalid="ignore"):
        return np.all(np.diff(first, axis=1) > 0, axis=1) & last


@judged
def passes_in_order(claim: Claim, *runs: AnyRun) -> Finding:
    """t_0 < t_1 < .. with t_i the first time at which rung i is the nearest, and the last is it at the end."""
    parts = {_name(settings): in_order(trajectory) for settings, trajectory in runs}
    when = np.stack([first_nearest(trajectory)[:, -1] / settings.training.steps for settings, trajectory in runs])
    return claim.all_of(runs, parts, values=np.max(when, axis=0))


def on_plateau(trajectory: Trajectory, rung: int = 1) -> np.ndarray:
    """Whether the loss is near a rung's, evaluation by evaluation: (seed, time)."""
    level = np.asarray(trajectory.facts["rung_loss"], float)[:, rung, None]
    return np.abs(trajectory["loss"] - level) <= NEAR * level


def dwell(trajectory: Trajectory) -> np.ndarray:
    """Share of the training that the loss is on the unigram's plateau: (seed,)."""
    times = trajectory.times("loss").astype(float)
    lasts = np.diff(times)
    near = on_plateau(trajectory)
    return (near[:, 1:] & near[:, :-1]) @ lasts / times[-1]


def fall(trajectory: Trajectory) -> np.ndarray:
    """Share of the training from the last time on the plateau to half of its level, NaN if that is not met: (seed,)."""
    times, level = trajectory.times("loss").astype(float), np.asarray(trajectory.facts["rung_loss"], float)[:, 1]
    half = first_at_most(times, trajectory["loss"], level[:, None] / 2)
    before = on_plateau(trajectory) & (times <= half[:, None])
    left = np.where(before.any(axis=1), np.max(np.where(before, times, -np.inf), axis=1), np.nan)
    return (half - left) / times[-1]


@judged
def plateau_then_fall(claim: Claim, *runs: AnyRun) -> Finding:
    """A plateau of at least `DWELL` of the training, and half of it within `FALL` of it."""
    parts, waits = {}, []
    for settings, trajectory in runs:
        waits.append(dwell(trajectory))
        with np.errstate(invalid="ignore"):
            parts[f"{_name(settings)}: waits"] = waits[-1] >= DWELL
            parts[f"{_name(settings)}: falls"] = fall(trajectory) <= FALL
    return claim.all_of(runs, parts, values=np.min(waits, axis=0))


@judged
def one_layer_stays(claim: Claim, *runs: AnyRun) -> Finding:
    """min_t loss / unigram's loss >= `FLOOR`."""
    lowest = []
    for _, trajectory in runs:
        level = np.asarray(trajectory.facts["rung_loss"], float)[:, 1]
        lowest.append(np.min(trajectory["loss"], axis=1) / level)
    found = np.stack(lowest)
    parts = {_name(settings): each >= FLOOR for (settings, _), each in zip(runs, found, strict=True)}
    return claim.all_of(runs, parts, values=found.min(axis=0))


def way_made(values: np.ndarray) -> np.ndarray:
    """(a(end) - a(0)) / (1 - a(0)): (seed,) of (seed, time)."""
    return (at_end(values) - values[:, 0]) / (1 - values[:, 0])


@judged
def induction_head(claim: Claim, *runs: AnyRun) -> Finding:
    """Layer 1 on the token before, layer 2 on what followed the last token's like: half of the way from their start."""
    parts, least = {}, []
    for settings, trajectory in runs:
        first = way_made(np.max(trajectory["attention_back_1"][:, :, 0], axis=-1))
        second = way_made(np.max(trajectory["attention_followers"][:, :, 1], axis=-1))
        parts[f"{_name(settings)}: layer 1"], parts[f"{_name(settings)}: layer 2"] = first >= WAY, second >= WAY
        least.append(np.minimum(first, second))
    return claim.all_of(runs, parts, values=np.min(least, axis=0))


@judged
def unigrams_distract(claim: Claim, plain: AnyRun, mixed: AnyRun) -> Finding:
    """Without frequencies to learn there is no plateau; unigram sequences on top of the same number of others delay."""
    sequences = []
    for settings, trajectory in (plain, mixed):
        level = CROSSED * np.asarray(trajectory.facts["rung_loss"], float)[:, 1:2]
        step = first_at_most(trajectory.times("loss"), trajectory["loss"], level)
        sequences.append(
            np.where(np.isnan(step), np.inf, step * settings.training.batch * (1 - settings.task.unigrams))
        )
    alone, together = sequences
    with np.errstate(invalid="ignore"):
        ratio = together / alone
    nearest = nearest_rung(plain[1]["kl_rungs"])
    parts = {
        "no plateau": np.mean(nearest == 1, axis=1) < SHORT,
        "learns the full law": nearest[:, -1] == plain[1]["kl_rungs"].shape[2] - 1,
        "unigrams delay": together > alone,
    }
    detail = (
        f"{CROSSED:.0%} of the unigram's KL after {np.median(alone):.0f} sequences alone and "
        f"{np.median(together):.0f} with unigram sequences added; KL at the end "
        f"{np.median(at_end(plain[1]['loss'])):.3f} (medians)."
    )
    return claim.all_of((plain, mixed), parts, detail, np.where(np.isfinite(ratio), ratio, np.nan))


@judged
def heads_for_every_token(claim: Claim, enough: AnyRun, single: AnyRun) -> Finding:
    """n - 1 heads pass all rungs; one head ends at the bigram."""
    ends = nearest_rung(single[1]["kl_rungs"])
    parts = {
        "each rung nearest in order": in_order(enough[1]),
        "one head ends at the bigram and is never nearest to the trigram": (ends[:, -1] == 2)
        & ~np.any(ends > 2, axis=1),
    }
    value = first_nearest(enough[1])[:, -1] / enough[0].training.steps
    return claim.all_of((enough, single), parts, values=value)


@judged
def dropout_delays(claim: Claim, usual: AnyRun, without: AnyRun) -> Finding:
    """The last rung is the nearest for the first time later with dropout than without."""
    with_it, plain = (first_nearest(trajectory)[:, -1] for _, trajectory in (usual, without))
    ratio = with_it / plain
    with np.errstate(invalid="ignore"):
        return claim.finding((usual, without), ratio, ratio > 1)


@judged
def diagonal_first(claim: Claim, *runs: AnyRun) -> Finding:
    """W's diagonal has made half of its way before v_1 has, and on the plateau v_1 > v_0, v_2 and v_3 > v_2, v_4."""
    parts, ratios = {}, []
    for settings, trajectory in runs:
        times, codes = trajectory.times("codes").astype(float), trajectory["codes"]
        diagonal = trajectory["gain_same"] - trajectory["gain_other"]
        first, second = (_half_way(times, curve) for curve in (diagonal, codes[:, :, 1]))
        near = on_plateau(trajectory) & (times > 0)
        level = np.stack([_median(row[own]) for row, own in zip(codes, near, strict=True)])
        odd = (level[:, 1] > level[:, 0]) & (level[:, 1] > level[:, 2])
        odd &= (level[:, 3] > level[:, 2]) & (level[:, 3] > level[:, 4])
        name = "masked" if settings.task.masked else "not masked"
        parts[f"{name}: diagonal first"], parts[f"{name}: odd distances"] = first < second, odd
        ratios.append(second / np.maximum(first, 1))
    return claim.all_of(runs, parts, values=np.min(ratios, axis=0))


def _median(rows: np.ndarray) -> np.ndarray:
    """Over time; NaN of no time."""
    return np.median(rows, axis=0) if len(rows) else np.full(rows.shape[1], np.nan)


def _half_way(times: np.ndarray, curves: np.ndarray) -> np.ndarray:
    """The first time at which each curve has made half of its way to its largest value: (seed,)."""
    start, most = curves[:, :1], np.max(curves, axis=1, keepdims=True)
    return first_at_most(times, -(curves - start), -(most - start) / 2)


def _name(settings: Any) -> str:
    """2 states."""
    return f"{settings.task.states} states"
