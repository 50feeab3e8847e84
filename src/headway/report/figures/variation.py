"""What claims measure, against settings that were varied: a panel for each claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullFormatter

from headway.records import Finding
from headway.report.captions import captioned
from headway.report.colours import MUTED, run_colours
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled
from headway.settings.variation import in_words, value_in_words

Varied = Sequence[tuple[Mapping[str, Any], Sequence[Finding]]]
"""Values of the settings that were varied, and what was found with them."""
PANEL_HEIGHT = 1.75
"""Inches; two panels stand side by side."""
MANY = 24
"""Values of a setting that are marked one by one."""
LETTER = 0.028
"""Width of a letter, relative to that of a panel."""
LOG = 8.0
"""Positive numbers that span more than this factor lie on a logarithmic axis."""


@styled
def figure_variation(varied: Varied) -> Figure:
    """Seeds as dots, their median as a line over the first setting, a line for each combination of the others.

    A median is filled where the claim holds in every seed, and hollow where it does not.
    """
    claims = list(dict.fromkeys(each.claim for _, found in varied for each in found if np.isfinite(each.values).any()))
    rows = max(1, -(-len(claims) // 2))
    figure = new_figure(PAGE_WIDTH, PANEL_HEIGHT * rows + 0.35)
    grid = figure.subplots(rows, 2, squeeze=False).ravel()
    for axes, claim in zip(grid, claims, strict=False):
        _panel(axes, claim, varied)
    for empty in grid[len(claims) :]:
        empty.set_axis_off()
    lines, _ = grid[0].get_legend_handles_labels()
    figure.legend(handles=[*lines, *_meanings()], loc="outside lower center", ncols=4)
    return captioned(
        figure,
        """What each claim measures, one panel each, against the setting that was varied. Small dots are seeds,
        lines and circles medians: filled where the claim holds in every seed, hollow where it does not.""",
    )


def _meanings() -> list[Line2D]:
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": MUTED, "markersize": 4.0}
    return [Line2D([], [], label="holds in every seed", **look), Line2D([], [], label="does not", mfc="white", **look)]


def _panel(axes: Axes, claim: str, varied: Varied) -> None:
    dress(axes)
    first = next(iter(varied[0][0]))
    places = _places([values[first] for values, _ in varied])
    lines: dict[str, list[tuple[float, Finding]]] = {}
    for values, found in varied:
        others = in_words({name: value for name, value in values.items() if name != first})
        lines.setdefault(others, []).extend(
            (places[value_in_words(values[first])], each)
            for each in found
            if each.claim == claim and np.isfinite(each.values).any()
        )
    for (label, points), colour in zip(lines.items(), run_colours(len(lines)), strict=True):
        _line(axes, points, colour, label)
    _axis(axes, places)
    _, finding = next(point for points in lines.values() for point in points)
    axes.set_title(claim, loc="left")
    axes.set_xlabel(first)
    axes.set_ylabel("\n".join(wrap(finding.quantity, 30, max_lines=3, placeholder=" ...")), fontsize=6.5)
    axes.margins(x=0.06)


def _line(axes: Axes, points: Sequence[tuple[float, Finding]], colour: str, label: str) -> None:
    """From left to right, however the values were given."""
    points = sorted(points, key=lambda point: point[0])
    seeds = [(place, value) for place, each in points for value in each.values if np.isfinite(value)]
    axes.plot(*zip(*seeds, strict=True), ".", color=colour, markersize=2.5, alpha=0.45, zorder=2)
    medians = np.array([np.median([v for v in each.values if np.isfinite(v)]) for _, each in points])
    places = np.array([place for place, _ in points])
    axes.plot(places, medians, color=colour, linewidth=1.1, label=label or "_alone", zorder=3)
    look: dict[str, Any] = {"markersize": 4.0} if len(points) <= MANY else {"markersize": 2.0, "markeredgewidth": 0.4}
    holds = np.array([each.verdict == "holds" for _, each in points])
    for which, fill in ((holds, colour), (~holds, "white")):
        axes.plot(places[which], medians[which], "o", color=colour, markerfacecolor=fill, zorder=4, **look)


def _places(values: Sequence[Any]) -> dict[str, float]:
    """Numbers at themselves, words and rows side by side."""
    told = {value_in_words(value): value for value in values}
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in told.values()):
        return {words: float(value) for words, value in told.items()}
    return {words: float(number) for number, words in enumerate(told)}


def _axis(axes: Axes, places: Mapping[str, float]) -> None:
    """A tick at each value, as many named as there is room for; of very many, round numbers."""
    where = np.array(list(places.values()))
    if where.min() > 0 and where.max() / where.min() > LOG:
        axes.set_xscale("log")
    if len(where) > MANY:
        return
    scale = np.log(where) if axes.get_xscale() == "log" else where
    apart = LETTER * (2 + max(map(len, places))) * np.ptp(scale)
    named: dict[int, float] = {}
    for index in np.argsort(where):
        if not named or scale[index] - max(named.values()) >= apart:
            named[index] = scale[index]
    axes.set_xticks([where[index] for index in named], [list(places)[index] for index in named])
    axes.xaxis.set_minor_locator(FixedLocator(list(where)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", color=MUTED)
