"""What makes the difference between what is printed and what was run: one thing changed at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headway.presets import FEW_SEEDS, MINIMALS, curves, full_as_run, full_printed, minimal_as_run, minimal_printed
from headway.settings import Settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from headway.experiments import Results
    from headway.records import Finding

SADDLE = {"initialisation": "uniform", "scale": 1e-9}


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


GRIDS = {
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
    # The full model behaves alike under both: only the way from printed is walked, which costs half.
    "as-run": {
        "as it is": minimal_as_run(),
        **_minimal(minimal_as_run(), minimal_printed()),
        "full, as it is": full_as_run(),
    },
}
SEEDS = FEW_SEEDS


def read(results: Results) -> list[Finding]:
    """H3: what the plateau schedule does to a saddle, read as epochs and read as steps."""
    from headway.claims.schedule import H3, H3_STEPS, plateau_schedule_stops_at_saddles

    pair = [results.get("saddle"), results.get("saddle, schedule")]
    constant = next((run for run in pair if run is not None and run[0].training.schedule == "constant"), None)
    return [
        plateau_schedule_stops_at_saddles(H3, *pair),
        plateau_schedule_stops_at_saddles(H3_STEPS, constant, results.get("saddle, every step")),
    ]


def draw(results: Results) -> dict[str, Figure]:
    """The excess loss after each single change; the loss and the rate at a saddle."""
    from headway.report.figures import figure_family, figure_saddle

    saddles = {name: run for name, run in results.items() if name.startswith("saddle")}
    minimal = {name: run for name, run in results.items() if "full" not in name and name not in saddles}
    full = {name: run for name, run in results.items() if name.startswith("full")}
    figures = {"minimal": figure_family(minimal), "saddle": figure_saddle(saddles)}
    return {**figures, "full": figure_family(full)} if len(full) > 1 else figures
