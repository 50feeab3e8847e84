"""Pictures of records: ratios to the rivals, cost along every axis with the fitted power, the reduced flow."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, LogLocator, NullFormatter, NullLocator, StrMethodFormatter

from benchmarks.bench.power_law import axis_exponent, medians
from benchmarks.bench.record import BenchRecord
from benchmarks.bench.tables import ALONG, CASES, COMPARED, NAMES, ratios
from headway.report.colours import HEAD_COLOURS, INK, MUTED
from headway.report.figures.style import dress, new_figure, styled
from headway.store import files


def pictures(records: Sequence[BenchRecord]) -> dict[str, Figure]:
    """Name of a file, without its suffix -> what it shows."""
    drawn = {record.name: draw_scaling(record) for record in records if record.part == "scaling"}
    drawn |= {record.name: draw_reduction(record) for record in records if record.part == "reduction"}
    against = [record for record in records if record.part in COMPARED and ratios(record)]
    for kind in dict.fromkeys((record.part, record.scale, record.platform) for record in against):
        alike = [record for record in against if (record.part, record.scale, record.platform) == kind]
        drawn["-".join(kind)] = draw_rivals(alike)
    return drawn


@styled
def draw_rivals(records: Sequence[BenchRecord]) -> Figure:
    """One bar a rival and model: how many times longer it takes; the line spans all rounds."""
    bars = [(record, name, over) for record in records for name, over in ratios(record).items()]
    colours = dict(zip(NAMES, (INK, *HEAD_COLOURS), strict=False))
    figure = new_figure(height=0.6 + 0.22 * len(bars))
    axes = figure.subplots()
    dress(axes)
    for place, (_, name, over) in enumerate(bars):
        axes.barh(place, over.median, height=0.7, color=colours[name])
        axes.plot([over.low, over.high], [place, place], color=INK, linewidth=0.8)
        axes.text(over.high, place, f"  {over.median:.1f}x", va="center", ha="left")
    axes.axvline(1.0, color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)))
    axes.set_yticks(range(len(bars)), [f"{CASES[record.case]}: {NAMES[name]}" for record, name, _ in bars])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.15 * max([1.0, *(over.high for _, _, over in bars)]))
    axes.set_xlabel("time of a training step / Headway's\n(dashed: as fast as Headway)")
    return figure


@styled
def draw_scaling(record: BenchRecord) -> Figure:
    """Both axes in logs; points are medians, their bars span all rounds, the line is the fitted power."""
    found = record.measured["axes"]
    rows = -(-len(found) // 3)
    figure = new_figure(height=0.3 + 1.6 * rows)
    panels = figure.subplots(rows, 3, squeeze=False).flatten()
    for panel in panels[len(found) :]:
        panel.set_visible(False)
    for panel, (axis, times) in zip(panels, found.items(), strict=False):
        dress(panel)
        costs = medians(times)
        values = list(costs)
        milliseconds = 1e3 * np.array(list(costs.values()))
        rounds = [1e3 * np.asarray(times[str(value)]) for value in values]
        fit = axis_exponent(times)
        panel.plot(values, 1e3 * fit.constant * np.array(values, float) ** fit.value, color=MUTED, linewidth=0.8)
        panel.vlines(values, [taken.min() for taken in rounds], [taken.max() for taken in rounds], color=INK)
        panel.plot(values, milliseconds, "o", color=HEAD_COLOURS[0], markersize=3.5)
        panel.set(xscale="log", yscale="log", xlabel=ALONG[axis])
        panel.xaxis.set_major_locator(FixedLocator(values))
        panel.xaxis.set_major_formatter(FixedFormatter([str(value) for value in values]))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.margins(x=0.1)
        panel.set_title(f"exponent {fit}")
    # One scale for all panels: what is flat and what is steep can be compared.
    shown = [seconds for times in found.values() for taken in times.values() for seconds in taken]
    for panel in panels[: len(found)]:
        panel.set_ylim(0.8e3 * min(shown), 1.25e3 * max(shown))
    for panel in panels[: len(found) : 3]:
        panel.set_ylabel("ms per seed and step")
    figure.suptitle(f"{CASES[record.case]}, {record.scale} scale, {record.machine['device']}", fontsize=8)
    return figure


@styled
def draw_reduction(record: BenchRecord) -> Figure:
    """Seconds of both flows against d, in logs, every round a point; above the slower the median of the ratios."""
    figure = new_figure(width=3.4, height=2.3)
    axes = figure.subplots()
    dress(axes)
    dimensions = [int(dimension) for dimension in record.measured["rounds"]]
    looks = {"full": ("d x d matrices", HEAD_COLOURS[0]), "reduced": ("coordinates", HEAD_COLOURS[1])}
    middles = {}
    for name, (label, colour) in looks.items():
        rounds = [[pair[name] for pair in pairs] for pairs in record.measured["rounds"].values()]
        middles[name] = np.array([np.median(taken) for taken in rounds])
        for dimension, taken in zip(dimensions, rounds, strict=True):
            axes.plot([dimension] * len(taken), taken, "o", color=colour, markersize=2.2, alpha=0.5, markeredgewidth=0)
        axes.plot(dimensions, middles[name], color=colour, linewidth=1.2, label=label)
    for dimension, slow, pairs in zip(dimensions, middles["full"], record.measured["rounds"].values(), strict=True):
        ratio = np.median([pair["full"] / pair["reduced"] for pair in pairs])
        axes.annotate(f"{ratio:.3g}x", (dimension, slow), (0, 4), textcoords="offset points", ha="center")
    axes.set(xscale="log", yscale="log", xlabel="d, size of the matrices", ylabel="seconds for one run of the flow")
    axes.xaxis.set_major_locator(FixedLocator(dimensions))
    axes.xaxis.set_major_formatter(FixedFormatter([str(dimension) for dimension in dimensions]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.margins(x=0.1, y=0.15)
    axes.legend(loc="upper left")
    return figure


def save(figure: Figure, path: Path) -> Path:
    """Write a PNG, whole or not at all; drawn twice, it is the same bytes."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=200, metadata={"Software": None})
    files.write(path, content.getvalue())
    return path
