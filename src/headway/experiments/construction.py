"""Paper A, section 2.3: loss of the hand-constructed solution against the size of its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headway.claims.claim import AnyRun, Claim, Results, judged, of_runs
from headway.experiments.experiment import Experiment, headline
from headway.presets import BLOCKS_OF_FOUR, FEW_SEEDS
from headway.records import Finding
from headway.tasks.chain import Chain
from headway.tasks.construction import ConstructionSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REACHED = 1e-3
"""Excess loss, in nats, that counts as none."""


@judged
def reaches_the_entropy(claim: Claim, run: AnyRun) -> Finding:
    """excess(lambda) falls to 0."""
    excess = run[1]["excess_loss"]
    falls = np.all((np.diff(excess, axis=1) < 0) | (np.abs(excess[:, 1:]) < REACHED), axis=1)
    parts = {"falls": falls, "reaches 0": np.abs(excess[:, -1]) < REACHED}
    return claim.all_of([run], parts, values=excess[:, -1])


A20 = Claim(
    "A20",
    title="the hand-constructed solution reaches the entropy of the task",
    statement="The construction solves the task: its loss tends to the entropy as its scores grow.",
    definition=f"""On the test sequences the excess loss of the construction is within {REACHED:g} nats of 0 at the
    largest sharpness, and it falls with every increase of the sharpness until it is that small.""",
    quantity="excess loss at the largest sharpness, in nats",
    judge=of_runs(reaches_the_entropy, "construction"),
)


def draw(results: Results) -> dict[str, Figure]:
    """The excess loss against the sharpness."""
    from headway.report.figures import figure_sharpness

    return {"sharpness": figure_sharpness(results["construction"][1])}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={
        "quick": {"construction": ConstructionSettings(Chain(weighting="sum"), test_samples=500)},
        # Ours: on the full model's chain; the paper shows no numbers.
        "printed": {"construction": ConstructionSettings(Chain(blocks=BLOCKS_OF_FOUR))},
        "as-run": {"construction": ConstructionSettings(Chain(blocks=BLOCKS_OF_FOUR, weighting="sum"))},
    },
    seeds=FEW_SEEDS,
    claims=(A20,),
    figures=draw,
)
