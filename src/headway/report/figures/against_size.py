"""Plateaus of many runs against a size of their task, one colour for each value of another size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter

from headway.report.colours import run_colours
from headway.report.figures.lines import Run, median_over_seeds
from headway.report.figures.style import DASHES, dress


def draw_family(
    axes: Axes,
    runs: list[Run],
    along: str,
    family: str | None,
    label: str,
    family_label: str,
    law: Callable[[Run], float] | None,
    colours: Mapping[Any, str] | None = None,
) -> None:
    """One colour for each value of `family`, and a line through the medians along `along`.

    Where `colours` are given, they are those of another panel, which names them.
    """
    dress(axes)
    axes.set_xlabel(label)

    def value(run: Run, name: str) -> Any:
        return getattr(run[0].task, name)

    kinds = sorted({value(run, family) for run in runs}) if family else [None]
    for kind, colour in (colours or dict(zip(kinds, run_colours(len(kinds)), strict=True))).items():
        own = sorted((r for r in runs if family is None or value(r, family) == kind), key=lambda r: value(r, along))
        if not own:
            continue
        x = np.array([float(value(run, along)) for run in own])
        rows = [np.asarray(run[1].facts["plateau"], float) for run in own]
        for place, row in zip(x, rows, strict=True):
            axes.plot(np.full(len(row), place), row, ".", color=colour, markersize=2.5, alpha=0.5)
        medians = np.array([float(median_over_seeds(row[:, None])[0]) for row in rows])
        name = f"{family_label} = {kind}" if family else None
        axes.plot(x, medians, color=colour, linewidth=1.2, marker="o", markersize=2.8, label=name)
        if law is not None:
            axes.plot(x, [law(run) for run in own], color=colour, linewidth=0.8, linestyle=DASHES)
    if family and runs and colours is None:
        # Lines of a law fill the panel, so that its names stand below.
        room = {"handlelength": 1.2, "columnspacing": 0.8, "handletextpad": 0.4, "borderpad": 0.0}
        columns = 2 if len(family_label) < 3 else 1
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=columns, fontsize=6, **room)
    sizes = sorted({float(value(run, along)) for run in runs})
    if sizes and sizes[0] > 0 and along != "repeated":
        axes.set_xscale("log")
    name_every(axes, sizes)
    axes.margins(x=0.1)


def name_every(axes: Axes, sizes: Sequence[float]) -> None:
    """A tick at every size, with its number, and no other."""
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.xaxis.set_minor_locator(FixedLocator([]))
