"""Beyond paper A: the staircase with other positional encodings, and in which order the blocks arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import COMBINATIONS, FEW_SEEDS, FULLS, small
from headway.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

ENCODINGS = ("learned", "sinusoidal", "rotary", "relative", "alibi")
WITHOUT = "none"


def _runs(grid: str) -> dict[str, Settings]:
    base = FULLS[grid]()
    if grid == "quick":
        base = base.changed(evaluation=COMBINATIONS)
    else:
        base = small(base)
    base = base.changed(training={"steps": min(base.training.steps, 1000)})
    return {name: base.changed(model={"positions": name}) for name in (*ENCODINGS, WITHOUT)}


GRIDS = {grid: _runs(grid) for grid in FULLS}
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """H1."""
    from headway.claims.incremental import H1, staircase_survives

    without = {name: results[name] for name in (WITHOUT,) if name in results}
    return [staircase_survives(H1, *map(results.get, ENCODINGS), names=ENCODINGS, beside=without)]


def draw(results: Results) -> dict[str, Figure]:
    """KL to the rungs, one panel for each encoding."""
    from headway.report.figures import figure_grid

    return {"ladders": figure_grid(results)}
