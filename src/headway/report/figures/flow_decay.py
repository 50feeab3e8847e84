"""Boundaries of the flow and its last loss against weight decay; gradient descent with the same decay as crosses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headway.claims.flow_decay import by_decay, is_solved, times_table
from headway.claims.stage_times import StageTimesRun
from headway.claims.theory_over_training import boundaries_of, decay_of
from headway.records import Trajectory
from headway.report.captions import captioned
from headway.report.colours import INK, MUTED, rung_colours
from headway.report.figures.style import DASHES, PAGE_WIDTH, dress, new_figure, styled

NOTHING = 0.4
"""Of the smallest decay: where no decay has its place on a logarithmic axis."""


@styled
def figure_flow_decay(runs: Sequence[tuple[Any, Trajectory]], formula: Callable[[float, float, int], float]) -> Figure:
    """Left: every boundary, a colour each, seeds as dots; right: the last loss, and what `formula` says of it."""
    flows = by_decay(tuple(run for run in runs if is_solved(run[0])))
    decays = np.array([settings.weight_decay for settings, _ in flows])
    places = np.where(decays > 0, decays, NOTHING * decays[decays > 0].min())
    figure = new_figure(PAGE_WIDTH, 2.3)
    left, right = figure.subplots(1, 2)
    colours = rung_colours(flows[0][0].features + 1)[1:]
    _draw_boundaries(left, flows, places, colours)
    descended = [run for run in runs if not is_solved(run[0])]
    for settings, trajectory in descended:
        found = boundaries_of((settings, trajectory))
        for column, colour in zip(found.T, colours, strict=True):
            met = column[np.isfinite(column)]
            left.plot([decay_of(settings)] * len(met), met, "x", color=colour, markersize=4, zorder=4)
    _draw_ends(right, flows, formula)
    ticks = [place for place in places if place >= places[1]]
    left.set_xticks([places[0], *ticks[::2]], ["0", *(f"{tick:g}" for tick in ticks[::2])])
    handles = [Line2D([], [], color=colour, linewidth=1.3) for colour in colours]
    names = [f"$t_{k + 1}$" for k in range(len(colours))]
    if descended:
        handles.append(Line2D([], [], color=INK, marker="x", linestyle="", markersize=4))
        names.append("gradient descent")
    figure.legend(handles, names, loc="outside upper center", ncols=len(handles))
    return captioned(
        figure,
        f"""The gradient flow with weight decay. Left: boundaries, at which features are learnt, against the decay; dots
        are seeds, lines medians{", crosses gradient descent" if descended else ""}. Right: the loss at the end,
        against the decay; dashed: one head for each feature, in closed form.""",
        runs,
    )


def _draw_boundaries(axes: Axes, flows: list[StageTimesRun], places: np.ndarray, colours: Sequence[str]) -> None:
    dress(axes)
    axes.set(xscale="log", yscale="log", xlabel=r"weight decay $\lambda$", ylabel="boundary")
    times = np.where(np.isfinite(times_table(flows)), times_table(flows), np.nan)
    for stage, colour in enumerate(colours):
        known = np.isfinite(times[:, :, stage]).any(axis=1)
        if known.any():
            axes.plot(places[known], np.nanmedian(times[known, :, stage], axis=1), color=colour, linewidth=1.3)
        for place, row in zip(places, times[:, :, stage], strict=True):
            axes.plot([place] * len(row), row, ".", color=colour, markersize=2.5, alpha=0.5)
            lost = int(np.isnan(row).sum())
            if lost:
                look: dict[str, Any] = {"color": colour, "fontsize": 5.5, "ha": "center", "va": "top", "rotation": 90}
                height = 0.99 - 0.3 * (len(colours) - 1 - stage)
                axes.text(place, height, f"{lost}/{len(row)} never", transform=axes.get_xaxis_transform(), **look)
    axes.minorticks_off()


def _draw_ends(axes: Axes, flows: list[StageTimesRun], formula: Callable[[float, float, int], float]) -> None:
    dress(axes)
    axes.set(xscale="log", yscale="log", xlabel=r"weight decay $\lambda$", ylabel="last loss")
    decayed = [run for run in flows if run[0].weight_decay > 0]
    places = np.array([settings.weight_decay for settings, _ in decayed])
    losses = np.stack([np.asarray(trajectory.facts["last_loss"]) for _, trajectory in decayed])
    axes.plot(places, np.median(losses, axis=1), color=INK, linewidth=1.3)
    for place, row in zip(places, losses, strict=True):
        axes.plot([place] * len(row), row, ".", color=INK, markersize=2.5, alpha=0.5)
    wanted = [sum(formula(m, s.weight_decay, s.length) for m in s.strengths) for s, _ in decayed]
    axes.plot(places, wanted, color=MUTED, linestyle=DASHES, linewidth=1.0, label="one head per feature")
    axes.legend(loc="upper left")
