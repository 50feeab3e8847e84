"""H3: a rate that falls on plateaus can end learning at a saddle."""

from __future__ import annotations

import numpy as np

from headway.analysis.seed_stages import boundary_table
from headway.claims.claim import Claim, Run, judged, steps_in_words
from headway.records import Finding

H3 = Claim(
    "H3",
    "The printed schedule, which halves the rate when the loss stands still, can end learning at a saddle. "
    "(Not in the paper.)",
    "From scores of 1e-9, with the same seed and all else equal, the first stage ends under a constant rate and "
    "never ends "
    "under the plateau schedule.",
    "learning rate at the end under the plateau schedule, relative to the first",
)


@judged
def plateau_schedule_stops_at_saddles(claim: Claim, one: Run, other: Run) -> Finding:
    """Boundary 1 exists under the constant rate, and not under the plateau schedule."""
    by_schedule = {settings.training.schedule: trajectory for settings, trajectory in (one, other)}
    if by_schedule.keys() != {"constant", "plateau"}:
        return claim.not_run("It needs a run with a constant rate and one with the plateau schedule.")
    ends = {name: boundary_table(trajectory)[:, 0] for name, trajectory in by_schedule.items()}
    leaves, stays = np.isfinite(ends["constant"]), np.isnan(ends["plateau"])
    rates = by_schedule["plateau"]["learning_rate"]
    detail = (
        f"Under a constant rate the first stage ends at step {steps_in_words(ends['constant'][:, None])}. Under the "
        f"plateau "
        f"schedule the rate has fallen to a tenth by step {_tenth(by_schedule['plateau'])} (medians over seeds)."
    )
    return claim.finding(
        [one, other],
        rates[:, -1] / rates[:, 0],
        leaves & stays,
        detail,
        {"the constant rate leaves": leaves, "the plateau schedule stays": stays},
    )


def _tenth(trajectory) -> str:
    rates, times = trajectory["learning_rate"], trajectory.times("learning_rate")
    low = rates <= 0.1 * rates[:, :1]
    steps = np.where(low.any(axis=1), times[np.argmax(low, axis=1)], np.nan)
    return steps_in_words(steps[:, None])
