"""Linear attention learns in-context regression in one drop or in several (Zhang et al. 2025): Z1 to Z7."""

from __future__ import annotations

import numpy as np

from headway.analysis import stages_from_loss
from headway.analysis.crossings import at_end
from headway.analysis.dwells import drop_times, dwell_shares
from headway.analysis.laws import slopes
from headway.claims.claim import AnyRun, Claim, judged, steps_in_words
from headway.records import Finding, Trajectory

NEAR = 0.01
"""How far from a level a loss dwells at it."""
OF_THE_GAP = 0.1
"""Where levels lie closer: of the smaller gap to its neighbours."""
CLEAR, LONG = 0.1, 0.25
"""A dwell takes at least this share of the time until it ends; where ranks are compared, it must be a long one."""
PARALLEL = 0.9
"""Cosine between an eigenvector and the key and query of the head that has it, their geometric mean."""
EQUAL = 0.01
"""How much |v|, |k| and |q| of a head may differ, relative to the largest."""
GROWN = 0.1
"""A head has learnt a component if |v| |k| |q| is at least this share of that of the largest head."""
POWER, APART = -2.0, 1.0
"""Of the eigenvalue in the times of the drops, and how far from it still counts."""
ROUNDING = 1e-9
"""Relative difference of two losses that rounding may make."""


def levels_of(trajectory: Trajectory) -> np.ndarray:
    """The loss of every rung on each seed's sequences: (seed, rung)."""
    return np.asarray(trajectory.facts["rung_loss"], float)


def shares(trajectory: Trajectory, near: np.ndarray | float = NEAR) -> np.ndarray:
    """How long the loss dwells at each level: (seed, rung)."""
    return dwell_shares(trajectory.times("loss"), trajectory["loss"], levels_of(trajectory), near)


def drops(trajectory: Trajectory) -> np.ndarray:
    """When half of each drop is done: (seed, D)."""
    return drop_times(trajectory.times("loss"), trajectory["loss"], levels_of(trajectory))


@judged
def one_drop(claim: Claim, run: AnyRun) -> Finding:
    """No dwell at L_1 .. L_{D-1}, and a single stage in the loss."""
    trajectory = run[1]
    between = shares(trajectory)[:, 1:-1]
    single = np.array([stages_from_loss(trajectory.times("loss"), loss).count == 1 for loss in trajectory["loss"]])
    parts = {"no plateau between": np.all(between < CLEAR, axis=1), "one drop": single}
    start, end = levels_of(trajectory)[:, [0, -1]].T
    half = drop_times(trajectory.times("loss"), trajectory["loss"], np.stack([start, end], axis=1))
    detail = f"The loss has made half of its drop at step {steps_in_words(half)} (median over seeds)."
    return claim.finding([run], between.max(axis=1), np.all(list(parts.values()), axis=0), detail, parts)


@judged
def one_component_a_drop(claim: Claim, run: AnyRun) -> Finding:
    """A dwell at every L_m, m < D; as many heads as drops, each along an eigenvector of its own."""
    trajectory = run[1]
    dwelt = shares(trajectory)[:, :-1]
    grown, cosine = _grown(trajectory), np.sqrt(at_end(trajectory["aligned"])[:, 0])
    directions = at_end(trajectory["direction"])[:, 0]
    reached = np.isfinite(drops(trajectory)).sum(axis=1)
    alone = np.array(
        [
            heads.sum() == count and len(set(own[heads])) == count
            for heads, own, count in zip(grown, directions, reached, strict=True)
        ]
    )
    parts = {
        "plateau at every level": np.all(dwelt >= CLEAR, axis=1),
        "one head per drop": alone,
        "along eigenvectors": np.min(np.where(grown, cosine, 1.0), axis=1) >= PARALLEL,
    }
    whole = np.sum(reached == dwelt.shape[1])
    detail = f"Drops at steps {steps_in_words(drops(trajectory))} (medians); all of them in {whole} seeds."
    return claim.finding([run], dwelt.min(axis=1), np.all(list(parts.values()), axis=0), detail, parts)


@judged
def balanced_heads(claim: Claim, run: AnyRun) -> Finding:
    """|v| = |k| = |q| in every head that has learnt a component."""
    sizes = np.stack([at_end(run[1][f"{name}_size"])[:, 0] for name in ("value", "key", "query")], axis=-1)
    spread = np.ptp(sizes, axis=-1) / sizes.max(axis=-1)
    grown = _grown(run[1])
    worst = np.where(grown.any(axis=1), np.max(np.where(grown, spread, 0.0), axis=1), np.nan)
    return claim.finding([run], worst, worst <= EQUAL)


@judged
def later_is_longer(claim: Claim, run: AnyRun) -> Finding:
    """T_2 - T_1 < T_3 - T_2 < .., and T_m ~ l_m^-2."""
    settings, trajectory = run
    steps = drops(trajectory)
    # A drop that did not come by the end comes later than all.
    lengths = np.diff(np.where(np.isnan(steps), np.inf, steps), axis=1)
    with np.errstate(invalid="ignore"):
        longer = np.all(lengths[:, 1:] > lengths[:, :-1], axis=1)
    power = slopes(np.log(settings.task.eigenvalues), np.log(steps))
    parts = {"each longer than the last": longer, f"exponent near {POWER:g}": np.abs(power - POWER) <= APART}
    detail = f"Drops at steps {steps_in_words(steps)} (medians)."
    return claim.finding([run], power, np.all(list(parts.values()), axis=0), detail, parts)


@judged
def rank_sets_plateaus(claim: Claim, *runs: AnyRun) -> Finding:
    """Dwells at L_m, 0 < m < D, only where R divides m."""
    parts, worst = {}, []
    for settings, trajectory in sorted(runs, key=lambda run: run[0].task.rank):
        rank, count = settings.task.rank, settings.task.dimension
        between = np.arange(1, count)
        dwelt = shares(trajectory, _near(levels_of(trajectory)))[:, 1:-1]
        whole = between % rank == 0
        other = np.max(dwelt[:, ~whole], axis=1, initial=0.0)
        at_multiples = np.max(dwelt[:, whole], axis=1, initial=0.0)
        seen = (at_multiples >= LONG) if whole.any() else np.full(len(dwelt), True)
        parts[f"R = {rank}"] = (other < LONG) & seen
        worst.append(other)
    value = np.max(worst, axis=0)
    return claim.finding(runs, value, np.all(list(parts.values()), axis=0), "", parts)


@judged
def same_as_a_network(claim: Claim, merged: AnyRun, network: AnyRun) -> Finding:
    """|L(merged) - L(network)| <= 1e-9 L at every evaluation."""
    one, other = merged[1]["loss"], network[1]["loss"]
    apart = np.max(np.abs(one - other) / np.maximum(one, other), axis=1)
    return claim.finding([merged, network], apart, apart <= ROUNDING)


@judged
def softmax_too(claim: Claim, merged: AnyRun, separate: AnyRun) -> Finding:
    """One stage with merged keys and queries, two or more with separate ones."""
    counts = [
        np.array([stages_from_loss(run[1].times("loss"), loss).count for loss in run[1]["loss"]])
        for run in (merged, separate)
    ]
    parts = {"merged: one drop": counts[0] == 1, "separate: several": counts[1] > 1}
    return claim.finding([merged, separate], counts[1], np.all(list(parts.values()), axis=0), "", parts)


def _grown(trajectory: Trajectory) -> np.ndarray:
    """Which heads have learnt a component by the end: (seed, head)."""
    strength = np.prod([at_end(trajectory[f"{name}_size"])[:, 0] for name in ("value", "key", "query")], axis=0)
    return strength >= GROWN * strength.max(axis=1, keepdims=True)


def _near(levels: np.ndarray) -> np.ndarray:
    """What counts as near each level: a hundredth, or a tenth of the smaller gap beside it."""
    gaps = -np.diff(levels, axis=1)
    above, below = np.concatenate([gaps[:, :1], gaps], axis=1), np.concatenate([gaps, gaps[:, -1:]], axis=1)
    return np.minimum(NEAR, OF_THE_GAP * np.minimum(above, below))
