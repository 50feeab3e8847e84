"""Zhang et al. 2025: linear attention learns in-context regression in one drop, or one component after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.linear_attention import (
    APART,
    CLEAR,
    EQUAL,
    NEAR,
    PARALLEL,
    POWER,
    balanced_heads,
    later_is_longer,
    one_component_a_drop,
    one_drop,
    same_as_a_network,
    softmax_too,
)
from headway.experiments.experiment import Experiment, headline
from headway.tasks.in_context_regression import InContextRegression
from headway.tasks.softmax_regression import SoftmaxRegression

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MERGED, SEPARATE, NETWORK, BALANCED = "merged", "separate", "network", "balanced"
WHITE = "merged, white"
SMALL = "separate, a tenth of the start"
SOFTMAX_MERGED, SOFTMAX_SEPARATE = "softmax, merged", "softmax, separate"
_SPARSE = {"every": 20, "growth": 0.03}

_MERGED = InContextRegression.usual().changed(evaluation=_SPARSE)
_SEPARATE = InContextRegression.usual().changed(
    task={"parts": "separate", "heads": 5, "start": 0.01, "sequences": 80_000},
    training={"learning_rate": 0.02, "steps": 10_000, "precision": "float32"},
    evaluation=_SPARSE,
)
_SOFTMAX = SoftmaxRegression.usual()


def _runs(grid: str) -> dict[str, Any]:
    few = {"sequences": 2000 if grid == "quick" else _MERGED.task.sequences}
    merged = _MERGED.changed(task=few, training={"steps": 3000 if grid == "quick" else 6000})
    separate = _SEPARATE.changed(task={"sequences": 20_000}) if grid == "quick" else _SEPARATE
    softmax = _SOFTMAX.changed(training={"samples": 500, "batch": 500}) if grid == "quick" else _SOFTMAX
    return {
        SEPARATE: separate,
        MERGED: merged,
        NETWORK: merged.changed(task={"parts": "network"}),
        # Ours: all eigenvalues alike, of which the closed form is exact, and no set that is finite.
        WHITE: merged.changed(task={"spectrum": (1.0,) * 4, "sequences": 0}),
        # Ours: as large a tenth at the start, and as many steps ten times.
        SMALL: separate.changed(task={"start": 0.001}, training={"steps": 100_000}, evaluation={"every": 100}),
        # Ours: the start of the theory, one head for each direction.
        BALANCED: separate.changed(task={"balanced": True, "heads": 4}),
        SOFTMAX_MERGED: softmax,
        SOFTMAX_SEPARATE: softmax.changed(task={"parts": "separate"}),
    }


GRIDS = {grid: _runs(grid) for grid in ("quick", "paper")}


def draw(results: Results) -> dict[str, Figure]:
    """Loss between its levels, theory over it, and the heads one after another."""
    from headway.report.figures import figure_linear_attention, figure_linear_heads, figure_linear_softmax

    return {
        "loss": figure_linear_attention(results[MERGED], results[SEPARATE], results[BALANCED], results[WHITE]),
        "heads": figure_linear_heads(results[SEPARATE]),
        "softmax": figure_linear_softmax(results[SOFTMAX_MERGED], results[SOFTMAX_SEPARATE]),
    }


_CHANCE = """
Which head finds a component, and when, is decided by its random start. Two drops may follow each other at once, so that
the loss does not wait between them; and what a head has grown in other directions before its turn stays in it. Tested:
from the balanced start of the theory it holds in every seed, and from a tenth of the start heads are along
eigenvectors in nearly all, while drops that are close together stay so."""
_SCATTER = """
From a random start the times of the drops scatter by a factor of about two (`headway predict --model
linear-attention`), so that a plateau may be shorter than the one before. Tested: from a balanced start all seeds hold,
with a power of -2.00; a smaller random start changes little, because it stretches all times alike."""
_DWELL = f"The loss stays within {NEAR:g} of it for at least {CLEAR:.0%} of the time until it leaves"
Z2 = Claim(
    "Z2",
    "With separate keys and queries of rank 1 the loss dwells at every level in turn, and one head after another "
    "learns one principal component.",
    f"{_DWELL}, for every L_m with m < D; at the end as many heads have grown as there were drops, each along another "
    f"eigenvector; and the cosine of their keys and queries with it is at least {PARALLEL:g} (geometric mean).",
    "shortest dwell, in shares of the time until it ends",
    judge=of_runs(one_component_a_drop, SEPARATE),
    title="separate keys and queries: one component a drop",
    reasons={"paper": _CHANCE},
)
Z4 = Claim(
    "Z4",
    "Later plateaus are longer, as the eigenvalue to the power of -2.",
    "Between the drops, every next plateau is longer; and the power of the eigenvalue in the times of the drops, by "
    f"least squares on the logarithms, is within {APART:g} of {POWER:g}.",
    "power of the eigenvalue",
    judge=of_runs(later_is_longer, SEPARATE),
    title="later plateaus are longer",
    reasons={"paper": _SCATTER},
)

EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 10},
    claims=(
        Claim(
            "Z1",
            "With merged keys and queries the loss falls in one drop.",
            f"It has one stage, and dwells at no level between the first and the last. A dwell: {_DWELL.lower()}.",
            "longest dwell between, in shares of the time until it ends",
            judge=of_runs(one_drop, MERGED),
            title="merged keys and queries: one drop",
        ),
        Z2,
        Z2.called(
            "Z2 balanced",
            "The same from the start of the theory, |v| = |k| = |q| with a head for each eigenvector. (Ours.)",
            judge=of_runs(one_component_a_drop, BALANCED),
            title="the same from a balanced start (ours)",
        ),
        Z2.called(
            "Z2 small start",
            "The same from a tenth of the start. (Ours.)",
            judge=of_runs(one_component_a_drop, SMALL),
            title="the same from a tenth of the start (ours)",
        ),
        Claim(
            "Z3",
            "In a head that has learnt a component, value, key and query are equally large.",
            f"At the end |v|, |k| and |q| of every such head differ by at most {EQUAL:.0%} of the largest.",
            "largest difference, relative",
            judge=of_runs(balanced_heads, SEPARATE),
            title="value, key and query are equally large",
        ),
        Z4,
        Z4.called(
            "Z4 balanced",
            "The same from the start of the theory. (Ours.)",
            judge=of_runs(later_is_longer, BALANCED),
            title="the same from a balanced start (ours)",
        ),
        Z4.called(
            "Z4 small start",
            "The same from a tenth of the start. (Ours.)",
            judge=of_runs(later_is_longer, SMALL),
            title="the same from a tenth of the start (ours)",
        ),
        Claim(
            "Z6",
            "Merged linear attention is a linear network of two layers on z = vec(beta x_q^T).",
            "From the same start, the losses of the two are equal at every evaluation, to rounding (1e-9, float64).",
            "largest relative difference",
            judge=of_runs(same_as_a_network, MERGED, NETWORK),
            title="merged attention is a linear network",
        ),
        Claim(
            "Z7",
            "With softmax, too, it is one drop with merged keys and queries and several with separate ones.",
            "The loss has one stage with merged ones and two or more with separate ones.",
            "stages with separate keys and queries",
            judge=of_runs(softmax_too, SOFTMAX_MERGED, SOFTMAX_SEPARATE),
            title="one drop or several with softmax, too",
        ),
    ),
    figures=draw,
)
