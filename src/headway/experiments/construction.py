"""Paper A, section 2.3: the loss of the hand-made solution tends to the entropy as its scores grow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import BLOCKS_OF_FOUR, FEW_SEEDS
from headway.settings import ConstructionSettings, TaskSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

GRIDS = {
    "quick": {"construction": ConstructionSettings(TaskSettings(weighting="sum"), test_samples=500)},
    # Ours: on the full model's chain; the paper shows no numbers.
    "printed": {"construction": ConstructionSettings(TaskSettings(blocks=BLOCKS_OF_FOUR))},
    "as-run": {"construction": ConstructionSettings(TaskSettings(blocks=BLOCKS_OF_FOUR, weighting="sum"))},
}
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """A20."""
    from headway.claims.handmade import A20, reaches_the_entropy

    return [reaches_the_entropy(A20, results.get("construction"))]


def draw(results: Results) -> dict[str, Figure]:
    """The excess loss against the sharpness."""
    from headway.report.figures import figure_sharpness

    return {"sharpness": figure_sharpness(results["construction"][1])}
