"""H3: a rate that falls on plateaus can end learning at a saddle."""

from __future__ import annotations

import numpy as np

from headway.analysis.crossings import first_at_most
from headway.analysis.seed_stages import boundary_table
from headway.claims.claim import Claim, Run, judged, steps_in_words
from headway.records import Finding, Trajectory

H3 = Claim(
    "H3",
    "The printed schedule, which halves the rate when the training loss stands still for 10 epochs, can end learning "
    "at a saddle. (Not in the paper, which prints no more than its name, patience and factor.)",
    "From scores of 1e-9, with the same seed and all else equal, the first stage ends under a constant rate and never "
    "ends under the plateau schedule.",
    "learning rate at the end under the plateau schedule, relative to the first",
)
H3_STEPS = H3.called(
    "H3 every step", "Read as 10 steps, the printed schedule ends learning at a saddle. (Not in the paper.)"
)


@judged
def plateau_schedule_stops_at_saddles(claim: Claim, one: Run, other: Run) -> Finding:
    """Boundary 1 exists under the constant rate, and not under the plateau schedule."""
    if len(one[0].task.blocks) < 2:
        return claim.not_run("The chain has one block, so there is one stage only.")
    constant = [trajectory for settings, trajectory in (one, other) if settings.training.schedule == "constant"]
    lowered = [trajectory for settings, trajectory in (one, other) if settings.training.schedule != "constant"]
    if len(constant) != 1 or len(lowered) != 1:
        return claim.not_run("It needs a run with a constant rate and one with the plateau schedule.")
    end, lowered_end = (boundary_table(trajectory)[:, 0] for trajectory in (*constant, *lowered))
    leaves, stays = np.isfinite(end), np.isnan(lowered_end)
    rates = lowered[0]["learning_rate"]
    left, low = (steps_in_words(column[:, None]) for column in (end, _tenth(lowered[0])))
    return claim.finding(
        [one, other],
        rates[:, -1] / rates[:, 0],
        leaves & stays,
        f"The first stage ends at step {left} under a constant rate; under the schedule the rate has fallen to a tenth "
        f"by step {low} (medians over seeds).",
        {"the constant rate leaves": leaves, "the plateau schedule stays": stays},
    )


def _tenth(trajectory: Trajectory) -> np.ndarray:
    """When the rate of each seed has fallen to a tenth; NaN if it never does."""
    rates = trajectory["learning_rate"]
    return first_at_most(trajectory.times("learning_rate"), rates, 0.1 * rates[:, :1])
