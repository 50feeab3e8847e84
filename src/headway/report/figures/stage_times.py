"""How long the flow waits for each feature, against what it depends on: one panel for each factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

from headway.analysis import over_seeds
from headway.analysis.laws import lines
from headway.analysis.power_laws import fit_power_laws
from headway.records import Trajectory
from headway.report.captions import captioned
from headway.report.colours import INK, MUTED, rung_colours
from headway.report.figures.size_axis import draw_dots, seed_table
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled
from headway.settings import StageTimesSettings

StageTimesRun = tuple[StageTimesSettings, Trajectory]

FACTORS = {
    "length": "positions $T$",
    "ratio": "ratio of strengths $m$",
    "features": "features $h$, as many heads",
    "heads": "heads $H$",
    "noise": r"noise $\sigma$ at the start",
}
"""What differs from the first run, and its name on the axis."""
LETTERS = {"length": "a", "ratio": "a", "heads": "a", "noise": "b"}
"""What is fitted to the durations: c x^a, or for the noise (c + b log(1/sigma))^2."""
WAITS = 3
"""How many of them are drawn."""
DASHED, DOTTED = (0, (4, 2)), (0, (1, 1.5))


@styled
def figure_stage_times(runs: Mapping[str, StageTimesRun]) -> Figure:
    """t_k - t_(k-1) for each factor, and how far differences between heads grow until t_2.

    A dot is a seed, a line the medians, dotted a fitted law, dashed the theory: of t_1 its formula, of the wait for
    feature 2 the time from there until the differences between heads reach 1.
    """
    figure = new_figure(1.15 * PAGE_WIDTH, 4.6)
    panels = figure.subplots(2, 3).ravel()
    colours = rung_colours(WAITS)
    base = next(iter(runs.values()))[0]
    for axes, factor in zip(panels, FACTORS, strict=False):
        dress(axes)
        chosen = along(runs, base, factor)
        _draw_factor(axes, factor, chosen, colours)
    dress(panels[-1])
    _draw_growth(panels[-1], along(runs, base, "noise"), colours[1])
    for axes in panels[::3]:
        axes.set_ylabel("time $t_k - t_{k-1}$")
    _explain(figure, colours)
    return captioned(
        figure,
        """How long the gradient flow waits for features k = 1, 2 and 3, from boundary k - 1 (or the beginning) to
        boundary k, against one factor at a time. Dots are seeds, lines medians; dotted: a fitted law, with its
        exponent a or slope b above the panel; dashed: theory without fitted numbers. Last panel: how much differences
        between heads grow until boundary 2.""",
        runs.values(),
    )


def along(runs: Mapping[str, StageTimesRun], base: StageTimesSettings, factor: str) -> list[StageTimesRun]:
    """Those that differ from the base in `factor` alone, in its order."""
    chosen = []
    for settings, trajectory in runs.values():
        others = [name for name in FACTORS if name != factor and getattr(settings, name) != getattr(base, name)]
        if not others:
            chosen.append((settings, trajectory))
    return sorted(chosen, key=lambda run: place_of(run[0], factor))


def place_of(settings: StageTimesSettings, factor: str) -> float:
    """Where a run stands on the axis: the factor's value; sigma for the noise, which is a variance."""
    if factor == "heads":
        return settings.head_count
    return settings.noise**0.5 if factor == "noise" else getattr(settings, factor)


def durations(trajectory: Trajectory) -> np.ndarray:
    """t_1, t_2 - t_1, ..: (seed, feature); NaN for a feature that was not learnt, and for those after it."""
    ends = np.asarray(trajectory.facts["boundaries"], float)
    known = np.where(np.isfinite(ends), ends, np.nan)
    return np.diff(known, axis=1, prepend=0.0)


def _draw_factor(axes: Axes, factor: str, runs: list[StageTimesRun], colours: Sequence[str]) -> None:
    places = [place_of(settings, factor) for settings, _ in runs]
    axes.set(xscale="log", yscale="log", xlabel=FACTORS[factor])
    for feature, colour in enumerate(colours):
        rows = [(place, durations(run[1])) for place, run in zip(places, runs, strict=True)]
        own = [(place, taken[:, feature]) for place, taken in rows if taken.shape[1] > feature]
        if not own:
            continue
        where, table = np.array([place for place, _ in own]), seed_table([taken for _, taken in own])
        law = _draw_wait(axes, factor, where, table, colour)
        height = 1.02 + 0.085 * (WAITS - 1 - feature)
        axes.text(0.5, height, law, transform=axes.transAxes, ha="center", va="bottom", color=colour, fontsize=6.5)
    _draw_theory(axes, places, runs, colours)
    if not places:
        return
    room = (max(places) / min(places)) ** 0.06 if max(places) > min(places) else 1.2
    axes.set_xlim(min(places) / room, max(places) * room)
    if factor != "noise":
        axes.xaxis.set_major_locator(FixedLocator(places))
        axes.set_xticks(places, [f"{place:g}" for place in places])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())


def _draw_wait(axes: Axes, factor: str, places: np.ndarray, table: np.ndarray, colour: str) -> str:
    """Seeds, medians and the fitted law of one wait (run, seed); returns that law in words, if there is one."""
    known = np.isfinite(table).any(axis=1)
    for place, missing in zip(places, np.sum(~np.isfinite(table), axis=1), strict=True):
        if missing:
            words = f"{missing}/{table.shape[1]} never"
            look: dict[str, Any] = {"color": colour, "fontsize": 5.5, "ha": "center", "va": "top"}
            axes.text(place, 0.99, words, transform=axes.get_xaxis_transform(), rotation=90, **look)
    if not known.any():
        return ""
    x, values = places[known], table[known]
    draw_dots(axes, x, values, colour, size=2.0, alpha=0.4)
    axes.plot(x, np.nanmedian(values, axis=1), color=colour, linewidth=1.3, zorder=3)
    if len(x) < 3 or factor not in LETTERS:
        return ""
    fine = np.geomspace(x[0], x[-1], 50)
    if factor == "noise":
        slope, height = lines(-np.log(x), np.sqrt(values.T))
        over, offset = over_seeds(slope), over_seeds(height).median
        law = (offset - over.median * np.log(fine)) ** 2
    else:
        fitted = fit_power_laws(x[:, None], values.T)
        over = over_seeds(fitted.exponents[:, 0])
        law = over_seeds(fitted.constants).median * fine**over.median
    if not over.seeds:  # too many never ended
        return ""
    axes.plot(fine, law, color=colour, linewidth=0.9, linestyle=DOTTED, zorder=4)
    middle, low, high = (round(number, 2) + 0.0 for number in (over.median, over.low, over.high))  # no "-0.00"
    return f"${LETTERS[factor]}$ = {middle:.2f} [{low:.2f}, {high:.2f}]"


def _draw_theory(axes: Axes, places: list[float], runs: list[StageTimesRun], colours: Sequence[str]) -> None:
    """The formula of t_1, and of the wait for feature 2 the prediction, where there is one."""
    formula = np.array([run[1].facts["first_stage"][0] for run in runs])
    predicted = np.array([run[1].facts["foretold"][0] for run in runs])
    wait = np.where(np.isfinite(predicted) & (predicted > formula), predicted, np.nan) - formula
    for values, colour in ((formula, colours[0]), (wait, colours[1])):
        axes.plot(places, values, color=colour, linewidth=0.9, linestyle=DASHED, zorder=5)


def _draw_growth(axes: Axes, runs: list[StageTimesRun], colour: str) -> None:
    """Lambda at t_2 against the noise; the theory says that it goes like 1 / sigma."""
    places = np.array([place_of(settings, "noise") for settings, _ in runs])
    axes.set(xscale="log", yscale="log", xlabel=FACTORS["noise"], ylabel=r"growth $\Lambda(t_2)$ of differences")
    table = np.exp(seed_table([np.asarray(trajectory.facts["growth"]) for _, trajectory in runs]))
    if not np.isfinite(table).any():
        return
    draw_dots(axes, places, table, colour, size=2.0, alpha=0.4)
    known = np.isfinite(table).any(axis=1)
    medians = np.nanmedian(table[known], axis=1)
    axes.plot(places[known], medians, color=colour, linewidth=1.3)
    axes.set_xlim(places.min() / 3, places.max() * 3)
    lengths = np.array([settings.length for settings, _ in runs])
    axes.plot(places, 1 / (lengths * places), color=MUTED, linewidth=0.9, linestyle=DASHED)


def _explain(figure: Figure, colours: Sequence[str]) -> None:
    handles = [
        Line2D([], [], color=colour, linewidth=1.3, label=f"until feature {k + 1}") for k, colour in enumerate(colours)
    ]
    handles.append(
        Line2D(
            [], [], color=INK, linewidth=0.9, linestyle=DOTTED, label=r"fitted: $c\,x^a$, or $(c + b\,\log 1/\sigma)^2$"
        )
    )
    handles.append(Line2D([], [], color=INK, linewidth=0.9, linestyle=DASHED, label="theory, nothing fitted"))
    figure.legend(handles=handles, loc="outside upper center", ncols=5, columnspacing=0.9)
