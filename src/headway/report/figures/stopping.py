"""Where rules stop that do not know the truth: the loss that is kept and the steps it took, by training set."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from headway.claims.stopping import by_size, by_stages, equal_patience, stops
from headway.report.captions import captioned
from headway.report.colours import COMPETITION_COLOUR, COOPERATION_COLOUR, INK
from headway.report.figures.lines import Run
from headway.report.figures.size_axis import draw_sizes, size_axis
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled


@styled
def figure_stopping(runs: Sequence[Run], tolerance: float) -> Figure:
    """Left: excess loss of the step that is kept; right: steps trained. By stages, by patience, in hindsight."""
    ordered = by_size(runs)
    sizes = [settings.training.size for settings, _ in ordered]
    own = stops(ordered, by_stages)
    patience, other = equal_patience(ordered, own, tolerance)
    best = np.stack([_best(np.asarray(run["excess_halves"], float), run.times("excess_halves")) for _, run in ordered])
    figure = new_figure(PAGE_WIDTH, 2.3)
    left, right = figure.subplots(1, 2)
    for axes, hindsight, tables, name in (
        (left, own.kept - own.lost, (own.kept, other.kept), "excess loss (nats)"),
        (right, best, (own.trained, other.trained), "training steps"),
    ):
        dress(axes)
        axes.set_yscale("log")
        lines = [
            draw_sizes(axes, sizes, _positive(other_table), colour, label, dots=colour != INK)
            for other_table, colour, label in (
                (hindsight, INK, "best step in hindsight"),
                (tables[1], COMPETITION_COLOUR, f"patience of {patience} steps"),
                (tables[0], COOPERATION_COLOUR, "by stages"),
            )
        ]
        size_axis(axes, sizes)
        axes.set_ylabel(name)
    figure.legend(handles=lines, loc="outside upper center", ncols=3)
    return captioned(
        figure,
        """Early stopping, against the size of the training set. Left: excess loss of the step that is kept.
        Right: steps trained; for the best step in hindsight, that step. Dots are seeds, left out for the
        best step; lines medians.""",
        runs,
    )


def _best(halves: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The step of the lowest loss on the odd test sequences: (seed,); NaN for a seed without numbers."""
    odd = halves[:, :, 1]
    known = np.isfinite(odd).any(axis=1)
    return np.where(known, times[np.argmin(np.where(np.isfinite(odd), odd, np.inf), axis=1)], np.nan)


def _positive(values: np.ndarray) -> np.ndarray:
    """What a logarithmic axis can show."""
    return np.where(values > 0, values, np.nan)
