"""What a rate that falls on plateaus does to a saddle: the loss above, the learning rate below, on one time axis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from headway.report.captions import CURVES, captioned
from headway.report.colours import run_colours
from headway.report.figures.ends import name_ends
from headway.report.figures.family import draw_runs, log_axis
from headway.report.figures.lines import Run, from_zero
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled

WORDS = {
    "constant": "constant rate",
    "plateau": "plateau schedule",
    "plateau-step": "plateau schedule, every step",
    "cosine": "cosine schedule",
}


@styled
def figure_saddle(runs: Mapping[str, Run]) -> Figure:
    """Excess loss and learning rate over log steps, one colour a schedule."""
    figure = new_figure(PAGE_WIDTH, 3.0)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.3, 1))
    words, colours = schedule_names(runs), dict(zip(runs, run_colours(len(runs)), strict=True))
    for axes, quantity in ((above, "excess_loss"), (below, "learning_rate")):
        dress(axes)
        measured = {name: trajectory for name, (_, trajectory) in runs.items() if quantity in trajectory}
        named = {words[name]: trajectory for name, trajectory in measured.items()}
        lines = draw_runs(axes, named, quantity, [colours[name] for name in measured], log_steps=True)
        if axes is above:
            from_zero(axes)
        else:
            log_axis(axes, [np.asarray(line.get_ydata()) for line in lines], floor=1e-12)
        name_ends(axes, lines, gap=0.13)
    above.set(xlabel="", ylabel="excess loss (nats)")
    below.set_ylabel("learning rate")
    return captioned(
        figure,
        f"""Excess loss (top) and learning rate (bottom) over training steps (logarithmic), from initial scores of
        1e-9, one colour for each schedule; rates below the axis are left out. {CURVES}""",
        runs.values(),
    )


def schedule_names(runs: Mapping[str, Run]) -> dict[str, str]:
    """Name of a run -> its schedule in words, and its name beside them where two runs share a schedule."""
    schedules = [settings.training.schedule for settings, _ in runs.values()]
    return {
        name: WORDS.get(schedule, schedule) + (f" ({name})" if schedules.count(schedule) > 1 else "")
        for name, schedule in zip(runs, schedules, strict=True)
    }
