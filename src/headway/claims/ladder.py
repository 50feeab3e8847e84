"""A1 and A2: a model meets simpler predictors one after the other."""

from __future__ import annotations

import numpy as np

from headway.analysis import bottoms
from headway.claims.seeds import finding, not_run, steps_in_words
from headway.records import Finding, Trajectory
from headway.settings import Settings

QUANTITY = "smallest ratio between the steps of successive bottoms (above 1: in order)"


def meets_rungs_in_order(settings: Settings, trajectory: Trajectory, claim: str = "A1") -> Finding:
    """b_1 < b_2 < .. < b_h, with b_i the step at which KL(f_{1:i} || model) is lowest."""
    statement = "Training meets the rungs in order: KL to rung 1 bottoms first, then to rung 2, and so on to the truth."
    definition = (
        "Over all evaluations, the step at which KL(f_{1:i} || model) is lowest comes strictly later for every next i. "
        "Order alone does not show that the loss waits in between: see docs/measures.md."
    )
    if len(settings.task.blocks) < 2:
        return not_run(claim, statement, definition, QUANTITY, "The chain has one block, so there is one rung only.")
    return _in_order(claim, statement, definition, trajectory, "kl_rungs", trajectory["kl_rungs"][:, :, 1:])


def meets_ngrams_in_order(settings: Settings, trajectory: Trajectory, claim: str = "A2") -> Finding:
    """The same against trained n-gram models, the shortest context first."""
    statement = "The same order shows against trained n-gram models of growing context."
    definition = (
        "Over all evaluations, the step at which KL(n-gram model || model) is lowest comes strictly later "
        "for every longer context; the n-gram models are those at the end of their own training, from the same seed."
    )
    if len(settings.references) < 2 or "kl_references" not in trajectory:
        why = "No n-gram models were trained for this comparison."
        return not_run(claim, statement, definition, QUANTITY, why)
    order = np.argsort(settings.references)
    kl = trajectory["kl_references"][:, :, order]
    return _in_order(claim, statement, definition, trajectory, "kl_references", kl)


def _in_order(
    claim: str, statement: str, definition: str, trajectory: Trajectory, name: str, kl: np.ndarray
) -> Finding:
    times = trajectory.times(name)
    steps = np.stack([bottoms(times, seed)[0] for seed in kl])
    ratios = np.min(np.maximum(steps[:, 1:], 1) / np.maximum(steps[:, :-1], 1), axis=1)
    holds = np.all(np.diff(steps, axis=1) > 0, axis=1)
    detail = f"Bottoms at steps {steps_in_words(steps)} (medians over seeds)."
    if not holds.all():
        late = steps == times[-1]
        stuck = int(np.sum(late[:, :-1].any(axis=1)))
        if stuck:
            detail += f" Seeds that still approach an earlier rung at the last step: {stuck}."
    return finding(claim, statement, definition, QUANTITY, trajectory, ratios, holds, detail)
