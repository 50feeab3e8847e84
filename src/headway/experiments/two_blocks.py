"""Paper A, Figures 11 and 12: two transformer blocks learn in stages, too, the first one less marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import BLOCKS_OF_FOUR, FEW_SEEDS, FULLS, MINIMALS, curves
from headway.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

RATES = {"quick": (0.04, 0.001), "printed": (0.0015, 0.001), "as-run": (0.04, 0.001)}
"""Learning rates of the minimal and the full model. The paper says "adjusted": ours, the factors that were run."""


def _runs(grid: str) -> dict[str, Settings]:
    minimal_rate, full_rate = RATES[grid]
    training = {"learning_rate": minimal_rate} | ({} if grid == "quick" else {"samples": 27_000})
    task = {"ratio": 1.8} | ({} if grid == "quick" else {"blocks": BLOCKS_OF_FOUR})
    one = curves(MINIMALS[grid]()).changed(task=task, training=training)
    full = FULLS[grid]()
    two = curves(full).changed(model={"blocks": 2}, training={"learning_rate": full_rate})
    if grid == "quick":  # at a third of the rate it takes longer; two minimal blocks have no fast form
        two = two.changed(training={"steps": 1500})
        one = one.changed(training={"batch": 250})
    return {"full, two": two, "full, one": full, "minimal, two": one.changed(model={"blocks": 2}), "minimal, one": one}


GRIDS = {grid: _runs(grid) for grid in FULLS}
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """A15, for the full and for the minimal model."""
    from headway.claims.incremental import A15, first_stage_less_marked

    return [
        first_stage_less_marked(A15, results.get("full, two"), results.get("full, one")),
        first_stage_less_marked(A15.called("A15 minimal"), results.get("minimal, two"), results.get("minimal, one")),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """Figures 11 and 12."""
    from headway.report.figures import figure_progress

    return {
        "figure-12": figure_progress(results["full, two"]),
        "figure-11": figure_progress(results["minimal, two"]),
    }
