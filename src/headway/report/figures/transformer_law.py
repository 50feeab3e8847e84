"""Transformers on single-location regression: one transition, and how long plateaus last."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.figure import Figure

from headway.analysis.crossings import ending_at
from headway.records import Trajectory
from headway.report.captions import CURVES, captioned
from headway.report.colours import COMPETITION_COLOUR, COOPERATION_COLOUR, INK, MUTED, run_colours
from headway.report.figures.against_size import draw_family
from headway.report.figures.ends import name_ends, note_above
from headway.report.figures.lines import Run, draw_stopping, lasting_median, moving_values, time_axis
from headway.report.figures.style import DASHES, DOTS, PAGE_WIDTH, dress, new_figure, styled


@styled
def figure_emergence(run: Run) -> Figure:
    """Left: the test loss and its threshold. Right: what the model makes of the vector, and every head's attention."""
    settings, trajectory = run
    times, end = trajectory.times("loss"), _last_time(trajectory)
    figure = new_figure(PAGE_WIDTH, 2.1)
    left, right = figure.subplots(1, 2)
    draw_stopping(left, times, np.minimum(moving_values(trajectory, "loss"), 1.0), INK, "test loss")
    left.axhline(settings.training.threshold, color=MUTED, linewidth=0.7, linestyle=DOTS)
    note_above(left, "threshold", (0.015, settings.training.threshold), ("axes fraction", "data"), "left")
    left.set_ylim(0, 1.0)
    left.set_ylabel("test loss (at most 1)")
    left.set_title(f"T = {settings.task.length}, d = {settings.task.dimension}")
    gain = draw_stopping(
        right, times, moving_values(trajectory, "gain"), COMPETITION_COLOUR, r"$E\langle y, y^*\rangle$"
    )
    attention = moving_values(trajectory, "attention_relevant")
    strongest = draw_stopping(
        right, times, attention.reshape(*attention.shape[:2], -1).max(axis=2), COOPERATION_COLOUR, "attention"
    )
    for heads in np.moveaxis(attention.reshape(*attention.shape[:2], -1), 2, 0):
        right.plot(times, lasting_median(heads), color=COOPERATION_COLOUR, linewidth=0.5, linestyle=DASHES)
    right.set_ylim(-0.1, 1.7)
    right.axhline(1, color=MUTED, linewidth=0.7, linestyle=DOTS)
    for axes in (left, right):
        dress(axes)
        time_axis(axes, end, log=False)
    name_ends(right, [gain, strongest])
    return captioned(
        figure,
        f"""A transformer on single-location regression, over training steps. Left: test loss, and the threshold
        at which the plateau ends. Right: share of the map that is learnt, E(y, y*), and attention of each
        head to the relevant token (dashed, medians over seeds), solid that of the strongest. {CURVES} The axis ends
        where half of the seeds have stopped.""",
        [run],
    )


@styled
def figure_plateau_sizes(runs: Sequence[Run], law: Callable[[Run], float]) -> Figure:
    """Plateaus against T, d and B, and the time to a higher loss against p. Dots: seeds; dashed: the published law."""
    figure = new_figure(PAGE_WIDTH, 2.3)
    panels = figure.subplots(1, 4, sharey=True)
    plain = [run for run in runs if run[0].task.copies == 1 and run[0].task.repeated == 0]
    shared = [run for run in runs if run[0].task.repeated > 0]
    level = max((run[0].training.threshold for run in shared), default=0.0)
    draw_family(panels[0], plain, "length", "dimension", "T", "d", law)
    draw_family(panels[1], plain, "dimension", "length", "d", "T", law)
    copied = [run for run in runs if run[0].task.copies > 1]
    dimensions = sorted({run[0].task.dimension for run in runs})
    colours = dict(zip(dimensions, run_colours(len(dimensions)), strict=True))
    draw_family(panels[2], _beside(plain, copied), "copies", "dimension", "copies B", "d", law, colours)
    alike = [(settings, ending_at(trajectory, level)) for settings, trajectory in _beside(plain, shared)]
    draw_family(panels[3], alike, "repeated", "dimension", "share p", "d", None, colours)
    panels[2].set_title(_lengths(copied), fontsize="small")
    panels[3].set_title(f"{_lengths(shared)}, to a loss of {level:g}" if shared else "", fontsize="small")
    panels[0].set_ylabel("plateau (steps)")
    if any(np.isfinite(run[1].facts["plateau"]).any() for run in runs):
        panels[0].set_yscale("log")
    return captioned(
        figure,
        """Length of the plateau on single-location regression against the length T, the dimension d and the
        copies B, and the time to a higher loss against the share p of repeated samples; the last two at the T above
        them, in the colours of d. Dots are seeds, lines medians; dashed: the published law.""",
        runs,
    )


def _beside(plain: list[Run], repeated: list[Run]) -> list[Run]:
    """The runs with repetition, and those of their sizes without."""
    sizes = {_size(run) for run in repeated}
    return [run for run in plain if _size(run) in sizes] + repeated


def _lengths(runs: list[Run]) -> str:
    """T = 64; nothing without a run."""
    lengths = sorted({run[0].task.length for run in runs})
    return f"T = {', '.join(map(str, lengths))}" if lengths else ""


def _size(run: Run) -> tuple[int, int]:
    return run[0].task.length, run[0].task.dimension


def _last_time(trajectory: Trajectory) -> np.ndarray:
    """The times up to that at which half of the seeds had stopped, so that the transition fills the axis."""
    return np.array([0.0, float(np.median(trajectory.facts["stopped_at"]))])
