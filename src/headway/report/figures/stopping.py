"""Curves of seeds that stop each at its own time."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from headway.report.figures.lines import draw_seeds, median_over_seeds


def draw_stopping(axes: Axes, times: np.ndarray, values: np.ndarray, colour: str, label: str, **look: Any) -> Line2D:
    """Every seed as far as it went, and their median, returned, in which a seed that stopped stays where it was."""
    line = draw_seeds(axes, times, values, colour, label, **look)
    line.set_ydata(lasting_median(values))
    return line


def lasting_median(values: np.ndarray) -> np.ndarray:
    """Median over seeds of (seed, time), each number going on until the next: (time,)."""
    places = np.where(np.isfinite(values), np.arange(values.shape[1]), -1)
    last = np.maximum.accumulate(places, axis=1) if values.shape[1] else places
    filled = np.where(last >= 0, np.take_along_axis(values, np.maximum(last, 0), axis=1), np.nan)
    median = median_over_seeds(filled)
    # Behind the last seed's stop nothing is known.
    known = np.flatnonzero(np.isfinite(values).any(axis=0))
    median[known[-1] + 1 if len(known) else 0 :] = np.nan
    return median
