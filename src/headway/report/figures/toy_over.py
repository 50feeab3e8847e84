"""A prediction of paper B's toy over what it predicts: along one run, and over the plateaus of all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullFormatter

from headway.report.captions import captioned
from headway.report.colours import INK, MUTED, run_colours
from headway.report.figures.lines import median_over_seeds
from headway.report.figures.style import DASHES, DOTS, PAGE_WIDTH, dress, new_figure, styled
from headway.report.figures.toy import (
    COLOURS,
    NAMES,
    Look,
    ToyRun,
    ends_of,
    median_of,
    sizes_of,
    times_of,
    without_repetition,
)

LOOKS: tuple[Look, Look] = ({"linewidth": 2.4, "alpha": 0.45}, {"linewidth": 1.1, "linestyle": DASHES})
"""Of what was measured, and of what was predicted."""


@styled
def figure_over(predictions: Sequence[ToyRun], measurements: Sequence[ToyRun], names: tuple[str, str]) -> Figure:
    """Predictions, dashed, over what they predict: loss, attention and W at the largest size, and all plateaus."""
    shown = largest(measurements)
    figure = new_figure(PAGE_WIDTH, 2.2)
    panels = figure.subplots(1, 3)
    for runs, look in zip((shown, largest(predictions)), LOOKS, strict=True):
        for run, colour in zip(runs, run_colours(len(runs)), strict=True):
            times, trajectory = times_of(run), run[1]
            panels[0].plot(times, median_of(trajectory, "loss"), color=colour, **look)
            for name, shade in (COLOURS if len(runs) == 1 else dict.fromkeys(COLOURS, colour)).items():
                panels[1].plot(times, median_of(trajectory, name), color=shade, **look)
    for axes, label, top in zip(panels, ("loss", "attention and W"), (0.55, 1.6), strict=False):
        dress(axes)
        axes.set_ylabel(label)
        axes.set_xlabel("time")
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axes.set_ylim(0, top)
        ends = np.stack([ends_of(run) for run in shown])
        if np.isfinite(ends).any():
            axes.set_xlim(0, 1.5 * float(ends[np.isfinite(ends)].max()))
    settings, _ = shown[-1]
    panels[0].set_title(sizes_of(settings).size if len(shown) == 1 else without_repetition(settings))
    dress(panels[2])
    _draw_ratios(panels[2], predictions, measurements)
    _name_looks(figure, names, with_quantities=len(shown) == 1)
    if len(shown) > 1:
        keys = zip(shown, run_colours(len(shown)), strict=True)
        handles = [Line2D([], [], color=colour, label=f"p = {sizes_of(run[0]).repeated:g}") for run, colour in keys]
        figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    shares = "; one colour for each share p, and of its two lines in the middle W is the first to rise"
    return captioned(
        figure,
        f"""Theory (dashed) beside what it predicts (solid), at the largest size: loss, attention to the relevant
        token, and the share of W* that W has learnt, over time{shares if len(shown) > 1 else ""}. Right: predicted
        over measured length of every plateau. Lines and dots are medians over seeds.""",
        [*predictions, *measurements],
    )


@styled
def figure_late(prediction: ToyRun, measurement: ToyRun, names: tuple[str, str]) -> Figure:
    """What follows once W is at its best, on logarithmic time from there: attention and W, and the loss, as 1/(4t).

    The prediction is laid on the measurement where both have the attention that the measurement has when W is largest.
    """
    settings, trajectory = measurement
    figure = new_figure(PAGE_WIDTH, 2.2)
    shares, losses = figure.subplots(1, 2)
    best = median_of(trajectory, "gain")
    level = median_of(trajectory, "attention_relevant")[np.nanargmax(best)] if np.isfinite(best).any() else 0.5
    for run, look in zip((measurement, prediction), LOOKS, strict=True):
        later, each = times_of(run), run[1]
        later = later - _time_of(later, median_of(each, "attention_relevant"), float(level))
        for axes, quantity, colour in ((losses, "loss", INK), *((shares, name, COLOURS[name]) for name in COLOURS)):
            curve = median_of(each, quantity)
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
    shares.set_title(sizes_of(settings).size)
    _name_looks(figure, names, with_quantities=True)
    return captioned(
        figure,
        """The toy model once W has reached its largest value, over the time since then (logarithmic): attention
        and W, and the loss; dotted: 1/(4t). Solid: the flow; dashed: theory of this phase, laid on the flow where both
        have the same attention.""",
        [prediction, measurement],
    )


def largest(runs: Sequence[ToyRun]) -> list[ToyRun]:
    """Those of the largest d and T: one for every B and p."""
    sizes = [(sizes_of(settings).dimension, sizes_of(settings).length) for settings, _ in runs]
    return [run for run, own in zip(runs, sizes, strict=True) if own == max(sizes)]


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


def _draw_ratios(axes: Axes, predictions: Sequence[ToyRun], measurements: Sequence[ToyRun]) -> None:
    """Predicted over measured plateaus of every run, against what was measured."""
    said, measured = (np.stack([ends_of(run) for run in runs], axis=1) for runs in (predictions, measurements))
    known = np.isfinite(measured) & np.isfinite(said)
    ratios = np.where(known, said, np.nan) / np.where(known, measured, 1.0)
    every = [sizes_of(settings).dimension for settings, _ in measurements]
    sizes = sorted(set(every))
    for size, colour in zip(sizes, run_colours(len(sizes)), strict=True):
        own = [place for place, dimension in enumerate(every) if dimension == size]
        x, y = median_over_seeds(np.where(known, measured, np.nan)[:, own]), median_over_seeds(ratios[:, own])
        axes.plot(x, y, "o", color=colour, markersize=3.2, markeredgewidth=0, label=f"d = {size}")
    axes.axhline(1, color=MUTED, linewidth=0.7, linestyle=DOTS)
    if known.any():
        axes.set_xscale("log")
        axes.margins(x=0.1, y=0.2)
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("plateau")
    axes.set_ylabel("predicted / measured")
    if len(sizes) > 1:
        axes.legend(loc="best")
