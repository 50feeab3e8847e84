"""A model meets simpler predictors one after the other, and nearer than by confidence alone."""

from __future__ import annotations

import numpy as np

from headway.analysis import minima
from headway.claims.claim import Claim, Run, judged, steps_in_words
from headway.records import Finding, Trajectory

QUANTITY = "smallest ratio between the steps of successive minima (above 1: in order)"

NEARER = 0.99
"""Of what confidence alone reaches, which is found on a grid of s and up to 0.2 % too large."""


@judged
def meets_rungs_in_order(claim: Claim, run: Run) -> Finding:
    """b_1 < b_2 < .. < b_h, with b_i the step at which KL(f_{1:i} || model) reaches its minimum."""
    settings, trajectory = run
    if len(settings.task.blocks) < 2:
        return claim.not_run("The chain has one block, so there is only one rung.")
    return _in_order(claim, run, trajectory.times("kl_rungs"), trajectory["kl_rungs"][:, :, 1:])


@judged
def meets_ngrams_in_order(claim: Claim, run: Run) -> Finding:
    """The same against trained n-gram models, the shortest context first."""
    settings, trajectory = run
    if len(settings.task.references) < 2 or "kl_references" not in trajectory:
        return claim.not_run("No n-gram models were trained for this comparison.")
    order = np.argsort(settings.task.references)
    return _in_order(claim, run, trajectory.times("kl_references"), trajectory["kl_references"][:, :, order])


@judged
def nearer_than_stageless(claim: Claim, run: Run) -> Finding:
    """min_t KL(f_{1:i} || model) < min_s KL(f_{1:i} || softmax(s z)) for all i < h."""
    settings, trajectory = run
    if len(settings.task.blocks) < 2:
        return claim.not_run("The chain has one block, so there is no rung below the truth.")
    if "kl_stageless" not in trajectory.facts:
        return claim.not_run("How near confidence alone comes was not measured when this run was made.")
    ratios = distance_ratios(trajectory)
    detail = f"Rung by rung {', '.join(f'{ratio:.2f}' for ratio in np.median(ratios, axis=0))} (medians over seeds)."
    return claim.finding([run], ratios.max(axis=1), np.all(ratios < NEARER, axis=1), detail)


def lowest_at(trajectory: Trajectory) -> np.ndarray:
    """The steps at which KL to the rungs from 1 on reaches its minimum: (seed, h)."""
    times = trajectory.times("kl_rungs")
    return minima(times, trajectory["kl_rungs"][:, :, 1:])


def in_order(trajectory: Trajectory) -> np.ndarray:
    """Whether KL to the rungs from 1 on reaches its minima in order, seed by seed: A1's predicate."""
    return np.all(np.diff(lowest_at(trajectory), axis=1) > 0, axis=1)


def distance_ratios(trajectory: Trajectory) -> np.ndarray:
    """Smallest KL to each rung below the truth, relative to what confidence alone could reach: (seed, h - 1)."""
    nearest = np.min(trajectory["kl_rungs"][:, :, 1:-1], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return nearest / np.asarray(trajectory.facts["kl_stageless"])[:, 1:-1]


def _in_order(claim: Claim, run: Run, times: np.ndarray, kl: np.ndarray) -> Finding:
    steps = minima(times, kl)
    ratios = np.min(np.maximum(steps[:, 1:], 1) / np.maximum(steps[:, :-1], 1), axis=1)
    holds = np.all(np.diff(steps, axis=1) > 0, axis=1)
    detail = f"Minima at steps {steps_in_words(steps, float(times[-1]))} (medians over seeds)."
    if not holds.all():
        stuck = int(np.sum((steps == times[-1])[:, :-1].any(axis=1)))
        if stuck:
            detail += f" Seeds that still approach an earlier rung at the last step: {stuck}."
    return claim.finding([run], ratios, holds, detail)
