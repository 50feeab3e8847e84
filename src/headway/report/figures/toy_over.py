"""A prediction of paper B's toy over what it predicts: along one run, and over the plateaus of all."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullFormatter

from headway.records import Trajectory
from headway.report.colours import INK, MUTED
from headway.report.figures.lines import median_over_seeds, moving_values
from headway.report.figures.runs import run_colours
from headway.report.figures.style import DASHES, DOTS, PAGE_WIDTH, dress, new_figure, styled
from headway.report.figures.toy import COLOURS, NAMES, Look, ToyRun, case_name, largest, times_of

LOOKS: tuple[Look, Look] = ({"linewidth": 2.4, "alpha": 0.45}, {"linewidth": 1.1, "linestyle": DASHES})
"""Of what was measured, and of what was predicted."""


@styled
def figure_over(prediction: ToyRun, measurement: ToyRun, names: tuple[str, str]) -> Figure:
    """A prediction, dashed, over what it predicts: loss, attention and W at the largest size, and all plateaus."""
    settings, _ = measurement
    cases = largest(settings)
    figure = new_figure(PAGE_WIDTH, 2.2)
    panels = figure.subplots(1, 3)
    for (_, trajectory), look in zip((measurement, prediction), LOOKS, strict=True):
        for case, colour in zip(cases, run_colours(len(cases)), strict=True):
            times = times_of(trajectory, case)
            panels[0].plot(times, _median(trajectory, "loss", case), color=colour, **look)
            for name, shade in (COLOURS if len(cases) == 1 else dict.fromkeys(COLOURS, colour)).items():
                panels[1].plot(times, _median(trajectory, name, case), color=shade, **look)
    for axes, label, top in zip(panels, ("loss", "attention and W"), (0.55, 1.6), strict=False):
        dress(axes)
        axes.set_ylabel(label)
        axes.set_xlabel("time")
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axes.set_ylim(0, top)
        ends = measurement[1].facts["plateau"][:, cases]
        if np.isfinite(ends).any():
            axes.set_xlim(0, 1.5 * float(ends[np.isfinite(ends)].max()))
    panels[0].set_title(case_name(settings, cases[-1], with_repetition=len(cases) == 1))
    dress(panels[2])
    _draw_ratios(panels[2], prediction, measurement)
    _name_looks(figure, names, with_quantities=len(cases) == 1)
    return figure


@styled
def figure_late(prediction: ToyRun, measurement: ToyRun, names: tuple[str, str]) -> Figure:
    """What follows once W is at its best, on logarithmic time from there: attention and W, and the loss, as 1/(4t).

    The prediction is laid on the measurement where both have the attention that the measurement has when W is largest.
    """
    settings, trajectory = measurement
    case = len(settings.cases) - 1
    figure = new_figure(PAGE_WIDTH, 2.2)
    shares, losses = figure.subplots(1, 2)
    best = _median(trajectory, "value", case)
    level = _median(trajectory, "focus", case)[np.nanargmax(best)] if np.isfinite(best).any() else 0.5
    for (_, each), look in zip((measurement, prediction), LOOKS, strict=True):
        later = times_of(each, case)
        later = later - _time_of(later, _median(each, "focus", case), float(level))
        for axes, quantity, colour in ((losses, "loss", INK), *((shares, name, COLOURS[name]) for name in COLOURS)):
            curve = _median(each, quantity, case)
            kept = (later > 0) & np.isfinite(curve)
            axes.plot(later[kept], curve[kept], color=colour, **look)
    for axes, label in ((shares, "attention and W"), (losses, "loss")):
        dress(axes)
        axes.set_ylabel(label)
        axes.set_xlabel("time since W is at its best")
        if axes.lines and any(len(np.asarray(line.get_xdata())) for line in axes.lines):
            axes.set_xscale("log")
    if losses.get_xscale() == "log":
        losses.set_yscale("log")
        losses.yaxis.set_minor_formatter(NullFormatter())
        line = np.geomspace(*losses.get_xlim(), 30)
        low, high = losses.get_ylim()
        losses.plot(line, 1 / (4 * line), color=MUTED, linewidth=0.8, linestyle=DOTS, label="1/(4t)")
        losses.set_ylim(low, high)
        losses.legend(loc="lower left")
    shares.set_title(case_name(settings, case))
    _name_looks(figure, names, with_quantities=True)
    return figure


def _median(trajectory: Trajectory, name: str, case: int) -> np.ndarray:
    return median_over_seeds(moving_values(trajectory, name)[:, :, case])


def _time_of(times: np.ndarray, rising: np.ndarray, level: float) -> float:
    """When a rising curve is at a level."""
    known = np.isfinite(rising)
    return float(np.interp(level, rising[known], times[known])) if known.any() else 0.0


def _name_looks(figure: Figure, names: tuple[str, str], *, with_quantities: bool) -> None:
    """Below all panels: which lines are predicted, which measured, and which colour is what."""
    keys = [Line2D([], [], color=INK, label=name, **look) for name, look in zip(names[::-1], LOOKS, strict=True)]
    if with_quantities:
        keys += [Line2D([], [], color=colour, label=NAMES[name]) for name, colour in COLOURS.items()]
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))


def _draw_ratios(axes: Axes, prediction: ToyRun, measurement: ToyRun) -> None:
    """Predicted over measured plateaus of every case, against what was measured."""
    settings, trajectory = measurement
    measured, said = trajectory.facts["plateau"], prediction[1].facts["plateau"]
    known = np.isfinite(measured) & np.isfinite(said)
    ratios = np.where(known, said, np.nan) / np.where(known, measured, 1.0)
    sizes = sorted({case[0] for case in settings.cases})
    for size, colour in zip(sizes, run_colours(len(sizes)), strict=True):
        chosen = [index for index, case in enumerate(settings.cases) if case[0] == size]
        x, y = median_over_seeds(np.where(known, measured, np.nan)[:, chosen]), median_over_seeds(ratios[:, chosen])
        axes.plot(x, y, "o", color=colour, markersize=3.2, markeredgewidth=0, label=f"d = {size}")
    axes.axhline(1, color=MUTED, linewidth=0.7, linestyle=DOTS)
    if known.any():
        axes.set_xscale("log")
        axes.margins(x=0.1, y=0.2)
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("plateau")
    axes.set_ylabel("predicted / measured plateau")
    axes.legend(loc="best")
