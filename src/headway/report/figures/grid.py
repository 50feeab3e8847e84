"""Small multiples: KL to the rungs over training, one panel a run, all on the same axes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headway.analysis.seed_stages import stage_starts
from headway.records import Trajectory
from headway.report.captions import CURVES, STAGES, captioned
from headway.report.colours import MUTED, rung_colours
from headway.report.figures.curves import rung_names
from headway.report.figures.ends import name_ends
from headway.report.figures.lines import (
    Run,
    draw_seeds,
    longest_times,
    mark_stages,
    median_over_seeds,
    moving_values,
    time_axis,
)
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled

HEADROOM = 1.5
"""A seed may leave the axes upwards, where it is more than this many times above every median: it would flatten all."""


@styled
def figure_grid(runs: Mapping[str, Run]) -> Figure:
    """KL(rung || model) over log steps, a panel for each run under its name, stages marked."""
    columns = min(len(runs), 2 if len(runs) == 4 else 3)
    rows = -(-len(runs) // columns)
    figure = new_figure(PAGE_WIDTH, 0.3 + 1.5 * rows)
    panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    trajectories = [trajectory for _, trajectory in runs.values()]
    lines = [_draw_rungs(axes, trajectory) for axes, trajectory in zip(panels, trajectories, strict=False)]
    # Limits first, and the same for all: names and stages find their places by them.
    time_axis(panels[0], longest_times(trajectories, "kl_rungs"), log=True)
    panels[0].set_ylim(0, _top(trajectories))
    for place, (axes, (name, (_, trajectory))) in enumerate(zip(panels, runs.items(), strict=False)):
        mark_stages(axes, stage_starts(trajectory))
        known = [line for line in lines[place] if np.isfinite(np.asarray(line.get_ydata(), float)).any()]
        name_ends(axes, known, gap=0.13)
        if not known:
            axes.text(0.5, 0.5, "no numbers", transform=axes.transAxes, ha="center", va="center", color=MUTED)
        axes.set_title(name, pad=11)
        axes.set_xlabel("training steps" if place >= columns * (rows - 1) else "")
        axes.set_ylabel("KL divergence" if place % columns == 0 else "")
        # A panel with nothing below it needs its own numbers, and then all get some, for even gaps.
        axes.tick_params(labelbottom=len(runs) < len(panels) or place >= columns * (rows - 1))
    for axes in panels[len(runs) :]:
        axes.remove()
    return captioned(
        figure,
        f"""KL to each rung over training steps (logarithmic), one panel for each run. {CURVES} {STAGES}""",
        runs.values(),
    )


def _draw_rungs(axes: Axes, trajectory: Trajectory) -> list[Line2D]:
    dress(axes)
    values, times = moving_values(trajectory, "kl_rungs"), trajectory.times("kl_rungs")
    rungs = values.shape[2] - 1
    return [
        draw_seeds(axes, times, values[..., rung], colour, name)
        for rung, (name, colour) in enumerate(zip(rung_names(rungs), rung_colours(rungs), strict=True), start=1)
    ]


def _top(trajectories: list[Trajectory]) -> float:
    """The highest seed, or what the highest median leaves as headroom."""
    values = [moving_values(trajectory, "kl_rungs")[..., 1:] for trajectory in trajectories]
    seeds = max((np.fmax.reduce(each, axis=None, initial=0.0) for each in values), default=0.0)
    medians = max((np.fmax.reduce(median_over_seeds(each), axis=None, initial=0.0) for each in values), default=0.0)
    return 1.05 * min(seeds, HEADROOM * medians) or 1.0
