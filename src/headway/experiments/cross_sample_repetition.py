"""Paper B's toy with one vector repeated across samples: the plateau as a power law, and which repetition pays more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headway.experiments.context_repetition import COPIES
from headway.settings import ToySettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

SHARES = (0.0, 0.1, 0.2, 0.4)
CURVES = {"quick": ((16,), (128,)), "paper": ((64,), (1024,))}
"""Grid -> d and T of which curves are shown; ours: the slides do not say."""


def _runs(grid: str) -> dict[str, ToySettings]:
    copies = COPIES[grid]
    dimensions, lengths = CURVES[grid]
    shown = ToySettings(dimensions=dimensions, lengths=lengths, repeated=SHARES)
    return {
        "repeated": replace(copies, copies=(1,), repeated=SHARES),
        "copies, gap": replace(copies, model="gap"),
        "copies, logits": copies,
        "curves": shown,
        "flow": replace(shown, dynamics="flow"),
    }


GRIDS = {grid: _runs(grid) for grid in COPIES}
SEEDS = {"quick": 4, "paper": 8}


def read(results: Results) -> list[Finding]:
    """B2 and B7."""
    from headway.claims import toy_laws
    from headway.claims.emergence import B7, B7_LOGITS, repetition_shortens

    repeated = results.get("repeated")
    return [
        toy_laws.across_exponent(toy_laws.B2, repeated),
        toy_laws.across_constant(toy_laws.B2_CONSTANT, repeated),
        repetition_shortens(B7, results.get("copies, gap"), repeated),
        repetition_shortens(B7_LOGITS, results.get("copies, logits"), repeated),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """The plateau against p, the laws over what was measured, curves, and the three-variable flow over descent."""
    from headway.claims import toy_laws
    from headway.report.figures import figure_law, figure_over, figure_plateaus, figure_repeated

    settings, trajectory = results["repeated"]
    factor = toy_laws.across_factor(settings)
    published = toy_laws.ACROSS["constant"] * factor[:, 0] ** toy_laws.ACROSS["size"]
    law = toy_laws.across_law(settings, trajectory)
    return {
        "repeated": figure_plateaus({"repeated": results["repeated"]}, along="repeated"),
        "law": figure_law({law.in_words(("x",)): (trajectory.facts["plateau"], law.predict(factor), published)}),
        "curves": figure_repeated(results["curves"]),
        "flow-over-descent": figure_over(results["flow"], results["curves"], ("flow", "gradient descent")),
    }
