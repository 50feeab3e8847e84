"""The third boundary, measured against predicted: one factor at a time, and several at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from headway.claims.stage_times import StageTimesRun
from headway.claims.third_stage import parted, predicted, third
from headway.report.captions import captioned
from headway.report.colours import COOPERATION_COLOUR, INK, MUTED
from headway.report.figures.style import DASHES, new_figure, styled

FACTOR = 2.0


@styled
def figure_third_stage(runs: Sequence[StageTimesRun]) -> Figure:
    """Seeds as dots, medians as marks; the line is equality, the dashed ones a factor of 2."""
    figure = new_figure(3.4, 3.0)
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel=r"predicted $t_3$, nothing fitted", ylabel=r"measured $t_3$")
    few, others = parted(runs)
    places: list[float] = []
    for group, colour, mark, name in (
        (few, INK, "o", "one factor changed"),
        (others, COOPERATION_COLOUR, "D", "several, run after the law was written"),
    ):
        own = [predicted(settings) for settings, _ in group]
        places += own
        times = third(group) if group else np.empty((0, 0))
        for place, row in zip(own, times, strict=True):
            known = row[np.isfinite(row)]
            axes.plot([place] * len(known), known, ".", color=colour, markersize=2, alpha=0.4, zorder=2)
            if len(known):
                axes.plot([place], [np.median(known)], mark, color=colour, markersize=3.5, zorder=3)
        axes.plot([], [], mark, color=colour, markersize=3.5, label=name)
    if places:
        ends = np.array([min(places) / 1.3, max(places) * 1.3])
        axes.plot(ends, ends, color=MUTED, linewidth=0.9, zorder=1)
        for factor in (FACTOR, 1 / FACTOR):
            axes.plot(ends, factor * ends, color=MUTED, linewidth=0.7, linestyle=DASHES, zorder=1)
        axes.set_xlim(*ends)
    axes.legend(loc="upper left")
    return captioned(
        figure,
        """Third boundary of the gradient flow (feature 3 is learnt), measured against predicted. Small dots are
        seeds, marks medians; the line is equality, the dashed ones a factor of 2.""",
        runs,
    )
