"""Real text: the ladder of n-grams, attention to near lags, and when the information of each lag is learnt."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.claims.text import attention_to, learnt_at
from headway.report.captions import CURVES, captioned
from headway.report.colours import INK, UNIFORM_COLOUR, run_colours, rung_colours
from headway.report.figures.lines import Run, draw_seeds, from_zero, moving_values, time_axis
from headway.report.figures.style import DASHES, PAGE_WIDTH, dress, new_figure, styled

RunsByName = Mapping[str, Run]
COLUMNS = 4
"""Texts side by side, at most."""
MARKS = {"interleaved": "s", "shuffled": "^"}
"""How a text was changed -> its mark; other texts have dots."""


def _colours(rungs: int) -> tuple[str, ...]:
    return (UNIFORM_COLOUR, *rung_colours(rungs - 1))


def _draw_loss(axes: Axes, run: Run) -> None:
    """The held-out loss, and that of every rung."""
    _, trajectory = run
    times = trajectory.times("loss")
    draw_seeds(axes, times, moving_values(trajectory, "loss"), INK, "model")
    levels = np.median(np.asarray(trajectory.facts["rung_loss"], float), axis=0)
    for level, colour in zip(levels, _colours(len(levels)), strict=True):
        axes.axhline(level, color=colour, linewidth=0.8, linestyle=DASHES, zorder=1)
    time_axis(axes, times, log=True)
    axes.set_xlabel("")


def _draw_ladder(axes: Axes, run: Run) -> None:
    """KL from every rung, a dot at its minimum."""
    settings, trajectory = run
    kl, times = moving_values(trajectory, "kl_rungs"), trajectory.times("kl_rungs")
    for rung, colour in enumerate(_colours(kl.shape[2])):
        line = draw_seeds(axes, times, kl[:, :, rung], colour, settings.task.rungs[rung])
        heights = np.asarray(line.get_ydata(), float)
        if np.isfinite(heights).any():
            lowest = int(np.nanargmin(heights))
            axes.plot(times[lowest], heights[lowest], "o", color=colour, markersize=2.5, zorder=4)
    time_axis(axes, times, log=True)
    from_zero(axes)


def _above_ladders(runs: RunsByName) -> tuple[Figure, np.ndarray, RunsByName]:
    """A figure with the ladders of the first few runs in its lower row, its panels, and those runs."""
    shown = dict(list(runs.items())[:COLUMNS])
    figure = new_figure(PAGE_WIDTH, 4.2)
    panels = figure.subplots(2, len(shown), squeeze=False)
    for axes in panels.flat:
        dress(axes)
    for axes, run in zip(panels[1], shown.values(), strict=True):
        _draw_ladder(axes, run)
    panels[1, 0].set_ylabel("KL(rung || model)")
    return figure, panels, shown


@styled
def figure_ladders(runs: RunsByName) -> Figure:
    """Above the held-out loss, dashed the rungs'; below KL from every rung, a dot at its minimum."""
    figure, panels, shown = _above_ladders(runs)
    for axes, (name, run) in zip(panels[0], shown.items(), strict=True):
        _draw_loss(axes, run)
        axes.set_title(name)
    panels[0, 0].set_ylabel("loss (nats)")
    longest = max(panels[1], key=lambda axes: len(axes.get_legend_handles_labels()[1]))
    figure.legend(*longest.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return captioned(
        figure,
        f"""Models of real text, one column for each text, over training steps (logarithmic). Top: held-out loss;
        dashed: that of each n-gram. Bottom: KL to each n-gram; a dot marks its minimum.
        {CURVES}""",
        runs.values(),
    )


def _draw_lags(axes: Axes, run: Run, lags: np.ndarray) -> None:
    times = run[1].times("attention_near")
    attention = attention_to((run[0], run[1]), lags)
    for place, colour in enumerate(run_colours(len(lags))):
        draw_seeds(axes, times, attention[:, :, place], colour, f"lag {lags[place]}")
    time_axis(axes, times, log=True)
    axes.set_ylim(0, 1)


@styled
def figure_lags(runs: RunsByName) -> Figure:
    """Attention of the head that attends most to each lag; lag 1 is the newest token."""
    shown = dict(list(runs.items())[:COLUMNS])
    figure = new_figure(PAGE_WIDTH, 2.4)
    panels = figure.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axes, (name, run) in zip(panels, shown.items(), strict=True):
        dress(axes)
        _draw_lags(axes, run, np.arange(1, 7))
        axes.set_title(name)
    panels[0].set_ylabel("attention")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return captioned(
        figure,
        f"""Attention of the head that attends most to each lag, over training steps (logarithmic), one panel for
        each text; lag 1 is the newest token. {CURVES}""",
        runs.values(),
    )


def _shared(runs: RunsByName) -> int:
    """With how many words all names of several runs begin."""
    words = [each.split(", ") for each in runs]
    return sum(1 for column in zip(*words, strict=False) if len(set(column)) == 1) if len(words) > 1 else 0


def _short(name: str, runs: RunsByName) -> str:
    """The words of a run's name that not all have, a line each."""
    return "\n".join(name.split(", ")[_shared(runs) :]) or name


def _common(runs: RunsByName) -> str:
    """The words that all have, which the panels leave out."""
    words = next(iter(runs)).split(", ")[: _shared(runs)]
    return f" All are made from: {', '.join(words)}." if words else ""


@styled
def figure_changed(runs: RunsByName) -> Figure:
    """The same of texts that were woven or shuffled, and KL from every rung."""
    figure, panels, shown = _above_ladders(runs)
    for axes, (name, run) in zip(panels[0], shown.items(), strict=True):
        _draw_lags(axes, run, np.arange(1, 7))
        axes.set_xlabel("")
        axes.set_title(_short(name, shown).replace(" in ", "\nin "), fontsize=7)
    panels[0, 0].set_ylabel("attention")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return captioned(
        figure,
        f"""Texts that were interleaved or shuffled, one column each, over training steps (logarithmic).
        Top: attention of the head that attends most to each lag; lag 1 is the newest token. Bottom: KL to
        each rung, grey the uniform one, the longer the n-gram the lighter; a dot marks its minimum.{_common(shown)}
        {CURVES}""",
        shown.values(),
    )


@styled
def figure_information(runs: RunsByName) -> Figure:
    """Information of each lag given the nearer ones, against the step at which half of it is learnt; a mark a seed."""
    figure = new_figure(PAGE_WIDTH, 2.8)
    axes = figure.subplots()
    dress(axes)
    texts = {name: re.split(", interleaved|, shuffled", name)[0] for name in runs}
    kinds = list(dict.fromkeys(texts.values()))
    colours = dict(zip(kinds, run_colours(len(kinds)), strict=True))
    for name, run in runs.items():
        colour = colours[texts[name]]
        mark = next((mark for word, mark in MARKS.items() if word in name), "o")
        steps = learnt_at((run[0], run[1]))
        information = np.asarray(run[1].facts["information"], float)
        known = np.isfinite(steps) & (information > 0)
        axes.plot(information[known], np.maximum(steps[known], 1), mark, color=colour, markersize=3, label=name)
    if not any(len(np.asarray(line.get_xdata())) for line in axes.get_lines()):
        axes.set(xlim=(0.01, 1), ylim=(1, 1000))  # a logarithmic axis cannot be laid out around nothing
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("information of a lag, given the nearer ones (nats)")
    axes.set_ylabel("step at which half is learnt")
    axes.margins(0.05)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return captioned(
        figure,
        """Step at which half of a lag's information is learnt, against that information given the nearer lags,
        one colour for each text; squares: interleaved, triangles: shuffled. A mark is a lag in one seed.""",
        runs.values(),
    )
