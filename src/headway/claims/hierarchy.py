"""A8: the hierarchy of strengths makes the stages."""

from __future__ import annotations

import numpy as np

from headway.analysis import stages_from_loss
from headway.claims.claim import Claim, Run, judged
from headway.claims.kind import least_clear
from headway.records import Finding, Trajectory

WANTED = {1.0: 2, 1.3: 3, 1.5: 3}
"""Ratio of strengths -> number of stages that the paper sees."""

A8 = Claim(
    "A8",
    "Without a hierarchy (m = 1) there are two stages; with m = 1.3 three, intertwined; with m = 1.5 three.",
    "With the same seed, the excess loss alone (docs/measures.md) shows 2 stages for m = 1, 3 for m = 1.3 and 3 for "
    "m = 1.5; "
    "and the least clear plateau is less clear for m = 1.3 than for m = 1.5. The loss and not the ladder, because "
    "blocks of equal strength have no order that a rung could follow.",
    "how many of the four hold",
)


@judged
def stages_follow_the_hierarchy(claim: Claim, *runs: Run) -> Finding:
    """The number of stages for each ratio, and less clarity for the smaller of the two hierarchies."""
    blocks = {len(settings.task.blocks) for settings, _ in runs}
    if blocks != {3}:
        return claim.not_run(f"The claim is about 3 blocks; here are {' or '.join(map(str, sorted(blocks)))}.")
    by_ratio = {settings.task.ratio: trajectory for settings, trajectory in runs}
    if not WANTED.keys() <= by_ratio.keys():
        return claim.not_run(f"It needs the ratios {', '.join(f'{ratio:g}' for ratio in WANTED)}.")
    counts = {ratio: stage_counts(by_ratio[ratio]) for ratio in WANTED}
    columns = {f"m = {ratio:g}: {wanted} stages": counts[ratio] == wanted for ratio, wanted in WANTED.items()}
    columns["m = 1.3 less clear than 1.5"] = least_clear(by_ratio[1.3]) < least_clear(by_ratio[1.5])
    table = np.stack(list(columns.values()), axis=1)
    seen = "; ".join(f"m = {ratio:g}: {' '.join(map(str, found))}" for ratio, found in counts.items())
    return claim.finding(runs, table.sum(axis=1), table.all(axis=1), f"Stages, seed by seed: {seen}.", columns)


def stage_counts(trajectory: Trajectory) -> np.ndarray:
    """Number of stages that each seed's excess loss shows."""
    times = trajectory.times("excess_loss")
    return np.array([stages_from_loss(times, loss).count for loss in trajectory["excess_loss"]])
