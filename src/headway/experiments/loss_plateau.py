"""Gopalani & Hu 2025: what happens on a loss plateau, and why attention ends it: moving-window sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway.claims.claim import Claim, Results, of_runs
from headway.claims.loss_plateau import (
    ALIKE,
    APART,
    FALL,
    KNOWN,
    LITTLE,
    OFTEN,
    RETURNED,
    RISE,
    SHORT,
    attention_moves_first,
    emphasis_sets_the_length,
    first_output_alone,
    frozen_attention_removes_it,
    no_plateau,
    repeats_itself,
    states_collapse,
)
from headway.experiments.experiment import Experiment, headline
from headway.tasks.moving_window import MovingWindow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

USUAL, REPEAT, SOFTMAX = "usual", "repeat", "softmax"
ATTENTION, MLP = "attention frozen", "MLP frozen"
BASES = {
    # Ours: fewer numbers and a narrower stream that learns faster.
    "quick": MovingWindow.usual().changed(
        task={"count": 12, "modulus": 13},
        model={"width": 64, "mlp": 256},
        training={"learning_rate": 1e-3, "batch": 64, "steps": 500, "test_samples": 64},
        evaluation={"every": 10, "snapshots": 5},
    ),
    # Ours: TF32.
    "paper": MovingWindow.usual().changed(
        training={"precision": "tf32", "test_samples": 256}, evaluation={"snapshots": 5}
    ),
}
FACTORS = {"quick": (0.5, 2.5, 10.0), "paper": (0.2, 0.5, 2.5, 10.0)}
LONG = {"quick": 1000, "paper": 2000}
"""Steps where attention is weakened, and with softmax."""


def _name(factor: float) -> str:
    return f"c = {factor:g}"


def _runs(grid: str) -> dict[str, Any]:
    base = BASES[grid]
    sparse = {"every": 4 * base.evaluation.every} if base.evaluation.every else {}
    long = base.changed(training={"steps": LONG[grid]}, evaluation=sparse)
    factors = {
        _name(factor): (long if factor < 1 else base).changed(model={"emphasis": factor}) for factor in FACTORS[grid]
    }
    return {
        USUAL: base,
        REPEAT: base.changed(task={"rule": "repeat"}),
        **factors,
        ATTENTION: base.changed(training={"frozen": ("attention",)}),
        MLP: base.changed(training={"frozen": ("mlp",)}),
        **({SOFTMAX: long.changed(model={"attention": "softmax"})} if grid == "paper" else {}),
    }


GRIDS = {grid: _runs(grid) for grid in BASES}


def _of_sums(settings: Any) -> bool:
    """Linear attention on sums, whole and trained whole, whatever it is multiplied by."""
    trained = not settings.training.frozen and settings.model.attention == "linear"
    return trained and settings.task.rule == "sums"


def draw(results: Results) -> dict[str, Figure]:
    """The plateau, what is measured on it, and what interventions on attention do to it."""
    from headway.report.figures import figure_interventions, figure_loss_plateau, figure_window_attention

    usual = results[USUAL]
    factors = {name: run for name, run in results.items() if run[0].model.emphasis != 1}
    ordered = sorted({_name(1.0): usual, **factors}.items(), key=lambda each: each[1][0].model.emphasis)
    others = {name: run for name, run in results.items() if name not in factors}
    return {
        "plateau": figure_loss_plateau(usual),
        "attention": figure_window_attention(usual),
        "emphasis": figure_interventions(dict(ordered)),
        "frozen": figure_interventions(others),
    }


_FALL = "the way of the loss from the rung of the first output to that of all outputs"
_HALF = f"half of {_FALL}"

EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids=GRIDS,
    seeds={"quick": 4, "paper": 10},
    claims=(
        Claim(
            "G1",
            "On the plateau a partial solution is there: the first output is right, the others are not.",
            f"At some evaluation at least {KNOWN:.0%} of the first outputs, and less than {LITTLE:.0%} of all, are "
            "right; generated greedily.",
            "share of the evaluations at which it is so",
            judge=of_runs(first_output_alone, USUAL),
            title="on the plateau the first output alone is right",
        ),
        Claim(
            "G1 softmax",
            "The same with softmax attention.",
            "As G1.",
            "share of the evaluations at which it is so",
            judge=of_runs(first_output_alone, SOFTMAX),
            title="the same with softmax",
        ),
        Claim(
            "G2",
            "On the plateau the model repeats itself, and stops to when the loss falls.",
            f"The share of generated outputs that equal the next has a peak of at least {OFTEN:g} times the data's "
            f"before {_HALF}, and is at most {RETURNED:g} times the data's at the end.",
            "largest share on the plateau, in times the data's",
            judge=of_runs(repeats_itself, USUAL),
            title="on the plateau outputs repeat",
        ),
        Claim(
            "G3",
            "On the plateau the final states of different outputs are nearly parallel.",
            "The mean cosine between the states behind the last norm of outputs 2 to n, generated, is at some time "
            f"before {_HALF} at least {ALIKE:g}, and below {APART:g} at the end.",
            "largest mean cosine on the plateau",
            judge=of_runs(states_collapse, USUAL),
            title="on the plateau states are parallel",
        ),
        Claim(
            "G4",
            "Attention makes progress while the loss stands still.",
            f"The share of attention on what outputs depend on has made {RISE:.0%} of its rise before the loss has "
            f"made {FALL:.0%} of {_FALL}.",
            "step of the one, relative to that of the other",
            judge=of_runs(attention_moves_first, USUAL),
            title="attention moves before the loss",
        ),
        Claim(
            "G5",
            "Attention that is strengthened where it matters shortens the plateau, attention that is weakened there "
            "lengthens it, and states collapse the less the stronger it is.",
            "With attention multiplied by c on what outputs from the second on depend on, in training and in tests: "
            f"{_HALF} comes sooner with every c > 1 and later, or never, with every c < 1 than with c = 1, and the "
            "peak of the cosine (G3) is strictly smaller for every next larger c.",
            "steps with the largest c, relative to c = 1",
            judge=of_runs(emphasis_sets_the_length),
            about=_of_sums,
            title="attention sets the length of the plateau",
        ),
        Claim(
            "G6",
            "Attention at its optimum removes the plateau, the MLP at its optimum does not.",
            "With the queries, keys, values and outputs that the same seed ends with, frozen from the start, "
            f"{_HALF} takes less than {SHORT:.0%} of the steps that it takes otherwise; with the MLP frozen so, not.",
            "steps with attention frozen, relative to the usual run",
            judge=of_runs(frozen_attention_removes_it, USUAL, ATTENTION, MLP),
            title="attention at its optimum removes the plateau",
        ),
        Claim(
            "G7",
            "To repeat the first number again and again is learnt without a plateau.",
            f"{_HALF.capitalize()} comes after less than {SHORT:.0%} of the steps that sums take.",
            "steps, relative to sums",
            judge=of_runs(no_plateau, USUAL, REPEAT),
            title="no plateau where outputs repeat",
        ),
    ),
    figures=draw,
)
