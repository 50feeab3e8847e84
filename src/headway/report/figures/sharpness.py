"""Section 2.3: the loss of the hand-made solution falls to the entropy as its scores grow."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headway.records import Trajectory
from headway.report.captions import CURVES, captioned
from headway.report.colours import INK, MUTED
from headway.report.figures.ends import note_above
from headway.report.figures.family import log_axis
from headway.report.figures.lines import draw_seeds, moving_values
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled

NOISE = 1e-6
"""Nats. In single precision a difference of two losses of a few nats means nothing below."""


@styled
def figure_sharpness(trajectory: Trajectory) -> Figure:
    """Excess loss of the construction against lambda, on a logarithmic axis; what is below 1e-6 is drawn there."""
    values, sharpness = moving_values(trajectory, "excess_loss"), trajectory.times("excess_loss")
    figure = new_figure(0.65 * PAGE_WIDTH, 2.3)
    axes = figure.subplots()
    dress(axes)
    drawn = np.maximum(values, NOISE)
    draw_seeds(axes, sharpness, drawn, INK, "construction").set(marker="o", markersize=3.0)
    log_axis(axes, [drawn], 0.6 * NOISE)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.set_xlabel(r"sharpness $\lambda$ of the scores")
    axes.set_ylabel("excess loss (nats)")
    axes.margins(x=0.03)
    if np.any(values <= NOISE):
        axes.axhline(NOISE, color=MUTED, linewidth=0.8, linestyle=(0, (1, 1.6)), zorder=1)
        note_above(axes, "at most $10^{-6}$: rounding", (0.015, NOISE), ("axes fraction", "data"), "left")
    return captioned(
        figure,
        f"""Excess loss of the hand-constructed solution against the factor lambda on its scores; values below
        1e-6 are drawn at 1e-6. {CURVES}""",
        [(None, trajectory)],
    )
