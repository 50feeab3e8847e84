"""Paper A, Figures 13 and 14: unequal weights inside the blocks make checkered attention."""

from __future__ import annotations

from headway.claims.attention_patterns import checkered
from headway.claims.claim import Claim, of_runs
from headway.experiments.experiment import Experiment, headline
from headway.experiments.figures import progress
from headway.experiments.stages import TOO_SLOW
from headway.presets import FEW_SEEDS, MINIMALS, for_each_grid, pictures

WEIGHTS = ((0.7, 0.3),) * 3

A16 = Claim(
    "A16",
    title="unequal weights make checkered attention",
    statement="""With unequal weights inside the blocks learning is still incremental, and attention is checkered: more
    on the position with the larger weight.""",
    definition="""The rungs are passed in order (A1) and, at the last evaluation, in every block the lag with the larger
    weight gets more attention, summed over the heads, than the one with the smaller.""",
    quantity="smallest ratio, over the blocks, of attention to the lag of larger and of smaller weight",
    judge=of_runs(checkered, "nonuniform"),
    reasons={"printed": TOO_SLOW},
)


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=for_each_grid(
        MINIMALS, lambda base: {"nonuniform": pictures(base).changed(task={"weighting": "given", "weights": WEIGHTS})}
    ),
    seeds=FEW_SEEDS,
    claims=(A16,),
    figures=progress("nonuniform", "figure-13", "figure-14"),
)
