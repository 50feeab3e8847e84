"""Paper A, Figures 8 and 9: with the furthest block the most important, the stages are the same and easier to see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import FEW_SEEDS, FULLS, pictures
from headway.settings import Blocks, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

BLOCKS: Blocks = ((13, 14), tuple(range(9, 13)), tuple(range(1, 9)))
"""Lags, the most important first; the paper counts them from 0."""
SMALLER: Blocks = ((7,), (5, 6), (1, 2, 3, 4))


def _runs(grid: str) -> dict[str, Settings]:
    base = FULLS[grid]()
    return {"reversed": pictures(base).changed(task={"blocks": SMALLER if grid == "quick" else BLOCKS}), "full": base}


GRIDS = {grid: _runs(grid) for grid in FULLS}
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """A12."""
    from headway.claims.kind import A12, same_and_clearer

    return [same_and_clearer(A12, results.get("reversed"), results.get("full"))]


def draw(results: Results) -> dict[str, Figure]:
    """Figure 9, loss and KL; Figure 8, attention."""
    from headway.report.figures import figure_progress, with_pictures

    return with_pictures({"figure-9": figure_progress(results["reversed"])}, {"figure-8": results["reversed"]})
