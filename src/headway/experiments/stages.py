"""Paper A, Figure 1: KL to the rungs, excess loss and attention of the minimal transformer over training.

KL to every rung over training, and where the heads look at each stage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.competition import HUMP, compete_then_cooperate
from headway.claims.ladder import NEARER, QUANTITY, meets_rungs_in_order, nearer_than_stageless
from headway.experiments.experiment import Experiment, headline
from headway.presets import MINIMALS, MORE_SEEDS, for_each_grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOO_SLOW = """
At the printed learning rate of 0.003 the minimal model is still approaching a lower rung when training ends. With
the learning rate of the authors' code, and nothing else changed, KL to the rungs reaches its minima in order
in most seeds (see the experiment `differences`)."""

A1_MINIMAL = Claim(
    "A1 minimal",
    title="KL to the rungs reaches its minima in order (minimal model)",
    statement="""In the minimal model, KL to rung 1 reaches its minimum first, then KL to rung 2, and so on to the
    truth.""",
    definition="""Over all evaluations, the step at which KL(rung i || model) reaches its minimum is strictly
    later for each higher i. Order alone shows neither stages, which also require a turn, nor plateaus of the loss.
    Where the last minimum is at the last step, the ratio depends on the length of training.""",
    quantity=QUANTITY,
    judge=of_runs(meets_rungs_in_order, "minimal"),
    reasons={"printed": TOO_SLOW},
)
A1_MINIMAL_NEARER = Claim(
    "A1 minimal, nearer",
    title="each lower rung is approached more closely than by confidence alone (minimal model, ours)",
    statement="The minimal model approaches each lower rung more closely than a model that only grows in confidence. "
    "(Ours.)",
    definition=f"""For every rung i below the truth, the smallest KL(rung i || model) over training is below
    {NEARER:g} of the smallest KL(rung i || softmax(s z)) over s, where z are the truth's logits. A model that
    learns all blocks at once and only grows in confidence also has its minima in order, but comes no nearer.""",
    quantity=f"""the model's smallest KL to a lower rung, divided by the smallest that confidence alone reaches; the
    largest ratio of all lower rungs (below {NEARER:g}: nearer than by confidence alone)""",
    judge=of_runs(nearer_than_stageless, "minimal"),
)
A4_MINIMAL = Claim(
    "A4 minimal",
    title="heads compete, then cooperate: their overlap rises, then falls (minimal model)",
    statement="""The heads of the minimal model first compete, then cooperate: the overlap of their attention rises,
    then falls. (Two heads may still attend to the same block at the end.)""",
    definition=f"""The competition index exceeds both its first and its last value by more than
    {HUMP:g}. One head that turns to another block is enough for that. In how many seeds all heads end on different
    blocks is stated beside the verdict and does not count.""",
    quantity="fall of the competition index from its peak to the end",
    judge=of_runs(compete_then_cooperate, "minimal"),
)

INDICES = """Competition index (probability that two heads, each drawing a lag from its attention, draw the same block)
and cooperation index (mean over blocks of the largest attention that a head gives to the block) over training steps
(logarithmic)."""


def draw(results: Results) -> dict[str, Figure]:
    """All in one picture; Figure 1, its lower half; the excess loss; the heads' indices; how values meet features.

    The first two show attention matrices: a run that kept none does without them.
    """
    from headway.analysis.seed_stages import stage_starts
    from headway.report.captions import CURVES, STAGES, STAIRCASE, captioned
    from headway.report.figures import (
        draw_competition,
        draw_excess,
        figure_alignment,
        figure_overview,
        figure_stages,
        new_figure,
        shows_alignment,
    )

    settings, trajectory = results["minimal"]
    starts = stage_starts(trajectory)
    staircase, indices = new_figure(5.5, 2.4), new_figure(5.5, 2.4)
    draw_excess(staircase.subplots(), trajectory, starts=starts, log_steps=True)
    draw_competition(indices.subplots(), trajectory, settings.task.blocks, starts, log_steps=True)
    captioned(staircase, f"{STAIRCASE} {CURVES} {STAGES}", [results["minimal"]])
    captioned(indices, f"{INDICES} {CURVES} {STAGES}", [results["minimal"]])
    values = {"values": figure_alignment(trajectory)} if shows_alignment(trajectory) else {}
    if len(trajectory.times("attention")) == 0:
        return {"excess-loss": staircase, "competition": indices, **values}
    return {
        "overview": figure_overview(trajectory, settings, starts=starts),
        "figure-1": figure_stages(trajectory, settings.task.blocks, starts=starts),
        "excess-loss": staircase,
        "competition": indices,
        **values,
    }


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=for_each_grid(MINIMALS, lambda base: {"minimal": base}),
    seeds=MORE_SEEDS,
    claims=(A1_MINIMAL, A1_MINIMAL_NEARER, A4_MINIMAL),
    figures=draw,
)
