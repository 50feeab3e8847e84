"""Which differences between the printed settings and those of the authors' code matter: one changed at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headway.analysis.crossings import first_at_most
from headway.analysis.seed_stages import boundary_table
from headway.claims.claim import Claim, Judge, Results, Run, judged, steps_in_words
from headway.experiments.experiment import Experiment, headline
from headway.presets import (
    FEW_SEEDS,
    FULL,
    MINIMALS,
    SADDLE,
    curves,
    full_as_run,
    full_printed,
    minimal_as_run,
    minimal_printed,
)
from headway.records import Finding, Trajectory
from headway.tasks.run import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STAYS_ANYWAY = """
At the printed learning rate training stays at the saddle even without a schedule, so the schedule cannot be what
stops it."""
STILL_FALLING = """
Evaluated once an epoch, the mean training loss keeps falling slightly at the saddle, so the learning rate is not
halved there."""


@judged
def plateau_schedule_stops_at_saddles(claim: Claim, one: Run, other: Run) -> Finding:
    """Boundary 1 exists under the constant rate, and not under the plateau schedule."""
    if len(one[0].task.blocks) < 2:
        return claim.not_run("The chain has one block, so there is only one stage.")
    constant = [trajectory for settings, trajectory in (one, other) if settings.training.schedule == "constant"]
    lowered = [trajectory for settings, trajectory in (one, other) if settings.training.schedule != "constant"]
    if len(constant) != 1 or len(lowered) != 1:
        return claim.not_run("It needs a run with a constant rate and one with the plateau schedule.")
    end, lowered_end = (boundary_table(trajectory)[:, 0] for trajectory in (*constant, *lowered))
    rates = lowered[0]["learning_rate"]
    tenth = _tenth(lowered[0])
    left, low = (steps_in_words(column[:, None]) for column in (end, tenth))
    ends = f"ends at step {left}" if np.isfinite(end).any() else "never ends"
    falls = f"has fallen to a tenth by step {low}" if np.isfinite(tenth).any() else "never falls to a tenth"
    known = " (medians over seeds)" if np.isfinite([end, tenth]).any() else ""
    words = f"The first stage {ends} under a constant rate; under the schedule the rate {falls}{known}."
    parts = {"the constant rate leaves": np.isfinite(end), "the plateau schedule stays": np.isnan(lowered_end)}
    return claim.all_of([one, other], parts, words, rates[:, -1] / rates[:, 0])


def _tenth(trajectory: Trajectory) -> np.ndarray:
    """When the rate of each seed has fallen to a tenth; NaN if it never does."""
    rates = trajectory["learning_rate"]
    return first_at_most(trajectory.times("learning_rate"), rates, 0.1 * rates[:, :1])


def _from_saddles(schedule: str) -> Judge:
    """From a saddle, the run with a constant rate and the one with this schedule."""

    def judge(claim: Claim, results: Results) -> Finding:
        runs = {run[0].training.schedule: run for run in results.values() if _at_a_saddle(run[0])}
        return plateau_schedule_stops_at_saddles(claim, runs.get("constant"), runs.get(schedule))

    return judge


def _at_a_saddle(settings: Settings) -> bool:
    return settings.model.initialisation == SADDLE["initialisation"]


H3 = Claim(
    "H3",
    title="a reduce-on-plateau schedule, updated once an epoch, stops learning at a saddle (ours)",
    statement="""The printed schedule, which halves the learning rate when the training loss has not improved for 10
    epochs, can stop learning at a saddle. (Ours; the paper gives only its name, patience and factor.)""",
    definition="""From initial scores of 1e-9, with the same seed and all else equal, the first stage ends under a
    constant learning rate and never ends under the plateau schedule.""",
    quantity="final learning rate under the plateau schedule, relative to the initial one",
    judge=_from_saddles("plateau"),
    reasons={"printed": STAYS_ANYWAY, "as-run": STILL_FALLING},
)
H3_STEPS = H3.called(
    "H3 every step",
    "If its patience is read as 10 steps, the printed schedule stops learning at a saddle. (Ours.)",
    title="a reduce-on-plateau schedule, updated at every step, stops learning at a saddle (ours)",
    judge=_from_saddles("plateau-step"),
    reasons={"printed": STAYS_ANYWAY},
)


def _between(start: Settings, end: Settings, grid: str) -> dict[str, Settings]:
    """Each single setting taken from the end, the run of another grid."""
    return {
        f"{grid} aggregation": start.changed(task={"weighting": end.task.weighting}),
        f"{grid} schedule": start.changed(training={"schedule": end.training.schedule}),
    }


def _minimal(start: Settings, end: Settings, grid: str) -> dict[str, Settings]:
    whole, start = start, curves(start)
    saddle = start.changed(model=SADDLE)
    runs = {
        **_between(start, end, grid),
        f"{grid} learning rate": start.changed(training={"learning_rate": end.training.learning_rate}),
        f"{grid} scale of scores": start.changed(model={"scaled_scores": end.model.scaled_scores}),
        "from a saddle": saddle,
        f"from a saddle, {grid} schedule": saddle.changed(training={"schedule": end.training.schedule}),
        "from a saddle, schedule at every step": saddle.changed(training={"schedule": "plateau-step"}),
    }
    return {"minimal": whole, **{f"minimal, {name}": settings for name, settings in runs.items()}}


def _full(start: Settings, end: Settings, grid: str) -> dict[str, Settings]:
    whole, start = start, curves(start)
    runs = _between(start, end, grid)
    runs[f"{grid} dropout"] = start.changed(training={"dropout": end.training.dropout})
    return {"full": whole, **{f"full, {name}": settings for name, settings in runs.items()}}


def _parts_of_full(start: Settings) -> dict[str, Settings]:
    """The full model as it ran, less one of what the paper does not print, and less both."""
    whole, start = start, curves(start)
    printed = {"attention_dropout": FULL.attention_dropout, "initialisation": FULL.initialisation}
    runs = {
        "attention not dropped": start.changed(model={"attention_dropout": printed["attention_dropout"]}),
        "readout by Xavier": start.changed(model={"initialisation": printed["initialisation"]}),
        "attention not dropped, readout by Xavier": whole.changed(model=printed),
        "dropout at every step": start.changed(training={"dropout": "always"}),
        # What other configurations of the authors have: that of SGD, and that of two layers.
        "ratio m = 2": start.changed(task={"ratio": 2.0}),
        "27 000 samples": start.changed(training={"samples": 27_000}),
    }
    return {"full": whole, **{f"full, {name}": settings for name, settings in runs.items()}}


def draw(results: Results) -> dict[str, Figure]:
    """The excess loss after each single change; the loss and the rate at a saddle."""
    from headway.report.figures import figure_family, figure_saddle

    kinds: dict[str, dict] = {"minimal": {}, "saddle": {}, "full": {}}
    for name, run in results.items():
        kind = "full" if run[0].model.residual else "saddle" if _at_a_saddle(run[0]) else "minimal"
        kinds[kind][name] = run
    figures = {"minimal": figure_family(kinds["minimal"]), "saddle": figure_saddle(kinds["saddle"])}
    return {**figures, "full": figure_family(kinds["full"])} if len(kinds["full"]) > 1 else figures


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={
        "quick": _minimal(MINIMALS["quick"](), minimal_printed(), "printed"),
        "printed": {
            **_minimal(minimal_printed(), minimal_as_run(), "as-run"),
            **_full(full_printed(), full_as_run(), "as-run"),
        },
        # The full model behaves alike under both: only the way from printed is walked, which costs half, and what only
        # the code says.
        "as-run": {
            **_minimal(minimal_as_run(), minimal_printed(), "printed"),
            **_parts_of_full(full_as_run()),
        },
    },
    seeds=FEW_SEEDS,
    claims=(H3, H3_STEPS),
    figures=draw,
)
