"""Paper A, Figures 6 and 7: with fresh data at every step the stages are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import FEW_SEEDS, MINIMALS, for_each_grid, pictures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

GRIDS = for_each_grid(MINIMALS, lambda base: {"fresh": pictures(base).changed(training={"data": "fresh"})})
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """A11."""
    from headway.claims.kind import A11, same_in_kind

    return [same_in_kind(A11, results.get("fresh"))]


def draw(results: Results) -> dict[str, Figure]:
    """Figure 7, loss and KL; Figure 6, attention."""
    from headway.report.figures import figure_progress, with_pictures

    return with_pictures({"figure-7": figure_progress(results["fresh"])}, {"figure-6": results["fresh"]})
