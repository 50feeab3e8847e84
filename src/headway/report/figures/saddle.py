"""What a rate that falls on plateaus does to a saddle: the loss above, the learning rate below, on one time axis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from headway.report.figures.ends import name_ends
from headway.report.figures.family import log_axis
from headway.report.figures.lines import draw_seeds, from_zero, moving_values, time_axis
from headway.report.figures.runs import Run, longest_times, run_colours
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
    names = schedule_names(runs)
    for axes, quantity in ((above, "excess_loss"), (below, "learning_rate")):
        dress(axes)
        measured = {name: trajectory for name, (_, trajectory) in runs.items() if quantity in trajectory}
        lines = [
            draw_seeds(
                axes, measured[name].times(quantity), moving_values(measured[name], quantity), colour, names[name]
            )
            for name, colour in zip(runs, run_colours(len(runs)), strict=True)
            if name in measured
        ]
        time_axis(axes, longest_times(list(measured.values()), quantity), log=True)
        if axes is above:
            from_zero(axes)
        else:
            log_axis(axes, [np.asarray(line.get_ydata()) for line in lines], floor=1e-12)
        name_ends(axes, lines, gap=0.13)
    above.set(xlabel="", ylabel="excess loss (nats)")
    below.set_ylabel("learning rate")
    return figure


def schedule_names(runs: Mapping[str, Run]) -> dict[str, str]:
    """Name of a run -> its schedule in words, and its name beside them where two runs share a schedule."""
    schedules = [settings.training.schedule for settings, _ in runs.values()]
    return {
        name: WORDS[schedule] + (f" ({name})" if schedules.count(schedule) > 1 else "")
        for name, schedule in zip(runs, schedules, strict=True)
    }
