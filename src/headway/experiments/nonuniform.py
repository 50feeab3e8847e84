"""Paper A, Figures 13 and 14: unequal weights inside the blocks make checkered attention."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import FEW_SEEDS, MINIMALS, for_each_grid, pictures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

WEIGHTS = ((0.7, 0.3),) * 3

GRIDS = for_each_grid(
    MINIMALS, lambda base: {"nonuniform": pictures(base).changed(task={"weighting": "given", "weights": WEIGHTS})}
)
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """A16."""
    from headway.claims.looking import A16, checkered

    return [checkered(A16, results.get("nonuniform"))]


def draw(results: Results) -> dict[str, Figure]:
    """Figure 13, loss and KL; Figure 14, attention."""
    from headway.report.figures import figure_progress, with_pictures

    return with_pictures({"figure-13": figure_progress(results["nonuniform"])}, {"figure-14": results["nonuniform"]})
