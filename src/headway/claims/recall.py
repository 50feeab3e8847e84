"""What repetition does to in-context associative recall, and how it is learnt: B7 to B9."""

from __future__ import annotations

import numpy as np

from headway.analysis.crossings import at_end, first_at_least, for_good
from headway.claims.claim import AnyRun, Claim, judged
from headway.claims.plateau_laws import LONGEST, best_head, censored, ending, lasting, plateau
from headway.records import Finding, Trajectory

KNOWN = 0.5
"""Accuracy at which the transition of recall is over."""
ONE = 2.0
"""The end of one transition comes at most so many times as late as the end of the plateau."""
HALF = 0.5
"""Share of its rise at which attention of a layer has formed."""
GAP = 0.1
"""Accuracy with the repetition of the training, less that without, that counts as overfitting."""


@judged
def one_transition(claim: Claim, *runs: AnyRun) -> Finding:
    """t(known) <= 2 t(plateau), and both attentions form between t(plateau) / 2 and t(known)."""
    late, formed = [], []
    for run in runs:
        trajectory, end = run[1], plateau(run)
        times = trajectory.times("accuracy")
        known = first_at_least(times, trajectory["accuracy"], KNOWN)
        late.append(known / np.where(end > 0, end, np.nan))
        if "attention_previous" not in trajectory:
            return claim.not_run("A model of one layer cannot show it.")
        rose = [_half_way(trajectory, f"attention_{name}") for name in ("previous", "relevant")]
        formed.append(np.all([(end / 2 <= at) & (at <= known) for at in rose], axis=0))
    ratio, together = np.stack(late, axis=1), np.stack(formed, axis=1)
    there = np.isfinite(ratio)
    short, both = np.all((ratio <= ONE) | ~there, axis=1), np.all(together | ~there, axis=1)
    holds = short & both & there.any(axis=1)
    latest = np.where(there.any(axis=1), np.max(np.where(there, ratio, -np.inf), axis=1), np.nan)
    detail = (
        f"Of {there.sum()} runs and seeds that reach {KNOWN:.0%}, {np.sum(ratio[there] <= ONE)} do so in one "
        f"transition and {together[there].sum()} form both attention patterns in it; {(~there).sum()} do not reach "
        "it."
    )
    return claim.finding(runs, latest, holds, detail, {"one transition": short, "both layers in it": both})


@judged
def a_little_shortens(claim: Claim, none: AnyRun, copies: AnyRun, *shares: AnyRun) -> Finding:
    """With a little repetition of either kind half of the answers are right sooner; with B sooner than with any p."""
    runs = ending((none, copies, *shares), KNOWN)
    lasted = lasting(runs)
    plain, copied, shared = lasted[:, 0], lasted[:, 1], lasted[:, 2:]
    parts = {
        "shorter with B": copied < plain,
        "shorter with p": shared[:, 0] < plain,
        "B before every p": np.all(copied[:, None] < shared, axis=1),
    }
    with np.errstate(invalid="ignore"):
        relative = copied / plain
    value, holds = np.where(np.isfinite(relative), relative, np.nan), np.all(list(parts.values()), axis=0)
    return claim.finding(runs, value, holds, censored(runs, LONGEST), parts)


@judged
def too_much_overfits(claim: Claim, none: AnyRun, copies: AnyRun, share: AnyRun) -> Finding:
    """accuracy with repetition - accuracy without, at the end, with the most of it."""
    gaps = [at_end(run[1]["accuracy_repeated"]) - at_end(run[1]["accuracy"]) for run in (none, copies, share)]
    control, in_context, across = gaps
    larger = np.maximum(in_context, across)
    parts = {"largest B": in_context >= GAP, "largest p": across >= GAP, "none without": control < GAP}
    detail = f"With the largest B {np.median(in_context):.2f}, with the largest p {np.median(across):.2f} (medians)."
    return claim.finding((none, copies, share), larger, (larger >= GAP) & (control < GAP), detail, parts)


def _half_way(trajectory: Trajectory, name: str) -> np.ndarray:
    """When the head that is strongest in the end has made half of its rise for good: (seed,)."""
    times, curves = trajectory.times(name), best_head(trajectory, name)
    rows = [
        for_good(times, curve[None], float(curve[0] + HALF * (end - curve[0])))[0]
        for curve, end in zip(curves, at_end(curves), strict=True)
    ]
    return np.array(rows)
