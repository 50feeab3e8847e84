"""Transformers on associative recall: accuracy over training, both attentions, and what repetition does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from headway.analysis.crossings import ending_at
from headway.records import Trajectory
from headway.report.captions import CURVES, captioned
from headway.report.colours import COMPETITION_COLOUR, COOPERATION_COLOUR, INK, MUTED, run_colours
from headway.report.figures.against_size import draw_family, name_every
from headway.report.figures.ends import name_ends, note_above
from headway.report.figures.lines import Run, draw_stopping, lasting_median, longest_times, moving_values, time_axis
from headway.report.figures.style import DASHES, DOTS, PAGE_WIDTH, dress, new_figure, styled


@styled
def figure_recall(runs: Sequence[Run]) -> Figure:
    """Accuracy without repetition over training, a panel for each number of pairs, a colour for each vocabulary size.

    Dashed: how often naming any value of the sequence is right.
    """
    tasks = [settings.task for settings, _ in runs]
    sizes = sorted({task.vocab for task in tasks})
    colours = dict(zip(sizes, run_colours(len(sizes)), strict=True))
    numbers = sorted({task.pairs for task in tasks})
    figure = new_figure(PAGE_WIDTH, 2.4)
    panels = figure.subplots(1, len(numbers), sharey=True, squeeze=False)[0]
    for axes, pairs in zip(panels, numbers, strict=True):
        dress(axes)
        own = [run for run in runs if run[0].task.pairs == pairs]
        for settings, trajectory in own:
            values, colour = moving_values(trajectory, "accuracy"), colours[settings.task.vocab]
            draw_stopping(axes, trajectory.times("accuracy"), values, colour, f"N_tokens = {settings.task.vocab}")
            axes.axhline(settings.task.naming, color=colour, linewidth=0.7, linestyle=DASHES)
        for threshold in sorted({settings.training.threshold for settings, _ in own}):
            axes.axhline(threshold, color=MUTED, linewidth=0.7, linestyle=DOTS)
        _accuracy_axes(axes, [trajectory for _, trajectory in own])
        axes.xaxis.set_major_locator(MaxNLocator(3))
        axes.set_title(f"{pairs} pairs")
        axes.set_ylabel("accuracy" if axes is panels[0] else "")
    keys = [Line2D([], [], color=colour, label=f"N_tokens = {count}") for count, colour in colours.items()]
    keys.append(Line2D([], [], color=MUTED, linewidth=0.9, linestyle=DOTS, label="end of the plateau"))
    keys.append(Line2D([], [], color=MUTED, linewidth=0.9, linestyle=DASHES, label="any value"))
    figure.legend(handles=keys, loc="outside lower center", ncols=-(-len(keys) // 2))
    return captioned(
        figure,
        f"""Accuracy on associative recall over training steps, one panel for each number of pairs, one colour for
        each vocabulary size N_tokens; dashed: naming any value of the sequence; dotted: accuracy at which the
        plateau ends. {CURVES}""",
        runs,
    )


@styled
def figure_recall_sizes(runs: Sequence[Run], law: Callable[[Run], float], half: float) -> Figure:
    """The plateau, and the time to an accuracy of `half`, against both sizes. Dots: seeds; dashed: published law."""
    figure = new_figure(PAGE_WIDTH, 3.0)
    panels = figure.subplots(1, 4, sharey=True)
    known = [(settings, ending_at(trajectory, half)) for settings, trajectory in runs]
    for (of_pairs, of_tokens), every, published in (
        (panels[:2], list(runs), law),
        (panels[2:], known, None),
    ):
        draw_family(of_pairs, every, "pairs", "vocab", "N_pairs", "N_tokens", published)
        draw_family(of_tokens, every, "vocab", "pairs", "N_tokens", "N_pairs", published)
    (threshold,) = {settings.training.threshold for settings, _ in runs}
    for axes, level in zip(panels, (threshold, threshold, half, half), strict=True):
        axes.set_title(f"to an accuracy of {level:.0%}", fontsize="small")
    panels[0].set_ylabel("steps")
    if any(np.isfinite(trajectory.facts["plateau"]).any() for _, trajectory in (*runs, *known)):
        panels[0].set_yscale("log")
    return captioned(
        figure,
        """Training steps to an accuracy of 5 %, where the plateau ends, and to the larger one named above a
        panel, against the number of pairs N_pairs and the vocabulary size N_tokens. Dots are seeds, lines medians;
        dashed: the published law.""",
        runs,
    )


@styled
def figure_embeddings(groups: Mapping[str, Sequence[Run]], law: Callable[[Run], float]) -> Figure:
    """The plateau against the vocabulary size, a panel for each number of pairs, a colour for each embedding."""
    every = [run for group in groups.values() for run in group]
    numbers = sorted({settings.task.pairs for settings, _ in every})
    colours = dict(zip(groups, run_colours(len(groups)), strict=True))
    figure = new_figure(PAGE_WIDTH, 2.4)
    panels = figure.subplots(1, len(numbers), sharey=True, squeeze=False)[0]
    for axes, pairs in zip(panels, numbers, strict=True):
        for name, group in groups.items():
            own = [run for run in group if run[0].task.pairs == pairs]
            if own:
                draw_family(axes, own, "vocab", "pairs", "N_tokens", "N_pairs", None, {pairs: colours[name]})
        shown = sorted((run for run in every if run[0].task.pairs == pairs), key=lambda run: run[0].task.vocab)
        sizes = [run[0].task.vocab for run in shown]
        axes.plot(sizes, [law(run) for run in shown], color=MUTED, linewidth=0.9, linestyle=DASHES)
        name_every(axes, sorted(set(sizes)))
        axes.set_yscale("log")
        axes.set_title(f"{pairs} pairs")
    panels[0].set_ylabel("steps")
    keys = [Line2D([], [], color=colour, marker="o", markersize=2.8, label=name) for name, colour in colours.items()]
    keys.append(Line2D([], [], color=MUTED, linewidth=0.9, linestyle=DASHES, label="published law"))
    figure.legend(handles=keys, loc="outside lower center", ncols=2)
    return captioned(
        figure,
        """Training steps to an accuracy of 5 % on associative recall, against the vocabulary size N_tokens, one panel
        for each number of pairs, one colour for each size of the initial embedding. Dots are seeds, lines medians;
        dashed: the published law.""",
        every,
    )


@styled
def figure_two_attentions(run: Run) -> Figure:
    """The transition: accuracy, and attention of values on their keys and of the query on the right value."""
    settings, trajectory = run
    figure = new_figure(PAGE_WIDTH, 2.2)
    left, right = figure.subplots(1, 2)
    times = trajectory.times("accuracy")
    draw_stopping(left, times, moving_values(trajectory, "accuracy"), INK, "accuracy")
    guess = settings.task.naming
    left.axhline(guess, color=MUTED, linewidth=0.7, linestyle=DOTS)
    note_above(left, "any value", (0.015, guess), ("axes fraction", "data"), "left")
    left.set_title(f"vocabulary size {settings.task.vocab}, {settings.task.pairs} pairs")
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
        _accuracy_axes(axes, [trajectory])
    right.set_ylabel("attention of the strongest head")
    name_ends(right, lines)
    return captioned(
        figure,
        f"""Associative recall over training steps. Left: accuracy; dotted: naming any value of the sequence. Right: the
        attention of the strongest head from a value to its key and from the query to the right value; dashed: that of
        the strongest head of each layer (medians). {CURVES}""",
        [run],
    )


@styled
def figure_repetition(runs: Sequence[Run]) -> Figure:
    """Accuracy without repetition, and with that of the training (dashed); left copies, right favourites."""
    figure = new_figure(PAGE_WIDTH, 2.7)
    panels = figure.subplots(1, 2, sharey=True)
    kinds = (
        ("in the context", [run for run in runs if run[0].task.favoured == 0]),
        ("across samples", [run for run in runs if run[0].task.copies == 1]),
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
        _accuracy_axes(axes, [trajectory for _, trajectory in own])
        keys.append(Line2D([], [], color=MUTED, linewidth=0.9, linestyle=DASHES, label="with repetition"))
        axes.legend(handles=keys, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, fontsize=6)
    return captioned(
        figure,
        f"""Accuracy on associative recall over training steps, on sequences without repetition (solid) and with
        that of the training (dashed, medians): left with B copies of the query's pair in the context on average, right
        with a share p of repeated queries across samples. {CURVES}""",
        runs,
    )


def _accuracy_axes(axes: Axes, trajectories: list[Trajectory]) -> None:
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("accuracy")
    time_axis(axes, longest_times(trajectories, "accuracy"), log=False)
