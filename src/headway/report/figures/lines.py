"""Curves over training: every seed as a thin line, their median as a thick one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator

from headway.records import Trajectory
from headway.report.colours import MUTED
from headway.report.figures.ends import note_above

Run = tuple[Any, Trajectory]
"""Settings, and what was measured."""
Steps = Sequence[int | float] | np.ndarray
StageStarts = Steps
"""Steps at which stages 1, 2, .. begin: one for each, or (seed, stage) with NaN where a seed has none."""
START = "start"
"""The time before stage 1, as the page calls it, too."""
ROOM = 0.2
"""Share of the width of a panel that "stage 1" needs, one of two in a row or alone; "start" needs half of it."""


def moving_values(trajectory: Trajectory, name: str) -> np.ndarray:
    """The array `name`, with NaN from where a seed diverged: what it repeats from there is not learning."""
    values = np.array(trajectory[name], dtype=float)
    values[~np.isfinite(values)] = np.nan
    if "diverged_at" in trajectory.facts:
        diverged_at = np.asarray(trajectory.facts["diverged_at"])[:, None]
        values[(diverged_at >= 0) & (trajectory.times(name)[None] >= diverged_at)] = np.nan
    return values


def median_over_seeds(values: np.ndarray) -> np.ndarray:
    """Median of the seeds that have a number, and NaN where none has."""
    median = np.full(values.shape[1:], np.nan)
    known = np.isfinite(values).any(axis=0)
    median[known] = np.nanmedian(values[:, known], axis=0)
    return median


def draw_seeds(axes: Axes, times: np.ndarray, values: np.ndarray, colour: str, label: str, **look: Any) -> Line2D:
    """Thin lines for the rows of `values` (seed, time), and a thick one, returned, for their median."""
    if len(values) > 1:
        for row in values:
            axes.plot(times, row, color=colour, linewidth=0.5, alpha=0.35, zorder=2, **look)
    (thick,) = axes.plot(times, median_over_seeds(values), color=colour, linewidth=1.5, label=label, zorder=3, **look)
    return thick


def draw_stopping(axes: Axes, times: np.ndarray, values: np.ndarray, colour: str, label: str, **look: Any) -> Line2D:
    """Every seed as far as it went, and their median, returned, in which a seed that stopped stays where it was."""
    line = draw_seeds(axes, times, values, colour, label, **look)
    line.set_ydata(lasting_median(values))
    return line


def lasting_median(values: np.ndarray) -> np.ndarray:
    """Median over seeds of (seed, time), each number going on until the next: (time,)."""
    places = np.where(np.isfinite(values), np.arange(values.shape[1]), -1)
    last = np.maximum.accumulate(places, axis=1) if values.shape[1] else places
    filled = np.where(last >= 0, np.take_along_axis(values, np.maximum(last, 0), axis=1), np.nan)
    median = median_over_seeds(filled)
    # Behind the last seed's stop nothing is known.
    known = np.flatnonzero(np.isfinite(values).any(axis=0))
    median[known[-1] + 1 if len(known) else 0 :] = np.nan
    return median


def longest_times(trajectories: list[Trajectory], name: str) -> np.ndarray:
    """The times of the array `name` in the run that went on for longest; none without a run."""
    clocks = [trajectory.times(name) for trajectory in trajectories]
    return max(clocks, key=lambda times: times[-1] if len(times) else -1, default=np.empty(0))


def name_lines(axes: Axes, lines: list[Line2D]) -> None:
    """The name of each line beside its end, which no curve can run through as it can through a legend."""
    ends = []
    for line in lines:
        heights = np.asarray(line.get_ydata(), dtype=float)
        known = heights[np.isfinite(heights)]
        ends.append(known[-1] if known.size else np.nan)
    names, colours = [str(line.get_label()) for line in lines], [str(line.get_color()) for line in lines]
    name_on_the_right(axes, np.array(ends), names, colours)


def name_on_the_right(axes: Axes, heights: np.ndarray, names: Sequence[str], colours: Sequence[str]) -> None:
    """Names to the right of the axes, at these heights or as little above them as needed to be legible."""
    low, high = axes.get_ylim()
    places = spread((heights - low) / (high - low), 0.09)
    for place, name, colour in zip(places, names, colours, strict=True):
        if np.isfinite(place):
            axes.text(1.02, place, name, transform=axes.transAxes, va="center", color=colour)


def spread(places: np.ndarray, gap: float) -> np.ndarray:
    """The least move upwards that keeps labels at least `gap` apart, in their order."""
    moved = np.array(places, dtype=float)
    order = [index for index in np.argsort(moved, kind="stable") if np.isfinite(moved[index])]
    for below, above in pairwise(order):
        moved[above] = max(moved[above], moved[below] + gap)
    return moved


def time_axis(axes: Axes, times: np.ndarray, log: bool) -> None:
    """Training steps, evenly or logarithmically; step 0 keeps a place on the logarithmic axis."""
    axes.set_xlabel("training steps")
    last = max(float(times[-1]), 1.0) if len(times) else 1.0
    if log:
        axes.set_xscale("symlog", linthresh=1, linscale=0.4)
        decades = [10.0**power for power in range(int(np.log10(last)) + 1)]
        axes.xaxis.set_major_locator(FixedLocator([0, *decades]))
        axes.xaxis.set_minor_locator(FixedLocator([part * decade for decade in decades for part in range(2, 10)]))
        axes.xaxis.set_major_formatter("{x:.0f}")
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.set_xlim(0, last)


def from_zero(axes: Axes) -> None:
    """Let the vertical axis start at zero, unless something was drawn below it."""
    low, _ = axes.get_ylim()
    lowest = axes.dataLim.y0
    axes.set_ylim(bottom=low if np.isfinite(lowest) and lowest < -0.02 * axes.dataLim.height else 0.0)


def mark_stages(axes: Axes, starts: StageStarts | None) -> None:
    """A dashed line where the median seed enters each stage and a shade over the range; the stages' numbers above."""
    if starts is None or np.size(starts) == 0:
        return
    steps = np.atleast_2d(np.asarray(starts, dtype=float))
    medians = median_over_seeds(steps)
    first = axes.get_xlim()[0]
    for entered, median in zip(steps.T, medians, strict=True):
        if not median > first:  # from the first step on, or in no seed
            continue
        if len(steps) > 1:
            axes.axvspan(np.nanmin(entered), np.nanmax(entered), color=MUTED, alpha=0.10, linewidth=0, zorder=0)
        axes.axvline(median, color=MUTED, linewidth=0.7, linestyle=(0, (4, 2.5)), zorder=1)
    known = sorted((float(median), number) for number, median in enumerate(medians, start=1) if np.isfinite(median))
    name_stages(axes, known)


def name_stages(axes: Axes, starts: Sequence[tuple[float, int]], room: float | None = None) -> None:
    """Above each stage, given as (when it begins, its number), that number, and the word where there is room for it.

    What comes before the first of them is the start.
    """
    if not starts:
        return
    times, numbers = zip(*starts, strict=True)
    spec = axes.get_subplotspec()
    room = ROOM * max(1.0, spec.get_gridspec().ncols / 2 if spec else 1.0) if room is None else room
    # Places as seen: on a logarithmic axis the middle of a stage is not the middle in steps.
    left, right = axes.get_xlim()
    scale = axes.transScale.transform([(time, 1.0) for time in (left, right, *np.clip(times, left, right))])[:, 0]
    edges = [0.0, *(scale[2:] - scale[0]) / (scale[1] - scale[0]), 1.0]
    for number, (begin, end) in zip((0, *numbers), pairwise(edges), strict=True):
        words = (f"stage {number}" if end - begin > room else f"{number}") if number else START
        if number or end - begin > room / 2:
            note_above(axes, words, ((begin + end) / 2, 1.0), ("axes fraction", "axes fraction"), "center")
