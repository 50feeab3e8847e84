"""Ours, after Gopalani & Hu 2025: length of the loss plateau against the strength of attention, in a smaller model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.loss_plateau import INVERSE, POWER, lengthens_as_it_is_weakened
from headway.experiments.experiment import Experiment, headline
from headway.tasks.moving_window import MovingWindow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Ours: as small as still has the plateau, so that a CPU trains ten seeds in minutes.
_BASE = MovingWindow.usual().changed(
    task={"count": 8, "modulus": 7},
    model={"width": 32, "mlp": 128},
    training={"learning_rate": 2e-3, "batch": 64, "test_samples": 64},
    evaluation={"every": 10, "growth": 0.05, "snapshots": 2},
)
STEPS = {1.0: 1000, 0.7: 1300, 0.5: 1800, 0.35: 2400}
"""c -> steps: more than 1/c times the longest plateau that two pairs of seeds had at c = 1."""
GRIDS = {
    grid: {
        f"c = {factor:g}": _BASE.changed(model={"emphasis": factor}, training={"steps": STEPS[factor]})
        for factor in factors
    }
    for grid, factors in {"quick": (1.0, 0.5), "paper": tuple(STEPS)}.items()
}


def _weakened(settings: Any) -> bool:
    return settings.model.emphasis <= 1


def draw(results: Results) -> dict[str, Figure]:
    """The plateau for every c, and its length against c."""
    from headway.report.figures import figure_interventions, figure_strength

    return {"emphasis": figure_interventions(results), "strength": figure_strength(results)}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 10},
    claims=(
        Claim(
            "G8 smaller model",
            "In a smaller model, too, attention multiplied by c < 1 makes the plateau 1/c times as long. (Ours.)",
            f"8 numbers modulo 7, width 32: over all c up to 1, the power of c in the steps to half of the drop of the "
            f"loss, by least squares on logarithms, is within {INVERSE:g} of {POWER:g}.",
            "power of c in the length of the plateau",
            judge=of_runs(lengthens_as_it_is_weakened),
            about=_weakened,
            title="weakened attention: the plateau is 1/c times as long (smaller model, ours)",
        ),
    ),
    figures=draw,
)
