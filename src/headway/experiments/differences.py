"""Which differences between the printed settings and those of the authors' code matter: one changed at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from headway.analysis.crossings import first_at_most
from headway.analysis.seed_stages import boundary_table
from headway.claims.claim import Claim, Results, Run, judged, of_runs, steps_in_words
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
    left, low = (steps_in_words(column[:, None]) for column in (end, _tenth(lowered[0])))
    words = (
        f"The first stage ends at step {left} under a constant rate; under the schedule the rate has fallen to a tenth "
        f"by step {low} (medians over seeds)."
    )
    parts = {"the constant rate leaves": np.isfinite(end), "the plateau schedule stays": np.isnan(lowered_end)}
    return claim.all_of([one, other], parts, words, rates[:, -1] / rates[:, 0])


def _tenth(trajectory: Trajectory) -> np.ndarray:
    """When the rate of each seed has fallen to a tenth; NaN if it never does."""
    rates = trajectory["learning_rate"]
    return first_at_most(trajectory.times("learning_rate"), rates, 0.1 * rates[:, :1])


def _every_step(claim: Claim, results: Results) -> Finding:
    """One of the two runs of H3 has a constant rate: which one, the grid decides."""
    pair = [results.get("saddle"), results.get("saddle, schedule")]
    constant = next((run for run in pair if run is not None and run[0].training.schedule == "constant"), None)
    return plateau_schedule_stops_at_saddles(claim, constant, results.get("saddle, every step"))


H3 = Claim(
    "H3",
    title="a plateau schedule updated once an epoch stops learning at a saddle (ours)",
    statement="""The printed schedule, which halves the learning rate when the training loss has not improved for 10
    epochs, can stop learning at a saddle. (Not in the paper, which gives only its name, patience and factor.)""",
    definition="""From initial scores of 1e-9, with the same seed and all else equal, the first stage ends under a
    constant learning rate and never ends under the plateau schedule.""",
    quantity="final learning rate under the plateau schedule, relative to the initial one",
    judge=of_runs(plateau_schedule_stops_at_saddles, "saddle", "saddle, schedule"),
    reasons={"printed": STAYS_ANYWAY, "as-run": STILL_FALLING},
)
H3_STEPS = H3.called(
    "H3 every step",
    "If its patience is read as 10 steps, the printed schedule stops learning at a saddle. (Not in the paper.)",
    title="a plateau schedule updated at every step stops learning at a saddle (ours)",
    judge=_every_step,
    reasons={"printed": STAYS_ANYWAY},
)


def _between(start: Settings, end: Settings) -> dict[str, Settings]:
    """The start, then each single setting taken from the end."""
    return {
        "aggregation": start.changed(task={"weighting": end.task.weighting}),
        "schedule": start.changed(training={"schedule": end.training.schedule}),
    }


def _minimal(start: Settings, end: Settings) -> dict[str, Settings]:
    start = curves(start)
    saddle = start.changed(model=SADDLE)
    return {
        **_between(start, end),
        "learning rate": start.changed(training={"learning_rate": end.training.learning_rate}),
        "scaled scores": start.changed(model={"scaled_scores": end.model.scaled_scores}),
        "saddle": saddle,
        "saddle, schedule": saddle.changed(training={"schedule": end.training.schedule}),
        "saddle, every step": saddle.changed(training={"schedule": "plateau-step"}),
    }


def _full(start: Settings, end: Settings) -> dict[str, Settings]:
    start = curves(start)
    runs = {**_between(start, end), "dropout": start.changed(training={"dropout": end.training.dropout})}
    return {f"full, {name}": settings for name, settings in runs.items()}


def _parts_of_full(start: Settings) -> dict[str, Settings]:
    """The full model as it ran, less one of what the paper does not print, and less both."""
    whole, start = start, curves(start)
    printed = {"attention_dropout": FULL.attention_dropout, "initialisation": FULL.initialisation}
    runs = {
        "attention not dropped": start.changed(model={"attention_dropout": printed["attention_dropout"]}),
        "readout by Xavier": start.changed(model={"initialisation": printed["initialisation"]}),
        "neither": whole.changed(model=printed),
        "dropout at every step": start.changed(training={"dropout": "always"}),
    }
    return {f"full, {name}": settings for name, settings in runs.items()}


def draw(results: Results) -> dict[str, Figure]:
    """The excess loss after each single change; the loss and the rate at a saddle."""
    from headway.report.figures import figure_family, figure_saddle

    kinds: dict[str, dict] = {"minimal": {}, "saddle": {}, "full": {}}
    for name, run in results.items():
        model = run[0].model
        kind = "full" if model.residual else "saddle" if model.initialisation == "uniform" else "minimal"
        kinds[kind][name] = run
    figures = {"minimal": figure_family(kinds["minimal"]), "saddle": figure_saddle(kinds["saddle"])}
    return {**figures, "full": figure_family(kinds["full"])} if len(kinds["full"]) > 1 else figures


EXPERIMENT = Experiment(
    title=headline(__doc__),
    grids={
        "quick": {
            "as it is": MINIMALS["quick"](),
            **_minimal(MINIMALS["quick"](), minimal_printed()),
        },
        "printed": {
            "as it is": minimal_printed(),
            **_minimal(minimal_printed(), minimal_as_run()),
            "full, as it is": full_printed(),
            **_full(full_printed(), full_as_run()),
        },
        # The full model behaves alike under both: only the way from printed is walked, which costs half, and what only
        # the code says.
        "as-run": {
            "as it is": minimal_as_run(),
            **_minimal(minimal_as_run(), minimal_printed()),
            "full, as it is": full_as_run(),
            **_parts_of_full(full_as_run()),
        },
    },
    seeds=FEW_SEEDS,
    claims=(H3, H3_STEPS),
    figures=draw,
)
