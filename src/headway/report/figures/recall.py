"""Transformers on associative recall: accuracy over training, both attentions, and what repetition does."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headway.records import Trajectory
from headway.report.colours import COMPETITION_COLOUR, COOPERATION_COLOUR, INK, MUTED
from headway.report.figures.ends import name_ends, note_above
from headway.report.figures.lines import moving_values, time_axis
from headway.report.figures.runs import longest_times, run_colours
from headway.report.figures.stopping import draw_stopping, lasting_median
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled
from headway.settings import RecallSettings

RecallRun = tuple[RecallSettings, Trajectory]
DOTS = (0, (1, 1.6))
DASHES = (0, (3.5, 1.6))


@styled
def figure_recall(runs: Mapping[str, RecallRun]) -> Figure:
    """Accuracy without repetition over training, one colour a run, on a logarithmic axis of steps."""
    figure = new_figure(0.8 * PAGE_WIDTH, 2.4)
    axes = figure.subplots()
    dress(axes)
    lines = [
        draw_stopping(axes, trajectory.times("accuracy"), moving_values(trajectory, "accuracy"), colour, name)
        for (name, (_, trajectory)), colour in zip(runs.items(), run_colours(len(runs)), strict=True)
    ]
    for threshold in sorted({settings.training.threshold for settings, _ in runs.values()}):
        axes.axhline(threshold, color=MUTED, linewidth=0.7, linestyle=DOTS)
        note_above(axes, f"{threshold:.0%} ends the plateau", (0.015, threshold), ("axes fraction", "data"), "left")
    _accuracy_axes(axes, [trajectory for _, trajectory in runs.values()], log=True)
    name_ends(axes, lines)
    return figure


@styled
def figure_two_attentions(run: RecallRun) -> Figure:
    """The transition: accuracy, and attention of values on their keys and of the query on the right value."""
    settings, trajectory = run
    figure = new_figure(PAGE_WIDTH, 2.2)
    left, right = figure.subplots(1, 2)
    times = trajectory.times("accuracy")
    draw_stopping(left, times, moving_values(trajectory, "accuracy"), INK, "accuracy")
    guess = 1 / settings.task.pairs
    left.axhline(guess, color=MUTED, linewidth=0.7, linestyle=DOTS)
    note_above(left, "any value of the sequence", (0.015, guess), ("axes fraction", "data"), "left")
    left.set_title(f"{settings.task.tokens} symbols, {settings.task.pairs} pairs")
    lines = []
    for name, colour, label in (
        ("attention_previous", COMPETITION_COLOUR, "value to key"),
        ("attention_relevant", COOPERATION_COLOUR, "query to value"),
    ):
        if name in trajectory:
            heads = moving_values(trajectory, name)
            strongest = heads.reshape(*heads.shape[:2], -1).max(axis=2)
            lines.append(draw_stopping(right, times, strongest, colour, label))
            for layer, rows in enumerate(np.moveaxis(heads.max(axis=3), 2, 0), start=1):
                right.plot(times, lasting_median(rows), color=colour, linewidth=0.4 + 0.2 * layer, linestyle=DASHES)
    for axes in (left, right):
        dress(axes)
        _accuracy_axes(axes, [trajectory], log=False)
    right.set_ylabel("attention of the strongest head")
    name_ends(right, lines)
    return figure


@styled
def figure_repetition(runs: Mapping[str, RecallRun]) -> Figure:
    """Accuracy without repetition, and with that of the training (dashed); left copies, right favourites."""
    figure = new_figure(PAGE_WIDTH, 2.4)
    panels = figure.subplots(1, 2, sharey=True)
    kinds = (
        ("in the context", [run for run in runs.values() if run[0].task.favoured == 0]),
        ("across samples", [run for run in runs.values() if run[0].task.copies == 1]),
    )
    for axes, (title, own) in zip(panels, kinds, strict=True):
        dress(axes)
        keys = []
        for (settings, trajectory), colour in zip(own, run_colours(len(own)), strict=True):
            name = f"p = {settings.task.favoured:g}" if "across" in title else f"B = {settings.task.copies:g}"
            times = trajectory.times("accuracy")
            keys.append(draw_stopping(axes, times, moving_values(trajectory, "accuracy"), colour, name))
            beside = lasting_median(moving_values(trajectory, "accuracy_repeated"))
            axes.plot(times, beside, color=colour, linewidth=0.9, linestyle=DASHES)
        axes.set_title(title)
        _accuracy_axes(axes, [trajectory for _, trajectory in own], log=False)
        keys.append(Line2D([], [], color=MUTED, linewidth=0.9, linestyle=DASHES, label="with repetition"))
        axes.legend(handles=keys, loc="best", fontsize=6)
    return figure


def _accuracy_axes(axes: Axes, trajectories: list[Trajectory], *, log: bool) -> None:
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("accuracy")
    time_axis(axes, longest_times(trajectories, "accuracy"), log=log)
