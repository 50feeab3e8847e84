"""Plateaus and transitions of every task: a ladder each, and how long runs wait against what a rung gains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.analysis.transitions import Transitions, ladder_of, transitions
from headway.records import Trajectory
from headway.report.captions import CURVES, captioned
from headway.report.colours import INK, MUTED, head_colours
from headway.report.figures.lines import draw_seeds
from headway.report.figures.style import DASHES, PAGE_WIDTH, dress, new_figure, styled


@styled
def figure_ladders(runs: Mapping[str, tuple[Any, Trajectory]]) -> Figure:
    """The loss of one run of each task between its rungs, 1 at the first and 0 at the last, over the log of time."""
    columns = min(3, max(1, len(runs)))
    rows = -(-len(runs) // columns)
    figure = new_figure(PAGE_WIDTH, 0.4 + 1.5 * rows)
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    for place, (axes, (name, (_, trajectory))) in enumerate(zip(panels, runs.items(), strict=False)):
        _draw_ladder(axes, trajectory)
        axes.set_title(name)
        axes.set_ylabel("way to the last rung" if place % columns == 0 else "")
    for axes in panels[len(runs) :]:
        axes.remove()
    alone = [name for name, (_, trajectory) in runs.items() if ladder_of(trajectory) is None]
    without = f" ({', '.join(alone)}: to 1 half-way through the plateau and 0 at no loss)" if alone else ""
    return captioned(
        figure,
        f"""The loss of one run of each task over training steps (logarithmic), scaled to 1 at the first rung and
        0 at the last{without}. Above 1.25 it is cut off. Dashed: rungs; vertical lines: the ends of plateaus,
        medians over seeds. {CURVES}""",
        runs.values(),
    )


@styled
def figure_waits(found: Mapping[str, list[Transitions]]) -> Figure:
    """Every plateau of every seed: its length against the gain of the rung that ends it, both relative to its seed."""
    figure = new_figure(PAGE_WIDTH, 2.9)
    axes = figure.subplots()
    dress(axes)
    for (name, runs), colour in zip(found.items(), head_colours(len(found)), strict=True):
        gains, waits = [], []
        for run in runs:
            own = np.where((run.waits > 0) & (run.gains > 0), run.waits, np.nan)
            many = np.isfinite(own).sum(axis=1) > 1
            if not many.any():
                continue
            own, gain = own[many], run.gains[many]
            waits.append((own / np.exp(np.nanmean(np.log(own), axis=1, keepdims=True))).ravel())
            gain = np.where(gain > 0, gain, np.nan)
            gains.append((gain / np.exp(np.nanmean(np.log(gain), axis=1, keepdims=True))).ravel())
        if not waits:
            continue
        axes.scatter(
            np.concatenate(gains), np.concatenate(waits), s=4, alpha=0.5, color=colour, label=name, linewidth=0
        )
    line = np.array([0.05, 20.0])
    axes.margins(0.03)
    axes.plot(line, 1 / line, color=MUTED, linewidth=0.8, linestyle=DASHES, label="1 / gain")
    axes.set(xscale="log", yscale="log")
    axes.set_xlabel("gain of the next rung, relative to the seed's mean")
    axes.set_ylabel("plateau, relative to the seed's mean")
    figure.legend(loc="outside right center", markerscale=3)
    return captioned(
        figure,
        """Length of every plateau of every seed against the gain of the rung that ends it, each relative to its
        geometric mean in the seed; one colour for each task. Dashed: length proportional to 1 / gain.""",
    )


def _draw_ladder(axes: Axes, trajectory: Trajectory) -> None:
    dress(axes)
    curve, own = _levels(trajectory)
    top, bottom = own[0], own[-1]
    times = trajectory.times(curve)
    after = times > 0
    values = (np.asarray(trajectory[curve], float)[:, after] - bottom) / (top - bottom)
    draw_seeds(axes, times[after], values, INK, "loss")
    for level in (own - bottom) / (top - bottom):
        axes.axhline(float(level), color=MUTED, linewidth=0.6, linestyle=DASHES)
    found = transitions(trajectory)
    if found is not None:
        for middle in np.nanmedian(np.where(np.isfinite(found.times), found.times, np.nan), axis=0):
            if np.isfinite(middle):
                axes.axvline(float(middle), color=MUTED, linewidth=0.5)
    axes.set_xscale("log")
    axes.set_xlim(max(1.0, times[after][0]), times[-1])
    axes.set_ylim(-0.05, 1.25)
    axes.set_xlabel("training steps")


def has_ladder(trajectory: Trajectory) -> bool:
    """Whether it can be drawn: with the losses of its rungs, or with a loss and when its one plateau ended."""
    if ladder_of(trajectory) is not None:
        return True
    known = "loss" in trajectory and "plateau" in trajectory.facts
    return known and np.issubdtype(trajectory.times("loss").dtype, np.integer)


def _levels(trajectory: Trajectory) -> tuple[str, np.ndarray]:
    """A curve and the losses of its rungs; of a run that only says when its plateau ended, the loss there and zero."""
    found = ladder_of(trajectory)
    if found is not None:
        return found[0], np.median(found[1], axis=0)
    values, ends = np.asarray(trajectory["loss"], float), np.asarray(trajectory.facts["plateau"], float)
    half = np.searchsorted(trajectory.times("loss"), np.nanmedian(ends) / 2)
    return "loss", np.array([np.median(values[:, min(half, values.shape[1] - 1)]), 0.0])
