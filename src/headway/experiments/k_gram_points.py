"""Sub-n-grams (Varre et al. 2025): norm of the gradient at k-gram points against the context length T."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.sub_n_grams import VANISHED, gradient_vanishes
from headway.experiments.experiment import Experiment, headline
from headway.tasks.k_gram_points import KGramPointSettings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

V4 = Claim(
    "V4",
    title="at k-gram points the gradient vanishes as the context grows",
    statement="Points at which the model predicts like a k-gram are stationary in the limit of long contexts.",
    definition=f"""Trigrams with a vocabulary of 3, alpha = 1: from the shortest context to the longest, the norm of the
    mean gradient with respect to QK falls to at most {VANISHED:g} of itself at the point of every k-gram, and at
    every doubling; at a random QK it does not fall so far.""",
    quantity="norm at the longest context, relative to the shortest; the largest over k",
    judge=of_runs(gradient_vanishes, "points"),
)


def draw(results: Results) -> dict[str, Figure]:
    """Norms against T."""
    from headway.report.figures.in_context import figure_points

    return {"gradient": figure_points(results["points"])}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={
        "quick": {"points": KGramPointSettings(samples=5000)},
        "paper": {"points": KGramPointSettings()},
    },
    seeds={"quick": 4, "paper": 10},
    claims=(V4,),
    figures=draw,
)
