"""Figures 6 to 9 and 11 to 19: one run, its loss, its distance to the rungs, and where its heads look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from headway.analysis.seed_stages import stage_starts
from headway.records import Trajectory
from headway.report.captions import CURVES, STAGES, TOGETHER, captioned
from headway.report.figures.attention import draw_attention, seed_row
from headway.report.figures.composites import telling_seed, telling_steps
from headway.report.figures.curves import draw_excess, draw_kl, reference_names
from headway.report.figures.lines import Run
from headway.report.figures.style import PAGE_WIDTH, new_figure, styled

FEWEST = 4
"""Pictures that show a way, where there are so many."""
COLUMNS = 5


@styled
def figure_progress(run: Run) -> Figure:
    """Left: cross-entropy minus the truth's, with the rungs' own as dotted lines. Then KL to the rungs and, where they
    were trained, to n-gram models.
    """
    settings, trajectory = run
    starts, compared = stage_starts(trajectory), "kl_references" in trajectory
    figure = new_figure(PAGE_WIDTH, 2.2)
    left, *others = figure.subplots(1, 3 if compared else 2)
    draw_excess(left, trajectory, "rung_excess" in trajectory.facts, starts, log_steps=True)
    draw_kl(others[0], trajectory, starts=starts, log_steps=True)
    if compared:
        names = reference_names(settings.task.references)
        draw_kl(others[1], trajectory, names, "kl_references", starts, log_steps=True)
    more = "; KL to n-gram models with context length c" if compared else ""
    words = f"Over training steps (logarithmic): excess loss, dotted that of each rung; KL to each rung{more}."
    return captioned(figure, f"{words} {CURVES} {STAGES}", [run])


def with_pictures(figures: dict[str, Figure], runs: Mapping[str, Run]) -> dict[str, Figure]:
    """The figures, and under the name of each run that kept attention matrices a figure of them."""
    kept = {name: run for name, run in runs.items() if "attention" in run[1] and len(run[1].times("attention"))}
    return {**figures, **{name: figure_pictures(run) for name, run in kept.items()}}


@styled
def figure_pictures(run: Run) -> Figure:
    """The sum of the heads' attention at the start, near each rung and at the end, of a seed that went well."""
    settings, trajectory = run
    seed = telling_seed(trajectory)
    steps = pictured_steps(trajectory, seed)
    rows = -(-len(steps) // COLUMNS)
    columns = -(-len(steps) // rows)
    rows *= trajectory["attention"].shape[2]
    # Wide enough for a title at any number of columns, and no larger than a panel of Figure 2.
    figure = new_figure(PAGE_WIDTH, 0.3 + rows * _panel_height(settings, max(columns, FEWEST)))
    draw_attention(figure, trajectory, seed, steps, settings.task.blocks, columns=columns)
    return captioned(
        figure,
        f"""The attention of all heads together at chosen steps t of one seed. {TOGETHER}""",
    )


def _panel_height(settings: Any, columns: int) -> float:
    """Inches that a matrix of this shape takes, with its title and the bars below it."""
    return (PAGE_WIDTH - 0.4) / columns * settings.task.horizon / settings.task.reads + 0.4


def pictured_steps(trajectory: Trajectory, seed: int) -> tuple[int, ...]:
    """The start, the snapshot nearest to each rung and the end; where those are few, what is least like them."""
    snapshots = trajectory.times("attention")
    pictures = np.nan_to_num(trajectory["attention"][seed_row(trajectory, seed)]).reshape(len(snapshots), -1)
    chosen = np.isin(snapshots, [*telling_steps(trajectory, seed), snapshots[-1]])
    while chosen.sum() < min(FEWEST, len(snapshots)):
        unlike = np.abs(pictures[:, None] - pictures[chosen]).mean(axis=2).min(axis=1)
        chosen[np.argmax(np.where(chosen, -1, unlike))] = True
    return tuple(int(step) for step in snapshots[chosen])
