"""Figure 4 and its kin: the excess loss of several runs over training, on one pair of axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogFormatterMathtext, LogLocator, NullFormatter

from headway.records import Trajectory
from headway.report.captions import CURVES, captioned
from headway.report.colours import MUTED, run_colours
from headway.report.figures.ends import name_ends, note_above
from headway.report.figures.lines import Run, draw_seeds, from_zero, longest_times, moving_values, time_axis
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled

FLOOR = 1e-4
"""Nats: the lowest that a logarithmic axis goes; below, the test sequences decide more than the model."""


@styled
def figure_family(runs: Mapping[str, Run], *, plateaus: Sequence[float] = ()) -> Figure:
    """Excess loss of every run over training, one colour a run; left on the paper's axes, right on logarithmic ones.

    The right panel is there for the first steps and the low plateaus, which the left one presses onto its edges.
    `plateaus` are published ones: dotted lines, on the right.
    """
    figure = new_figure(PAGE_WIDTH, 2.3)
    plain, logarithmic = figure.subplots(1, 2, width_ratios=(1, 1.05))
    trajectories = {name: trajectory for name, (_, trajectory) in runs.items()}
    colours = run_colours(len(runs))
    for axes in (plain, logarithmic):
        dress(axes)
        lines = draw_runs(axes, trajectories, "excess_loss", colours, log_steps=axes is logarithmic)
        axes.set_ylabel("excess loss (nats)")
    from_zero(plain)
    log_axis(logarithmic, [np.asarray(line.get_ydata()) for line in lines])
    _draw_published(logarithmic, plateaus)
    name_ends(logarithmic, lines)
    dotted = " Dotted lines, right: levels published in the paper." if len(plateaus) else ""
    words = "Excess loss over training steps, one colour for each run: left on linear axes, right on logarithmic ones."
    return captioned(figure, f"{words} {CURVES}{dotted}", runs.values())


def draw_runs(
    axes: Axes, trajectories: Mapping[str, Trajectory], quantity: str, colours: Sequence[str], *, log_steps: bool
) -> list[Line2D]:
    """Seeds thin, medians thick and returned; the first the thickest, so that runs that go together stay visible."""
    lines = [
        draw_seeds(axes, trajectory.times(quantity), moving_values(trajectory, quantity), colour, name)
        for (name, trajectory), colour in zip(trajectories.items(), colours, strict=True)
    ]
    for line, width in zip(lines, np.linspace(2.2, 1.1, len(lines)), strict=True):
        line.set_linewidth(float(width))
    time_axis(axes, longest_times(list(trajectories.values()), quantity), log=log_steps)
    return lines


def _draw_published(axes: Axes, plateaus: Sequence[float]) -> None:
    """A dotted line at each plateau of the paper, named inside, on the left, where no curve is that low yet."""
    for number, plateau in enumerate(plateaus):
        axes.axhline(plateau, color=MUTED, linewidth=0.8, linestyle=(0, (1, 1.6)), zorder=1)
        words = f"{plateau:g}" + (" published" if number == 0 else "")
        note_above(axes, words, (0.015, plateau), ("axes fraction", "data"), "left")


def log_axis(axes: Axes, curves: Sequence[np.ndarray], floor: float = FLOOR) -> None:
    """A logarithmic axis of a decade or more that holds all of the curves above `floor`; the rest is at its foot."""
    numbers = np.concatenate([np.ravel(curve).astype(float) for curve in curves] or [np.empty(0)])
    above = numbers[np.isfinite(numbers) & (numbers > floor)]
    low, high = (above.min(), above.max()) if above.size else (0.1, 1.0)
    spare = max(1.3, np.sqrt(10 * low / high))
    low, high = max(low / spare, floor), high * spare
    # Limits before the scale, which else looks for some by itself and complains where nothing is above 0.
    axes.set_ylim(low, high)
    axes.set_yscale("log", nonpositive="clip")
    narrow = high < 300 * low
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0) if narrow else (1.0,), numticks=8))
    axes.yaxis.set_major_formatter("{x:g}" if narrow else LogFormatterMathtext())
    axes.yaxis.set_minor_locator(LogLocator(subs="all", numticks=20))
    axes.yaxis.set_minor_formatter(NullFormatter())
