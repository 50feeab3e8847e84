"""Zhang et al. 2025, Figure 4: linear attention with keys and queries of several ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.linear_attention import LONG, NEAR, OF_THE_GAP, rank_sets_plateaus
from headway.experiments.experiment import Experiment, headline
from headway.tasks.in_context_regression import InContextRegression

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RANKS = (1, 2, 4, 8)
SMALL = "rank R = 4, a tenth of the initial scale"
# Ours: eigenvalues in the ratios 1 / d.
_BASE = InContextRegression.usual().changed(
    task={
        "spectrum": tuple(1 / each for each in range(1, 9)),
        "parts": "separate",
        "heads": 9,
        "start": 0.005,
        "sequences": 80_000,
    },
    training={"learning_rate": 0.02, "steps": 20_000, "precision": "float32"},
    evaluation={"every": 20, "growth": 0.06},
)
BASES = {"quick": _BASE.changed(task={"sequences": 20_000}, training={"steps": 12_000}), "paper": _BASE}


def _runs(base: Any) -> dict[str, Any]:
    return {f"rank R = {rank}": base.changed(task={"rank": rank}) for rank in RANKS}


# Ours: the rank of which a seed has no plateau, from a tenth of the initial scale, for ten times the steps.
_SMALL = _BASE.changed(
    task={"rank": 4, "start": _BASE.task.start / 10},
    training={"steps": 10 * _BASE.training.steps},
    evaluation={"every": 200},
)
GRIDS = {"quick": _runs(BASES["quick"]), "paper": {**_runs(BASES["paper"]), SMALL: _SMALL}}


def draw(results: Results) -> dict[str, Figure]:
    from headway.report.figures import figure_ranks

    return {"ranks": figure_ranks({name: run for name, run in results.items() if name != SMALL})}


_CLOSE = """
In the seed that fails, the second head of rank 4 follows the first at once, so that the loss has no plateau at four
components: the random initialisation decides. Tested: from a tenth of the initial scale all ten seeds have one, the
seed that failed for 40% of the time until it leaves (Z5 small start)."""
Z5 = Claim(
    "Z5",
    "With keys and queries of rank R, components are learnt R at a time: clear plateaus appear only where "
    "R divides the number of components learnt.",
    f"At a level L_m, 0 < m < D, the loss has a clear plateau if it stays within {NEAR:g}, or within "
    f"{OF_THE_GAP:.0%} of the smaller gap to a neighbouring level, for at least {LONG:.0%} of the time "
    "until it leaves. For every R of 1, 2, 4 and 8 there is none where R does not divide m, and, if R < D, "
    "one where it does.",
    "longest plateau where R does not divide m, as a share of the time until it ends",
    judge=of_runs(rank_sets_plateaus, *(f"rank R = {rank}" for rank in RANKS)),
    title="keys and queries of rank R: R components per drop",
    reasons={"paper": _CLOSE},
)

EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 10},
    claims=(
        Z5,
        Z5.called(
            "Z5 small start",
            "As Z5, with rank 4, from a tenth of the initial scale. (Ours.)",
            definition=Z5.definition.replace("every R of 1, 2, 4 and 8", "R = 4").replace(", if R < D,", ""),
            judge=of_runs(rank_sets_plateaus, SMALL),
            title="keys and queries of rank 4, a tenth of the initial scale: R components per drop (ours)",
        ),
    ),
    figures=draw,
)
