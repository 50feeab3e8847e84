"""Sizes of training sets on a logarithmic axis, with fresh data, which has no size, behind a break."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, NullFormatter

from headway.records import Trajectory
from headway.report.colours import MUTED
from headway.report.figures.lines import median_over_seeds, moving_values

MARGIN = 1.3
"""Room on both sides, as a factor."""
APART = 0.16
"""Of the width of the axes, from one named size to the next."""
_STROKES = Path([(-0.8, -1), (-0.1, 1), (0.1, -1), (0.8, 1)], [Path.MOVETO, Path.LINETO] * 2)


def places_of(sizes: Sequence[float]) -> np.ndarray:
    """Where sizes lie on the axis: at themselves, infinity well behind the largest."""
    finite = [size for size in sizes if np.isfinite(size)] or [1.0]
    behind = max(finite) * max(2.0, (max(finite) / min(finite)) ** 0.27)
    return np.array([size if np.isfinite(size) else behind for size in sizes])


def size_axis(axes: Axes, sizes: Sequence[float]) -> None:
    """A tick at every size, as many named as there is room for, "fresh" last and a break before it."""
    axes.set_xscale("log")
    finite, places = sorted({size for size in sizes if np.isfinite(size)}), places_of(sizes)
    low, high = (min(places) / MARGIN, max(places) * MARGIN) if len(places) else (1.0, 10.0)
    axes.set_xlim(low, high)
    names: dict[float, str] = {}
    for size in finite:
        if not names or np.log(size / max(names)) > APART * np.log(high / low):
            names[size] = f"{size:g}"
    if len(finite) < len({*sizes}):
        fresh = float(max(places))
        names[fresh] = "fresh"
        if finite:
            _break(axes, float(np.sqrt(finite[-1] * fresh)))
    axes.set_xticks(list(names), list(names.values()))
    axes.xaxis.set_minor_locator(FixedLocator(finite))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("training sequences")


def _break(axes: Axes, place: float) -> None:
    """Two strokes through the axis, with nothing between them."""
    look: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "linestyle": "none", "clip_on": False}
    axes.plot([place], [0], marker="s", markersize=3.2, color="white", zorder=5, **look)
    axes.plot([place], [0], marker=_STROKES, markersize=6, color=MUTED, zorder=6, **look)


def draw_sizes(
    axes: Axes, sizes: Sequence[float], values: np.ndarray, colour: str, label: str, *, dots: bool = True, **look: Any
) -> Line2D:
    """Values (size, seed): each seed a small dot, the medians a line, returned, that stops before fresh data."""
    places = places_of(sizes)
    if dots:
        draw_dots(axes, places, values, colour)
    medians = median_over_seeds(values.T)
    finite = np.isfinite(sizes)
    look: dict[str, Any] = {"color": colour, "linewidth": 1.3, "marker": "o", "markersize": 3.0, "zorder": 3, **look}
    axes.plot(places[~finite], medians[~finite], **look)
    (line,) = axes.plot(places[finite], medians[finite], label=label, **look)
    return line


def draw_dots(
    axes: Axes, places: np.ndarray, values: np.ndarray, colour: str, *, size: float = 2.2, alpha: float = 0.45
) -> None:
    """Values (place, seed): each seed a small dot."""
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markeredgewidth": 0, "zorder": 2}
    axes.plot(np.repeat(places, values.shape[1]), values.ravel(), color=colour, markersize=size, alpha=alpha, **look)


def seed_table(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of any number of seeds as one array, (size, seed), NaN where a row has no more."""
    table = np.full((len(rows), max(map(len, rows), default=0)), np.nan)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def first_best(values: np.ndarray) -> np.ndarray:
    """The first index of the lowest number in each row of (seed, time), and -1 in rows without a number."""
    known = np.isfinite(values)
    lowest = np.where(known, values, np.inf)
    return np.where(known.any(axis=1), np.argmin(lowest, axis=1) if values.shape[1] else 0, -1)


def best_steps(trajectory: Trajectory) -> np.ndarray:
    """The first step of the lowest excess loss of each seed, NaN for a seed without a number: (seed,)."""
    best = first_best(moving_values(trajectory, "excess_loss"))
    return np.where(best >= 0, trajectory.times("excess_loss").astype(float)[best], np.nan)


def best_losses(trajectory: Trajectory) -> np.ndarray:
    """The lowest excess loss of each seed, NaN for a seed without a number: (seed,)."""
    values = moving_values(trajectory, "excess_loss")
    best = first_best(values)
    return np.where(best >= 0, values[np.arange(len(values)), best], np.nan)
