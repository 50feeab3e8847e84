"""The flow's own model, trained: gradient descent, SGD and AdamW compared with the gradient flow on one time axis.

Paper A, section 3.1, says what is trained and derives the flow; it shows no training of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.theory_over_training import flow_predicts_training
from headway.experiments.experiment import Experiment, headline
from headway.settings import FlowSettings
from headway.tasks.regression import Regression
from headway.tasks.run import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FLOW = FlowSettings(last=500.0, points=120, first=1.0)
"""Figure 10's; by then the last stage is over in nearly every seed."""
TRAINED: Settings[Regression, None] = Regression.usual()
"""From the same starts. Ours: d 8 instead of 50, on which neither the flow nor the population's gradient depends."""


DESCENTS = ("GD, small step", "GD, medium step", "GD, large step")
SAMPLED = ("SGD, large batch", "SGD, medium batch", "SGD, small batch")
FLOW_NAME = "flow (regression)"

CLOSE = 0.02
"""Relative difference of boundaries by which gradient descent may miss the flow."""
NEAR = 0.10
"""The same for SGD, whose boundaries its samples move, too."""

PI_ONCE = """
Attention trained through a softmax applies Pi twice. This grid's flow applies Pi once and is much faster. The
same runs agree with the flow of the printed grid."""

# Written when gradient descent with steps of 0.05 and 0.1 had been looked at, and nothing by SGD or AdamW.
R1 = Claim(
    "R1",
    title="the flow predicts the stage times of gradient descent and SGD on its own model (ours)",
    statement="""The gradient flow predicts the training of its own model: gradient descent and SGD pass the stages
    at the flow's times, AdamW in the same order. (Ours; the paper shows the flow alone.)""",
    definition=f"""From the same initial values, with time = learning rate times step: every boundary (the loss
    half-way between two plateaus) of gradient descent with the smallest step is within {CLOSE:.0%} of the flow's,
    and every head ends at the same feature's position; every boundary of SGD with the least noise is within
    {NEAR:.0%} of the flow's; and under AdamW, where no such time exists, half of feature j is learnt at position j
    at steps that rise with j.""",
    quantity="""largest relative difference between a boundary of gradient descent with the smallest step and of the
    flow""",
    judge=of_runs(flow_predicts_training, FLOW_NAME, *DESCENTS, *SAMPLED, "AdamW", close=CLOSE, near=NEAR),
    reasons={"as-run": PI_ONCE},
)

Rows = tuple[float, float, float]


def _trained(base: Settings[Regression, None], last: float, steps: Rows, batches: tuple[int, int, int]) -> dict:
    """Gradient descent with several steps; SGD with one step and batches from calm to noisy; AdamW.

    All but AdamW go on until the flow's last time.
    """
    rows = zip(DESCENTS, steps, strict=True)
    descents = {
        name: base.changed(training={"learning_rate": step, "steps": round(last / step)}) for name, step in rows
    }
    # Samples are far noisier than single precision.
    fresh: dict[str, Any] = {"data": "fresh", "precision": "float32"}
    sampled = base.changed(training={**fresh, "learning_rate": 0.025, "steps": round(last / 0.025)})
    stochastic = {
        name: sampled.changed(training={"batch": batch}) for name, batch in zip(SAMPLED, batches, strict=True)
    }
    # Ours: the rate and the weight decay that the paper prints for its transformers.
    adamw = {"optimiser": "adamw", "learning_rate": 0.003, "weight_decay": 0.01, "batch": batches[0], "steps": 6000}
    return {**descents, **stochastic, "AdamW": base.changed(training={**fresh, **adamw})}


_SMALL: dict[str, Any] = {"length": 20, "noise": 1e-4}
"""Fewer positions, and a start that lets every seed end soon."""
_TRAINED = _trained(TRAINED, FLOW.last, (0.01, 0.1, 0.4), (256, 32, 4))


def draw(results: Results) -> dict[str, Figure]:
    """Losses over the flow's time, AdamW's over steps, and every boundary relative to the flow's."""
    from headway.report.figures.over_training import figure_regression

    trained = {name: run for name, run in results.items() if name != FLOW_NAME}
    return {"over-training": figure_regression(results[FLOW_NAME], trained)}


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={
        "quick": {
            FLOW_NAME: replace(FLOW, last=150.0, points=60, **_SMALL),
            **_trained(
                TRAINED.changed(task={"dimension": 4, **_SMALL}, evaluation={"points": 60}),
                150.0,
                (0.01, 0.1, 0.4),
                (64, 16, 4),
            ),
        },
        "printed": {FLOW_NAME: FLOW, **_TRAINED},
        # As run, the figure's flow applies Pi(s) once. What trains softmax attention cannot choose: the runs are the
        # same.
        "as-run": {FLOW_NAME: replace(FLOW, projections=1), **_TRAINED},
    },
    seeds={"quick": 4, "printed": 10, "as-run": 10},
    claims=(R1,),
    figures=draw,
)
