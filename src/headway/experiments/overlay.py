"""The gradient flow laid over the minimal transformer: how far one factor between their clocks explains its stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import MINIMALS, MORE_SEEDS
from headway.settings import FlowSettings, Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

LAST = {"quick": 600.0, "printed": 1500.0, "as-run": 1500.0}
"""Until when the flow goes: with strong features its last stages are long."""


def _flow(training: Settings, base: float, last: float) -> FlowSettings:
    """As many features as blocks, a position for every token that is read; the start's noise is Figure 10's."""
    task = training.task
    return FlowSettings(
        features=len(task.blocks), length=task.length, ratio=task.ratio, base=base, first=0.1, last=last, points=120
    )


def _runs(training: Settings, last: float) -> dict[str, Settings | FlowSettings]:
    # One lag of a block weighs what its strength, shared out over the block or not, says.
    one_lag = training.task.base * (1 if training.task.weighting == "sum" else 1 / len(training.task.blocks[0]))
    return {
        "minimal": training,
        "flow (strengths of the chain)": _flow(training, one_lag, last),
        "flow (unit strength)": _flow(training, 1.0, last),
    }


GRIDS = {grid: _runs(base(), LAST[grid]) for grid, base in MINIMALS.items()}
SEEDS = MORE_SEEDS


def read(results: Results) -> list[Finding]:
    """R2, for the strengths of the chain and for those of the paper's flow."""
    from headway.claims.theory_over_training import R2, R2_UNIT, one_factor_maps

    training = results.get("minimal")
    return [
        one_factor_maps(R2, training, results.get("flow (strengths of the chain)")),
        one_factor_maps(R2_UNIT, training, results.get("flow (unit strength)")),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """Both losses on one axis of steps, and boundaries against boundaries."""
    from headway.report.figures.over_training import figure_overlay

    flows = {name: run for name, run in results.items() if name != "minimal"}
    return {"overlay": figure_overlay(results["minimal"], flows)}
