"""Beyond paper A: the staircase of deeper transformers, and in which order the blocks arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import COMBINATIONS, FEW_SEEDS, FULLS, small
from headway.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

DEPTHS = (1, 2, 3, 4)
RATE = 0.001
"""What two blocks were run with; without a warm-up deeper models do not stand more."""


def _runs(grid: str) -> dict[str, Settings]:
    base = FULLS[grid]()
    if grid == "quick":
        # Half the batch and few steps: deep models take most of the time of all quick grids.
        base = base.changed(evaluation=COMBINATIONS, training={"steps": 700, "batch": 125})
    else:
        base = small(base)
    base = base.changed(training={"learning_rate": RATE})
    return {_name(depth): base.changed(model={"blocks": depth}) for depth in DEPTHS}


def _name(depth: int) -> str:
    return "1 block" if depth == 1 else f"{depth} blocks"


GRIDS = {grid: _runs(grid) for grid in FULLS}
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """H2."""
    from headway.claims.incremental import H2, staircase_survives

    names = tuple(map(_name, DEPTHS))
    return [staircase_survives(H2, *map(results.get, names), names=names)]


def draw(results: Results) -> dict[str, Figure]:
    """KL to the rungs, one panel for each depth."""
    from headway.report.figures import figure_grid

    return {"ladders": figure_grid(results)}
