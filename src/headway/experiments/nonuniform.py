"""Paper A, Figures 13 and 14: the minimal transformer on chains with unequal weights within the blocks."""

from __future__ import annotations

from headway.claims.attention_patterns import checkered
from headway.claims.claim import Claim, of_runs
from headway.experiments.experiment import Experiment, headline
from headway.experiments.figures import progress
from headway.experiments.stages import TOO_SLOW
from headway.presets import FEW_SEEDS, MINIMALS, beside_ngrams, pictures
from headway.tasks.run import Settings

UNEQUAL = "unequal weights"
WEIGHTS = {"quick": (0.3, 0.7), "printed": (0.7, 0.3), "as-run": (0.3, 0.7)}
"""Of the newer and of the older lag of every block. The paper prints [0.7, 0.3]; as run, 0.7 was the older lag's."""

A16 = Claim(
    "A16",
    title="unequal weights within a block give checkered attention",
    statement="""With unequal weights within the blocks, learning is still incremental, and attention is checkered:
    the position with the larger weight gets more.""",
    definition="""KL to the rungs reaches its minima in order (A1) and, at the last evaluation, in every block
    the lag with the larger weight gets more attention, summed over the heads, than the one with the smaller.""",
    quantity="attention to the lag of larger weight over that to the lag of smaller weight; the smallest ratio of all "
    "blocks",
    judge=of_runs(checkered, UNEQUAL),
    reasons={"printed": TOO_SLOW},
)


def _runs(grid: str) -> dict[str, Settings]:
    base = pictures(MINIMALS[grid]())
    unequal = base.changed(task={"weighting": "given", "weights": (WEIGHTS[grid],) * len(base.task.blocks)})
    # Figure 13 shows the distance to trained n-gram models.
    return {UNEQUAL: beside_ngrams(unequal) if grid == "as-run" else unequal}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={grid: _runs(grid) for grid in MINIMALS},
    seeds=FEW_SEEDS,
    claims=(A16,),
    figures=progress(UNEQUAL, "figure-13", "figure-14"),
)
