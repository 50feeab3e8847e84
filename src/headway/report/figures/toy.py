"""Paper B's toy over time: loss, attention and W of one case, or of every share p of a repeated vector."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from headway.records import Trajectory
from headway.report.colours import COMPETITION_COLOUR, COOPERATION_COLOUR, INK, MUTED
from headway.report.figures.ends import note_above
from headway.report.figures.lines import draw_seeds, median_over_seeds, moving_values
from headway.report.figures.runs import run_colours
from headway.report.figures.style import DASHES, DOTS, PAGE_WIDTH, dress, new_figure, styled
from headway.settings import ToySettings

Look = dict[str, Any]
ToyRun = tuple[ToySettings, Trajectory]
NAMES = {"focus": "attention on the token", "value": r"$\langle W, W_*\rangle / d$"}
COLOURS = {"focus": COOPERATION_COLOUR, "value": COMPETITION_COLOUR}


@styled
def figure_transition(run: ToyRun) -> Figure:
    """The largest case. Left: the loss, where its plateau ends, and the threshold. Right: attention and W."""
    settings, trajectory = run
    case = len(settings.cases) - 1
    times = times_of(trajectory, case)
    figure = new_figure(PAGE_WIDTH, 2.0)
    left, right = figure.subplots(1, 2)
    draw_seeds(left, times, moving_values(trajectory, "loss")[:, :, case], INK, "loss")
    left.axhline(settings.threshold, color=MUTED, linewidth=0.7, linestyle=DOTS)
    note_above(left, f"threshold {settings.threshold:g}", (0.02, settings.threshold), ("axes fraction", "data"), "left")
    left.set_ylabel("loss")
    for name in ("value", "focus"):
        draw_seeds(right, times, moving_values(trajectory, name)[:, :, case], COLOURS[name], NAMES[name])
    right.axhline(1, color=MUTED, linewidth=0.7, linestyle=DOTS)
    right.set_ylabel("share")
    right.legend(loc="upper left")
    ends = trajectory.facts["plateau"][:, case]
    for axes in (left, right):
        dress(axes)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("steps")
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        if np.isfinite(ends).any():
            axes.axvline(float(np.median(ends[np.isfinite(ends)])), color=MUTED, linewidth=0.7, linestyle=DASHES)
            axes.set_xlim(0, 1.5 * float(np.max(ends[np.isfinite(ends)])))
    left.set_title(case_name(settings, case))
    return figure


@styled
def figure_repeated(run: ToyRun) -> Figure:
    """Every share p of one size: the loss without repetition, attention, and W where it repeats and where not."""
    settings, trajectory = run
    cases = largest(settings)
    figure = new_figure(PAGE_WIDTH, 2.2)
    panels = figure.subplots(1, 3)
    for case, colour in zip(cases, run_colours(len(cases)), strict=True):
        times, name = times_of(trajectory, case), f"p = {settings.cases[case][3]:g}"
        size = settings.cases[case][0]
        loss, attention, value, repeated = (
            median_over_seeds(moving_values(trajectory, quantity)[:, :, case])
            for quantity in ("loss", "focus", "value", "repeated_value")
        )
        panels[0].plot(times, loss, color=colour, linewidth=1.3, label=name)
        panels[1].plot(times, attention, color=colour, linewidth=1.3)
        panels[2].plot(times, (size * value - repeated) / (size - 1), color=colour, linewidth=1.3)
        panels[2].plot(times, repeated, color=colour, linewidth=1.0, linestyle=DASHES)
    for axes, label in zip(panels, ("loss without repetition", "attention on the token", "share of W"), strict=True):
        dress(axes)
        axes.set_ylabel(label)
        axes.set_xlabel("steps")
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axes.set_ylim(bottom=0)
    panels[0].set_title(case_name(settings, cases[0], with_repetition=False))
    keys = [*panels[0].get_lines(), Line2D([], [], color=MUTED, label="W, other directions")]
    keys.append(Line2D([], [], color=MUTED, linestyle=DASHES, label="W, repeated vector"))
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))
    return figure


def largest(settings: ToySettings) -> list[int]:
    """The cases of the largest d and T: one for every B and p."""
    count = len(settings.copies) * len(settings.repeated)
    return list(range(len(settings.cases) - count, len(settings.cases)))


def times_of(trajectory: Trajectory, case: int) -> np.ndarray:
    """Steps, or flow time, at which a case was seen."""
    return trajectory.times("loss") * trajectory.facts["closed_form"][0, case]


def case_name(settings: ToySettings, case: int, *, with_repetition: bool = True) -> str:
    """d = 64, T = 256; copies and repetition where there are any."""
    dimension, length, copies, repeated = settings.cases[case]
    more = (f", B = {copies}" if copies > 1 else "") + (f", p = {repeated:g}" if repeated else "")
    return f"d = {dimension}, T = {length}{more if with_repetition else ''}"
