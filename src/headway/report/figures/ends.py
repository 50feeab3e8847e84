"""Names at the ends of many lines: each as near to its own end as the others allow, and tied to it."""

from __future__ import annotations

from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from headway.report.colours import MUTED

GAP = 0.085
"""Of the height of the axes, from one name to the next: a line of text where the axes are 1.4 inches high."""
NEAR, ASIDE = 0.12, 0.6
"""Share of a whole ladder between two rungs whose names would lie over each other; and where the lower one's ends."""


def name_ends(axes: Axes, lines: list[Line2D], gap: float = GAP) -> None:
    """Each line's name to the right of the axes, with a thin tie to where the line ends; limits must be settled.

    A line without a single number is named at the foot, with a note. More names than fit go below the figure.
    """
    if gap * (len(lines) - 1) > 1:
        axes.figure.legend(handles=lines, loc="outside lower center", ncols=5)
        return
    ends = np.array([_seen_end(axes, line) for line in lines]).reshape(-1, 2)
    places = keep_apart(np.nan_to_num(ends[:, 1]), gap)
    for line, (stop, end), place in zip(lines, ends, places, strict=True):
        name, colour = str(line.get_label()), str(line.get_color())
        if np.isfinite(end):
            # Level to the edge, from wherever the run stopped, and from there to its name.
            path = [min(stop, 1.005), 1.005, 1.035], [end, end, place]
            tie = Line2D(*path, transform=axes.transAxes, color=colour, linewidth=0.6, label="_tie")
            axes.add_artist(tie).set_clip_on(False)
        else:
            name, colour = f"{name} (no numbers)", MUTED
        axes.text(1.045, place, name, transform=axes.transAxes, va="center", color=colour)


def note_above(
    axes: Axes,
    words: str,
    place: tuple[float, float],
    frame: tuple[str, str],
    align: Literal["left", "center", "right"],
) -> None:
    """Small, quiet words just above a place; `frame` says what its two numbers are, as matplotlib's `xycoords` does."""
    axes.annotate(
        words,
        place,
        xycoords=frame,
        xytext=(0, 1.5),
        textcoords="offset points",
        ha=align,
        va="bottom",
        fontsize=6.5,
        color=MUTED,
    )


def level_places(levels: np.ndarray, right: float) -> np.ndarray:
    """Where the names of falling levels end, of the width: at `right`, further left where the line above is near."""
    near = np.diff(levels, prepend=np.inf) > -NEAR * np.ptp(levels)
    return np.where(near, ASIDE, right)


def keep_apart(places: np.ndarray, gap: float) -> np.ndarray:
    """min sum (moved - place)^2 with neighbours at least `gap` apart, within 0 and 1: labels keep their order.

    Of places that hardly differ, the first is the highest, as in a list.
    """
    rising = np.argsort(places, kind="stable")
    groups = np.cumsum(np.diff(np.asarray(places, float)[rising], prepend=0) > gap / 3)
    order = rising[np.lexsort([-rising, groups])]
    slots = gap * np.arange(len(places))
    # Without the slots the condition is "never falling": neighbours that violate it share their mean.
    pools: list[tuple[float, int]] = []
    for place in np.asarray(places, float)[order] - slots:
        mean, count = float(place), 1
        while pools and pools[-1][0] >= mean:
            below, more = pools.pop()
            mean, count = (below * more + mean * count) / (more + count), more + count
        pools.append((mean, count))
    level = np.repeat([mean for mean, _ in pools], [count for _, count in pools])
    moved = np.empty(len(places))
    moved[order] = np.clip(level, 0, max(0.0, 1 - gap * (len(places) - 1))) + slots
    return moved


def _seen_end(axes: Axes, line: Line2D) -> tuple[float, float]:
    """Where the last number of a line is, in shares of the axes, whatever their scales; NaN without a number."""
    data = np.column_stack([np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)])
    known = data[np.isfinite(data).all(axis=1)]
    if not len(known):
        return np.nan, np.nan
    limits = np.array([axes.get_xlim(), axes.get_ylim()])
    inside = np.clip(known[-1], *limits.T)  # before the scale: a logarithm has no place for 0
    low, high, end = axes.transScale.transform([*limits.T, inside])
    across, up = (end - low) / (high - low)
    return float(across), float(up)
