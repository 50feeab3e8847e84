"""The gradient flow beside the minimal transformer: how well one factor on the time axis aligns their stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.theory_over_training import one_factor_maps
from headway.experiments.experiment import Experiment, headline
from headway.experiments.stages import TOO_SLOW
from headway.presets import MINIMALS, MORE_SEEDS
from headway.settings import FlowSettings
from headway.tasks.run import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LAST = {"quick": 600.0, "printed": 1500.0, "as-run": 1500.0}
"""Until when the flow goes: with strong features its last stages are long."""
STRETCH = 1.25
"""Factor by which the transformer's later boundaries may miss what the flow makes of its first."""
OF_THE_CHAIN, OF_UNIT = "flow (strengths of the chain)", "flow (unit strength)"

READOUT = """
AdamW explains the smaller part: on the regression with the same strengths it shortens the last stage far less. The
rest probably comes from the readout. Behind a softmax, the gradient of a feature that is not yet learnt is bounded,
however strong the feature is. In the flow, strong features capture all attention early and make the late heads wait
long."""
SHORTENED = """
AdamW shortens the last stage: on the regression with these strengths it gives roughly the transformer's
proportions. In addition, the seeds of the flow differ from each other by more than the claim allows."""

# Written when the published boundaries and those of some flows were known, and no transformer had been laid over one.
R2 = Claim(
    "R2",
    title="one factor maps the flow's stages onto the minimal transformer's (ours)",
    statement="""One factor between the flow's time and training steps maps the stages of the flow onto those of the
    minimal transformer. (Ours; the paper calls them similar.)""",
    definition=f"""The factor is chosen so that the flow's first boundary after stage 1 (median over seeds) equals
    the seed's. Then every later boundary of the flow is within a factor {STRETCH:g} of the seed's. The
    transformer's boundaries are those of its ladder; the flow has as many features, positions for all tokens that a
    model reads, the same ratio, and for every feature the strength that one lag of its block has in the chain.""",
    quantity="last boundary of the transformer, relative to what the factor predicts",
    judge=of_runs(one_factor_maps, "minimal", OF_THE_CHAIN, within=STRETCH),
    reasons={"printed": TOO_SLOW, "as-run": READOUT},
)
R2_UNIT = R2.called(
    "R2 unit strength",
    "One factor also maps the flow of the paper's Figure 10, whose weakest feature has strength 1, onto the "
    "minimal transformer. (Ours.)",
    title="one factor maps the flow's stages onto the minimal transformer's (weakest feature of strength 1, ours)",
    judge=of_runs(one_factor_maps, "minimal", OF_UNIT, within=STRETCH),
    reasons={"printed": TOO_SLOW, "as-run": SHORTENED},
)


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
        OF_THE_CHAIN: _flow(training, one_lag, last),
        OF_UNIT: _flow(training, 1.0, last),
    }


def draw(results: Results) -> dict[str, Figure]:
    """Both losses on one axis of steps, and boundaries against boundaries."""
    from headway.report.figures.over_training import figure_overlay

    flows = {name: run for name, run in results.items() if name != "minimal"}
    return {"overlay": figure_overlay(results["minimal"], flows)}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={grid: _runs(base(), LAST[grid]) for grid, base in MINIMALS.items()},
    seeds=MORE_SEEDS,
    claims=(R2, R2_UNIT),
    figures=draw,
)
