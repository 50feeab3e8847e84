"""A loss plateau: what is predicted on it, how alike states are, where heads look; and interventions on attention."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.records import Trajectory
from headway.report.captions import CURVES, captioned
from headway.report.colours import COMPETITION_COLOUR, COOPERATION_COLOUR, INK, MUTED, run_colours
from headway.report.figures.ends import name_ends
from headway.report.figures.lines import draw_seeds, longest_times, moving_values, name_on_the_right, time_axis
from headway.report.figures.style import DASHES, DOTS, PAGE_WIDTH, dress, new_figure, styled

PlateauRun = tuple[Any, Trajectory]
LEVELS = ("uniform", "unigrams", "first output", "all outputs")


@styled
def figure_loss_plateau(run: PlateauRun) -> Figure:
    """Left: the loss between its rungs. Right: what is generated, and what states and attention do meanwhile."""
    settings, trajectory = run
    figure = new_figure(PAGE_WIDTH, 2.3)
    left, middle, right = figure.subplots(1, 3)
    _draw_loss(left, trajectory, INK, "loss")
    _levels(left, trajectory)
    left.set_ylabel("loss (nats)")
    curves = {
        "first output": ("accuracy_first", MUTED),
        "all outputs": ("accuracy_generated", INK),
        "repetition": ("repetition", COMPETITION_COLOUR),
    }
    lines = [_draw_share(middle, trajectory, name, colour, label) for label, (name, colour) in curves.items()]
    middle.axhline(settings.task.plateau_accuracy, color=MUTED, linewidth=0.7, linestyle=DOTS)
    middle.set_title("generated outputs")
    name_ends(middle, lines)
    states = {"cosine": ("cosine", COMPETITION_COLOUR), "attention": ("attention_relevant", COOPERATION_COLOUR)}
    lines = [_draw_share(right, trajectory, name, colour, label) for label, (name, colour) in states.items()]
    right.set_title("hidden states;\nrelevant attention")
    name_ends(right, lines)
    return captioned(
        figure,
        f"""Moving-window sums, over training steps. Left: the loss; dashed: that of each rung but the uniform one.
        Middle: share of correct outputs, and of outputs that repeat the one before; dotted: with the right first output
        and the likeliest number for the others. Right: mean cosine between hidden states
        of different outputs, and attention to the relevant tokens. {CURVES}""",
        [run],
    )


@styled
def figure_interventions(runs: Mapping[str, PlateauRun]) -> Figure:
    """Loss, and cosine of the states, of every run."""
    figure = new_figure(PAGE_WIDTH, 2.3)
    left, right = figure.subplots(1, 2)
    times = longest_times([trajectory for _, trajectory in runs.values()], "loss")
    for (name, (_, trajectory)), colour in zip(runs.items(), run_colours(len(runs)), strict=True):
        _draw_loss(left, trajectory, colour, name)
        _draw_share(right, trajectory, "cosine", colour, name)
    longest = max(runs.values(), key=lambda run: run[1].times("loss")[-1])[1]
    _levels(left, longest)
    left.set_ylabel("loss (nats)")
    right.set_title("cosine between states")
    own = _rungs(longest)
    others = [name for name, (_, trajectory) in runs.items() if not np.allclose(_rungs(trajectory), own)]
    but = f" (those of {', '.join(others)} differ)" if others else ""
    far = len(times) and times[-1] > 2 * min(trajectory.times("loss")[-1] for _, trajectory in runs.values())
    for axes in (left, right):
        time_axis(axes, times, log=bool(far))
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(len(runs), 5))
    return captioned(
        figure,
        f"""Moving-window sums, over training steps{" (logarithmic)" if far else ""}, one colour for each run: the loss,
        dashed that of each rung but the uniform one{but}, and the mean cosine between hidden states of
        different outputs. {CURVES}""",
        runs.values(),
    )


@styled
def figure_window_attention(run: PlateauRun) -> Figure:
    """Where the last positions look, in shares, at every time of which the whole pattern was kept: the first seed."""
    settings, trajectory = run
    times, patterns = trajectory.times("attention"), trajectory["attention"][0, :, 0, 0]
    count = settings.task.count
    figure = new_figure(PAGE_WIDTH, 1.5)
    panels = figure.subplots(1, max(1, len(times)), sharey=True, squeeze=False)[0]
    for axes, time, pattern in zip(panels, times, patterns, strict=False):
        axes.imshow(np.asarray(pattern, float)[count:], vmin=0, vmax=0.5, cmap="magma", aspect="auto")
        axes.set_title(f"step {time:g}")
        axes.set_xticks([0, count], ["$x_1$", "SEP"])
        axes.set_yticks([0, count - 1], ["$y_1$", f"$y_{{{count}}}$"])
    return captioned(
        figure,
        """Attention of the output positions (rows) to all positions (columns) at chosen steps, in one seed; the
        brighter, the more, from 0.5 on alike.""",
    )


def _draw_loss(axes: Axes, trajectory: Trajectory, colour: str, label: str) -> None:
    dress(axes)
    times = trajectory.times("loss")
    draw_seeds(axes, times, moving_values(trajectory, "loss"), colour, label)
    time_axis(axes, times, log=False)


def _draw_share(axes: Axes, trajectory: Trajectory, name: str, colour: str, label: str) -> Any:
    dress(axes)
    values, times = moving_values(trajectory, name), trajectory.times(name)
    line = draw_seeds(axes, times, values.reshape(*values.shape[:2], -1).max(axis=2), colour, label)
    time_axis(axes, times, log=False)
    axes.set_ylim(0, 1.05)
    return line


def _levels(axes: Axes, trajectory: Trajectory) -> None:
    """The rungs' losses, from the unigrams on, named on the right."""
    levels = _rungs(trajectory)
    for level in levels:
        axes.axhline(level, color=MUTED, linewidth=0.7, linestyle=DASHES)
    name_on_the_right(axes, levels, LEVELS[1:], [MUTED] * len(levels))


def _rungs(trajectory: Trajectory) -> np.ndarray:
    return np.median(trajectory.facts["rung_loss"], axis=0)[1:]
