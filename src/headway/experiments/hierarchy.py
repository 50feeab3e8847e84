"""Paper A, Figure 4 right: the weaker the hierarchy, the less clear the stages; without one there are two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import COMBINATIONS, FEW_SEEDS, MINIMALS, for_each_grid
from headway.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

RATIOS = (1.0, 1.3, 1.5)
"""m, as run; the paper does not print all of them."""


def _runs(base: Settings) -> dict[str, Settings]:
    weaker = base.changed(evaluation=COMBINATIONS)
    return {**{f"m = {m:g}": weaker.changed(task={"ratio": m}) for m in RATIOS}, f"m = {base.task.ratio:g}": base}


GRIDS = for_each_grid(MINIMALS, _runs)
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """A8."""
    from headway.claims.hierarchy import A8, stages_follow_the_hierarchy

    return [stages_follow_the_hierarchy(A8, *(results.get(f"m = {m:g}") for m in RATIOS))]


def draw(results: Results) -> dict[str, Figure]:
    """Figure 4, right."""
    from headway.report.figures import figure_family

    return {"figure-4-right": figure_family(results)}
