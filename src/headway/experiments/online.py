"""Paper A, Figures 6 and 7: the minimal transformer trained on fresh data at every step."""

from __future__ import annotations

from headway.claims.claim import Claim, of_runs
from headway.claims.kind import SAME, same_in_kind
from headway.experiments.experiment import Experiment, headline
from headway.experiments.figures import progress
from headway.experiments.stages import TOO_SLOW
from headway.presets import FEW_SEEDS, MINIMALS, SADDLE, pictures
from headway.tasks.run import Settings

A11 = Claim(
    "A11",
    title="fresh data: KL minima in order; heads compete, then cooperate",
    statement="With fresh data at every step, KL to the rungs still reaches its minima in order, and heads still "
    "compete, then cooperate.",
    definition=f"With new sequences at every step, {SAME}.",
    quantity="how many of the two parts hold",
    judge=of_runs(same_in_kind, "fresh data"),
    reasons={"printed": TOO_SLOW},
)


def _runs(grid: str) -> dict[str, Settings]:
    fresh = pictures(MINIMALS[grid]()).changed(training={"data": "fresh"})
    # The paper prints no other start than Xavier's; what ran began at a saddle.
    return {"fresh data": fresh if grid == "printed" else fresh.changed(model=SADDLE)}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={grid: _runs(grid) for grid in MINIMALS},
    seeds=FEW_SEEDS,
    claims=(A11,),
    figures=progress("fresh data", "figure-7", "figure-6"),
)
