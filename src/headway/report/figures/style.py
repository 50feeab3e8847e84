"""One look for every figure: thin frames, one sans serif font, 7 to 8 points at print size.

The look is a context around each drawing function, never a change of matplotlib's global
settings, and figures are made without pyplot, so that nothing here needs or keeps a display.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.report.colours import FAINT, INK, MUTED

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

DASHES = (0, (3.5, 1.6))
DOTS = (0, (1, 1.6))
PAGE_WIDTH = 5.5
"""Inches: the width of the text in the papers, so that a point on the screen is a point in print."""
RESOLUTION = 160
"""Dots per inch of a PNG, unless its figure asks for more."""

STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # travels with matplotlib: the same letters on every machine
    "mathtext.fontset": "dejavusans",
    "svg.fonttype": "none",  # letters that can be edited
    "font.size": 7.0,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.edgecolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.linewidth": 0.5,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlepad": 4.0,
    "axes.labelpad": 2.5,
    "axes.xmargin": 0.0,
    "grid.color": FAINT,
    "grid.linewidth": 0.4,
    "lines.solid_capstyle": "round",
    "lines.solid_joinstyle": "round",
    "legend.frameon": False,
    "legend.handlelength": 1.3,
    "legend.handletextpad": 0.5,
    "legend.labelspacing": 0.3,
    "legend.columnspacing": 1.2,
    "legend.borderaxespad": 0.2,
    "figure.facecolor": "white",
    "figure.autolayout": False,  # a figure without a layout of its own has none, whatever somebody's matplotlibrc says
    "figure.constrained_layout.use": False,
    "figure.constrained_layout.h_pad": 0.03,
    "figure.constrained_layout.w_pad": 0.03,
    "pdf.fonttype": 42,  # letters stay letters, which publishers ask for
}


def styled(draw: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """`draw`, within the look; matplotlib's own settings are the same before and after."""

    @functools.wraps(draw)
    def within_style(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        with matplotlib.rc_context(STYLE):
            return draw(*args, **kwargs)

    return within_style


@styled
def new_figure(width: float = PAGE_WIDTH, height: float = 2.0, resolution: float = RESOLUTION) -> Figure:
    """An empty figure of this size in inches, which lays itself out."""
    return Figure(figsize=(width, height), dpi=resolution, layout="constrained")


@styled
def dress(axes: Axes) -> None:
    """Put the look on axes that were made outside of it."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["bottom", "left"]].set(color=MUTED, linewidth=STYLE["axes.linewidth"])
    axes.tick_params(which="both", color=MUTED, labelcolor=INK, labelsize=STYLE["xtick.labelsize"])
    axes.tick_params(which="major", width=STYLE["xtick.major.width"], length=STYLE["xtick.major.size"])
    axes.tick_params(which="minor", width=STYLE["xtick.minor.width"], length=STYLE["xtick.minor.size"])
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(color=INK, fontsize=STYLE["axes.labelsize"], fontfamily=STYLE["font.family"])
        axis.labelpad = STYLE["axes.labelpad"]
