"""Paper A, Figures 8 and 9: the full transformer on chains whose furthest block is the most important."""

from __future__ import annotations

from headway.claims.claim import Claim, of_runs
from headway.claims.clarity import CLARITY, same_and_clearer
from headway.claims.kind import SAME
from headway.experiments.experiment import Experiment, headline
from headway.experiments.figures import progress
from headway.presets import FEW_SEEDS, FULLS, pictures
from headway.tasks.chain import Blocks
from headway.tasks.run import Settings

BLOCKS: Blocks = ((13, 14), tuple(range(9, 13)), tuple(range(1, 9)))
"""Lags, the most important first; the paper counts them from 0."""
SMALLER: Blocks = ((7,), (5, 6), (1, 2, 3, 4))

STRONG, WEAK = "furthest block first, m = 3", "furthest block first, m = 1.7"
RATIOS = {STRONG: 3.0, WEAK: 1.7}
"""The paper says no m, and no configuration of this run is public. With 3 the chain has the entropy that Figure 9 shows
(about 0.2 nats); with the usual 1.7 it has more than twice that, and hardly a hierarchy. Both are run."""

LITTLE_IN_THE_LAST_BLOCK = """
With the furthest block first, the last block gains less than overfitting costs: KL to the last two rungs reaches
its minima at about the same step."""
NOT_FINISHED = """
With the printed settings nine of ten seeds are nearest to the second rung when training ends, and one to the first: the
last block is not learnt. In seven the minima are out of order, in an eighth no drop follows the second. With the as-run
settings, several of which differ from the printed ones, the claim holds in all ten."""
CLOSE_RUNGS = """
With the furthest block first, the first two rungs follow each other so closely that the loss falls without a
plateau, and the heads specialise while they are still moving to the first block. With m = 3, and nothing else
changed, the claim holds."""

A12 = Claim(
    "A12",
    title="furthest block most important: stages remain and are clearer",
    statement="With the furthest block most important (m = 3), the stages remain and are easier to see.",
    definition=f"""With the order of importance reversed, {SAME}, where a block's share of a head's attention is its
    density (mass / size), because a block of eight lags has a third of all attention at initialisation; and with
    the same seed, the least clear plateau is clearer than with the newest block first. {CLARITY}""",
    quantity="clarity of the least clear plateau minus that with the newest block first",
    judge=of_runs(same_and_clearer, STRONG, "full"),
    reasons={"printed": NOT_FINISHED},
)
A12_WEAKER = A12.called(
    "A12 m = 1.7",
    A12.statement.replace("m = 3", "m = 1.7"),
    title="furthest block most important, ratio 1.7 instead of 3: stages remain and are clearer",
    judge=of_runs(same_and_clearer, WEAK, "full"),
    reasons={"printed": LITTLE_IN_THE_LAST_BLOCK, "as-run": CLOSE_RUNGS},
)


def _runs(grid: str) -> dict[str, Settings]:
    base = FULLS[grid]()
    start = pictures(base).changed(task={"blocks": SMALLER if grid == "quick" else BLOCKS})
    return {**{name: start.changed(task={"ratio": m}) for name, m in RATIOS.items()}, "full": base}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={grid: _runs(grid) for grid in FULLS},
    seeds=FEW_SEEDS,
    claims=(A12, A12_WEAKER),
    figures=progress(STRONG, "figure-9", "figure-8"),
)
