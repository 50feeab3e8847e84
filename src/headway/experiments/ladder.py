"""Paper A, Figure 3: KL to the rungs and to trained n-gram models, of the full transformer over training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.kind import SAME, same_in_kind
from headway.claims.ladder import QUANTITY, meets_ngrams_in_order, meets_rungs_in_order, nearer_than_stageless
from headway.experiments.experiment import Experiment, headline
from headway.experiments.stages import A1_MINIMAL, A1_MINIMAL_NEARER, TOO_SLOW
from headway.presets import FULLS, MINIMALS, MORE_SEEDS, beside_ngrams

if TYPE_CHECKING:
    from matplotlib.figure import Figure

A1 = A1_MINIMAL.called(
    "A1",
    A1_MINIMAL.statement.replace("minimal", "full"),
    title="KL to the rungs reaches its minima in order (full model)",
    judge=of_runs(meets_rungs_in_order, "full"),
    reasons={},
)
A1_NEARER = A1_MINIMAL_NEARER.called(
    "A1 nearer",
    A1_MINIMAL_NEARER.statement.replace("minimal", "full"),
    title="each lower rung is approached more closely than by confidence alone (full model, ours)",
    judge=of_runs(nearer_than_stageless, "full"),
)
A2 = Claim(
    "A2",
    title="KL to trained n-gram models reaches its minima in order of context length",
    statement="Training passes trained n-gram models in order of their context length.",
    definition="""Over all evaluations, the step at which KL(n-gram model || model) reaches its minimum comes strictly
    later for every longer context; the n-gram models are those at the end of their own training, from the same
    seed.""",
    quantity=QUANTITY,
    judge=of_runs(meets_ngrams_in_order, "full"),
)
A6 = Claim(
    "A6",
    title="the minimal model behaves like the full model",
    statement="Without embedding, norm, residual, MLP, key and output matrices, the model behaves in the same way.",
    definition=f"With the same seed, in the full and in the minimal model, {SAME}.",
    quantity="how many of the four parts hold",
    judge=of_runs(same_in_kind, "full", "minimal", names=("full", "minimal")),
    reasons={"printed": TOO_SLOW},
)


def draw(results: Results) -> dict[str, Figure]:
    """Figure 3: left against the rungs, right against the n-gram models."""
    from headway.analysis.seed_stages import stage_starts
    from headway.report.captions import CURVES, STAGES, STAIRCASE, captioned
    from headway.report.figures import draw_excess, draw_kl, new_figure, reference_names

    settings, trajectory = results["full"]
    starts = stage_starts(trajectory)
    both, staircase = new_figure(5.5, 2.2), new_figure(5.5, 2.4)
    left, right = both.subplots(1, 2, sharey=False)
    draw_kl(left, trajectory, starts=starts)
    if "kl_references" in trajectory:
        draw_kl(right, trajectory, reference_names(settings.task.references), "kl_references", starts)
    else:
        right.set_axis_off()
    draw_excess(staircase.subplots(), trajectory, starts=starts, log_steps=True)
    words = "KL to each rung (left) and to trained n-gram models with context length c (right) over training steps."
    captioned(both, f"{words} {CURVES} {STAGES}", [results["full"]])
    captioned(staircase, f"{STAIRCASE} {CURVES} {STAGES}", [results["full"]])
    return {"figure-3": both, "excess-loss": staircase}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={grid: {"full": beside_ngrams(FULLS[grid]()), "minimal": MINIMALS[grid]()} for grid in FULLS},
    seeds=MORE_SEEDS,
    claims=(A1, A1_NEARER, A2, A6),
    figures=draw,
)
