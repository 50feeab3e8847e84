"""A7: the smaller the start, the later the stages."""

from __future__ import annotations

import numpy as np

from headway.analysis.seed_stages import boundary_table, ladder_stages
from headway.claims.claim import Claim, Run, judged, steps_in_words
from headway.records import Finding

A7 = Claim(
    "A7",
    "The smaller the start u of the scores, the later the stages; with u = 0 learning stops after the first.",
    "With the same seed, the boundary between the first and the second stage (docs/measures.md) exists for every u "
    "above 0 "
    "and comes strictly later for every smaller one; the run with u = 0 never leaves the first stage.",
    "step of that boundary for the smallest u above 0, relative to the largest",
)


@judged
def smaller_start_is_later(claim: Claim, *runs: Run) -> Finding:
    """t(u) falls with u, and the run with u = 0 stays at rung 1; runs of the uniform start in any order."""
    runs = tuple(sorted(runs, key=lambda run: run[0].model.scale, reverse=True))
    scales = [settings.model.scale for settings, _ in runs]
    if len(runs[0][0].task.blocks) < 2:
        return claim.not_run("The chain has one block, so there is one stage only.")
    if len(scales) < 3 or scales[-1] != 0:
        return claim.not_run("It needs two starts above 0, and 0 itself.")
    ends = np.stack([boundary_table(trajectory)[:, 0] for _, trajectory in runs[:-1]], axis=1)
    later = np.isfinite(ends).all(axis=1) & np.all(np.diff(ends, axis=1) > 0, axis=1)
    stuck = np.array([found.count <= 1 for found in ladder_stages(runs[-1][1])])
    words = f"The first stage ends at steps {steps_in_words(ends)} for u = {', '.join(f'{u:g}' for u in scales[:-1])}."
    return claim.finding(
        runs, ends[:, -1] / ends[:, 0], later & stuck, words, {"later for smaller u": later, "u = 0 stops": stuck}
    )
