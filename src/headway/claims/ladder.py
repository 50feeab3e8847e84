"""A1 and A2: a model meets simpler predictors one after the other, and nearer than by confidence alone."""

from __future__ import annotations

import numpy as np

from headway.analysis import bottoms
from headway.claims.claim import Claim, Run, judged, steps_in_words
from headway.records import Finding, Trajectory

QUANTITY = "smallest ratio between the steps of successive bottoms (above 1: in order)"

NEARER = 0.99
"""Of what confidence alone reaches, which is found on a grid of s and up to 0.2 % too large."""

A1 = Claim(
    "A1",
    "Training meets the rungs in order: KL to rung 1 bottoms first, then to rung 2, and so on to the truth.",
    "Over all evaluations, the step at which KL(f_{1:i} || model) is lowest comes strictly later for every next i. "
    "Order alone does not show that the loss waits in between: see docs/measures.md.",
    QUANTITY,
)
A1_NEARER = Claim(
    "A1 nearer",
    "The lower rungs are really approached: nearer than by growing in confidence alone. (Not in the paper.)",
    f"For every rung i below the truth, the smallest KL(f_{{1:i}} || model) over training is below {NEARER:g} of the "
    "smallest KL(f_{1:i} || softmax(s z)) over s, where z are the truth's logits: a learner that learns all blocks at "
    "once and only grows in confidence meets the rungs in order too, but comes no nearer than that.",
    "largest ratio of the two distances over the lower rungs (below 1: nearer)",
)
A2 = Claim(
    "A2",
    "The same order shows against trained n-gram models of growing context.",
    "Over all evaluations, the step at which KL(n-gram model || model) is lowest comes strictly later "
    "for every longer context; the n-gram models are those at the end of their own training, from the same seed.",
    QUANTITY,
)


@judged
def meets_rungs_in_order(claim: Claim, run: Run) -> Finding:
    """b_1 < b_2 < .. < b_h, with b_i the step at which KL(f_{1:i} || model) is lowest."""
    settings, trajectory = run
    if len(settings.task.blocks) < 2:
        return claim.not_run("The chain has one block, so there is one rung only.")
    return _in_order(claim, run, trajectory.times("kl_rungs"), trajectory["kl_rungs"][:, :, 1:])


@judged
def meets_ngrams_in_order(claim: Claim, run: Run) -> Finding:
    """The same against trained n-gram models, the shortest context first."""
    settings, trajectory = run
    if len(settings.references) < 2 or "kl_references" not in trajectory:
        return claim.not_run("No n-gram models were trained for this comparison.")
    order = np.argsort(settings.references)
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
    """The steps at which KL to the rungs from 1 on is lowest: (seed, h)."""
    times = trajectory.times("kl_rungs")
    return np.stack([bottoms(times, seed)[0] for seed in trajectory["kl_rungs"][:, :, 1:]])


def in_order(trajectory: Trajectory) -> np.ndarray:
    """Whether each seed meets the rungs in order: A1's predicate."""
    return np.all(np.diff(lowest_at(trajectory), axis=1) > 0, axis=1)


def distance_ratios(trajectory: Trajectory) -> np.ndarray:
    """Smallest KL to each rung below the truth, relative to what confidence alone could reach: (seed, h - 1)."""
    nearest = np.min(trajectory["kl_rungs"][:, :, 1:-1], axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return nearest / np.asarray(trajectory.facts["kl_stageless"])[:, 1:-1]


def _in_order(claim: Claim, run: Run, times: np.ndarray, kl: np.ndarray) -> Finding:
    steps = np.stack([bottoms(times, seed)[0] for seed in kl])
    ratios = np.min(np.maximum(steps[:, 1:], 1) / np.maximum(steps[:, :-1], 1), axis=1)
    holds = np.all(np.diff(steps, axis=1) > 0, axis=1)
    detail = f"Bottoms at steps {steps_in_words(steps)} (medians over seeds)."
    if not holds.all():
        stuck = int(np.sum((steps == times[-1])[:, :-1].any(axis=1)))
        if stuck:
            detail += f" Seeds that still approach an earlier rung at the last step: {stuck}."
    return claim.finding([run], ratios, holds, detail)
