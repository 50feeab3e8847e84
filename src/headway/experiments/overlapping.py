"""Paper A, Figures 15 to 17: transformers with three and with four heads on chains with overlapping blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.incremental import minima_in_order, still_incremental
from headway.claims.ladder import NEARER, QUANTITY
from headway.experiments.experiment import Experiment, headline
from headway.presets import FEW_SEEDS, FULLS, MINIMALS, beside_ngrams, pictures
from headway.tasks.chain import Blocks
from headway.tasks.run import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

THREE, FOUR = "overlapping blocks, three heads", "overlapping blocks, four heads"
BLOCKS: dict[str, Blocks] = {
    "quick": ((1, 2), (2, 3), (3, 4)),
    "printed": ((5, 6, 7, 8), (3, 4, 5, 6), (1, 2, 3, 4)),
    "as-run": ((1, 2, 3, 4), (3, 4, 5, 6), (5, 6, 7, 8)),
}
"""Printed, the furthest block is the strongest; as run, the newest."""

SHARED_LAGS = """
The blocks share lags, so a combination of them predicts nearly the truth, with less confidence. Confidence
alone comes as near to it. KL to the rungs nevertheless reaches its minima in order."""

CLOSE_MINIMA = """
With the printed settings the last two minima lie close together, just before overfitting begins. In one seed they
are not in order."""

A17 = Claim(
    "A17",
    title="overlapping blocks: KL minima in order (three heads)",
    statement="""With overlapping blocks of lags and three heads, learning is still incremental; the order may differ.
    (Tested here: the minima of KL come in the order of the rungs.)""",
    definition="""Over all evaluations, the step at which KL(rung i || model) reaches its minimum is strictly later for
    each higher i, as the paper's own curves show.""",
    quantity=QUANTITY,
    judge=of_runs(minima_in_order, THREE),
    reasons={"printed": CLOSE_MINIMA},
)
A17_FOUR_HEADS = A17.called(
    "A17 four heads",
    A17.statement.replace("three heads", "four heads"),
    title="overlapping blocks: KL minima in order (four heads)",
    judge=of_runs(minima_in_order, FOUR),
    reasons={},
)
A17_NEARER = Claim(
    "A17 nearer",
    title="overlapping blocks: a combination is approached more closely than by confidence alone (three heads, ours)",
    statement="""With overlapping blocks and three heads, training approaches some combination of them more
    closely than a model that only grows in confidence. (Ours.)""",
    definition=f"""For some combination S of blocks, neither none nor all of them, and the predictor f_S that knows only
    these, the smallest KL(f_S || model) over training is below {NEARER:g} of the smallest KL(f_S || softmax(s z)) over
    s, where z are the truth's logits, and it comes strictly before KL to the truth reaches its minimum.""",
    quantity=f"smallest ratio of the two distances over the combinations (below {NEARER:g}: approached)",
    judge=of_runs(still_incremental, THREE),
    reasons={"printed": SHARED_LAGS, "as-run": SHARED_LAGS},
)
A17_NEARER_FOUR = A17_NEARER.called(
    "A17 nearer, four heads",
    A17_NEARER.statement.replace("three heads", "four heads"),
    title="overlapping blocks: a combination is approached more closely than by confidence alone (four heads, ours)",
    judge=of_runs(still_incremental, FOUR),
)


def _runs(grid: str) -> dict[str, Settings]:
    # As run, the minimal model: 255 is not divisible by 4.
    base = (FULLS if grid == "printed" else MINIMALS)[grid]()
    three = pictures(base).changed(task={"blocks": BLOCKS[grid]}, evaluation={"comparisons": True})
    if grid == "as-run":  # Figure 15 shows the distance to trained n-gram models.
        three = beside_ngrams(three)
    # Ours where printed: a stream that four heads divide.
    width = three.model.width + (-three.model.width) % 4
    return {THREE: three, FOUR: three.changed(model={"heads": 4, "width": width})}


def draw(results: Results) -> dict[str, Figure]:
    """Figure 15, loss and KL with four heads, and with three, which the paper leaves out; Figures 16, 17: attention."""
    from headway.report.figures import figure_progress, with_pictures

    curves = {
        "figure-15": figure_progress(results[FOUR]),
        "three-heads": figure_progress(results[THREE]),
    }
    return with_pictures(curves, {"figure-16": results[THREE], "figure-17": results[FOUR]})


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={grid: _runs(grid) for grid in BLOCKS},
    seeds=FEW_SEEDS,
    claims=(A17, A17_FOUR_HEADS, A17_NEARER, A17_NEARER_FOUR),
    figures=draw,
)
