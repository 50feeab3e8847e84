"""Paper A, Figures 15 to 17: with overlapping blocks learning is incremental, too, with three and with four heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import FEW_SEEDS, FULLS, pictures
from headway.settings import Blocks, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

BLOCKS: Blocks = ((5, 6, 7, 8), (3, 4, 5, 6), (1, 2, 3, 4))
SMALLER: Blocks = ((3, 4), (2, 3), (1, 2))


def _runs(grid: str) -> dict[str, Settings]:
    three = pictures(FULLS[grid]()).changed(
        task={"blocks": SMALLER if grid == "quick" else BLOCKS}, evaluation={"subsets": True}
    )
    # Ours: four heads do not divide 255.
    width = three.model.width + (-three.model.width) % 4
    return {"three heads": three, "four heads": three.changed(model={"heads": 4, "width": width})}


GRIDS = {grid: _runs(grid) for grid in FULLS}
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """A17, for three and for four heads."""
    from headway.claims.incremental import A17, still_incremental

    return [
        still_incremental(A17, results.get("three heads")),
        still_incremental(A17.called("A17 four heads"), results.get("four heads")),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """Figure 15, loss and KL with four heads, and with three, which the paper leaves out; Figures 16, 17: attention."""
    from headway.report.figures import figure_progress, with_pictures

    curves = {
        "figure-15": figure_progress(results["four heads"]),
        "three-heads": figure_progress(results["three heads"]),
    }
    return with_pictures(curves, {"figure-16": results["three heads"], "figure-17": results["four heads"]})
