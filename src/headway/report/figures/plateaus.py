"""How long the plateau of paper B's toy lasts: against T, B and p, and laws over what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from headway.report.captions import captioned
from headway.report.colours import COMPETITION_COLOUR, INK, MUTED, run_colours
from headway.report.figures.against_size import name_every
from headway.report.figures.lines import median_over_seeds
from headway.report.figures.style import DASHES, DOTS, PAGE_WIDTH, dress, new_figure, styled
from headway.report.figures.toy import Look, ToyRun, ends_of, sizes_of

Along = Literal["length", "copies", "repeated"]
LABELS = {"length": "T", "copies": "copies B", "repeated": "share p"}
IN_A_ROW = 4
"""Panels that stand side by side; of more, three do."""
TITLE_WIDTH = 84
"""Letters of the titles of all panels in a row."""
TRAINED = {"gap": "the gap between the logits of relevant and other tokens", "logits": "all logits"}
"""`task.trained` -> what it is."""
Law = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Plateaus (seed, run), those of the law fitted to them (seed, run), and those of the published law (run,)."""


@styled
def figure_plateaus(kinds: Mapping[str, Sequence[ToyRun]], *, along: Along | tuple[Along, ...]) -> Figure:
    """Plateau / (sqrt(d) T) of every run along one of its sizes, a colour for each d; dashed: the closed form.

    `along` is the size of all panels, or one for each.
    """
    sizes = along if isinstance(along, tuple) else (along,) * len(kinds)
    figure = new_figure(PAGE_WIDTH if len(kinds) > 1 else 0.62 * PAGE_WIDTH, 2.3)
    panels = figure.subplots(1, len(kinds), squeeze=False, sharey=True)[0]
    colours = _colours(kinds)
    for axes, (name, runs), size in zip(panels, kinds.items(), sizes, strict=True):
        dress(axes)
        _draw_plateaus(axes, runs, size, colours, decades="copies" in sizes)
        axes.set_title(name if len(kinds) > 1 else "")
        axes.set_xlabel(LABELS[size])
    panels[0].set_ylabel(r"plateau / ($\sqrt{d}\,T$)")
    keys = [Line2D([], [], color=colour, label=f"d = {size}") for size, colour in colours.items()]
    keys.append(Line2D([], [], color=MUTED, linewidth=0.9, linestyle=DASHES, label="closed form"))
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))
    trained = f"{TRAINED['gap']}, all logits, or all logits on samples"
    more = f" Panels differ in what is trained: {trained}." if len(kinds) > len(set(sizes)) else _unlike(kinds)
    against = " and against ".join(LABELS[size] for size in dict.fromkeys(sizes))
    thin = "; the thick line is that of the largest T, thin ones of smaller T" if "length" not in sizes else ""
    words = f"""Length of the plateau, divided by sqrt(d) T, against {against}, one colour for each dimension d. Lines
    are medians over seeds{thin}; dashed: closed form.{more}"""
    return captioned(figure, words, [run for each in kinds.values() for run in each])


@styled
def figure_law(laws: Mapping[str, Law]) -> Figure:
    """Predicted over measured plateaus, run by run: by the law that was fitted here, and by the published one."""
    columns = len(laws) if len(laws) <= IN_A_ROW else 3  # of so many, names are long
    rows = -(-len(laws) // columns)
    figure = new_figure(PAGE_WIDTH if len(laws) > 1 else 0.62 * PAGE_WIDTH, 2.2 if rows == 1 else 1.7 * rows)
    grid = figure.subplots(rows, columns, squeeze=False, sharey="row")
    panels = grid.ravel()[: len(laws)]
    for axes in grid.ravel()[len(laws) :]:
        axes.set_axis_off()
    for axes, (name, (plateaus, fitted, published)) in zip(panels, laws.items(), strict=True):
        dress(axes)
        known = np.isfinite(plateaus) & (plateaus > 0)
        measured = np.where(known, plateaus, np.nan)
        shown = median_over_seeds(measured)
        look: Look = {"linestyle": "none", "markersize": 3.0, "markeredgewidth": 0.8}
        for values, marker, colour, label in (
            (np.broadcast_to(published, measured.shape), "x", COMPETITION_COLOUR, "published law"),
            (fitted, "o", INK, "fitted law"),
        ):
            ratio = median_over_seeds(values / measured)
            axes.plot(shown, ratio, marker=marker, color=colour, markerfacecolor="none", label=label, **look)
        axes.axhline(1, color=MUTED, linewidth=0.7, linestyle=DOTS)
        if np.isfinite(shown).any():
            axes.set_xscale("log")
            axes.margins(x=0.08, y=0.15)
            if np.nanmax(shown) < 30 * np.nanmin(shown):  # too few powers of ten to read it by
                room = columns < 3 or np.nanmax(shown) < 8 * np.nanmin(shown)
                axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if room else (1.0, 3.0), numticks=20))
                axes.xaxis.set_major_formatter("{x:,.0f}")
            if np.nanmax(shown) < 4 * np.nanmin(shown):
                axes.xaxis.set_major_locator(MaxNLocator(3))
            axes.xaxis.set_minor_formatter(NullFormatter())
            plain_log(axes)
        lost = int(np.sum(~known))
        unfinished = f"{lost} of {known.size} never ended" if lost else ""
        title, room = f"{name} ({unfinished})" if lost else name, TITLE_WIDTH // columns
        if max(map(len, title.splitlines()), default=0) > room:
            title = "\n".join([*(fill(line, room) for line in name.splitlines()), *([f"({unfinished})"] * bool(lost))])
        axes.set_title(title)
    for row in grid:  # with room for a number on either side of 1
        shown = np.concatenate([np.ones(1), *(line.get_ydata() for axes in row for line in axes.get_lines())])
        row[0].set_ylim(0.8 * min(np.nanmin(shown), 0.56), 1.25 * max(np.nanmax(shown), 1.8))
    for axes in panels[-columns:]:
        axes.set_xlabel("measured plateau")
    for axes in grid[:, 0]:
        axes.set_ylabel("predicted / measured")
    figure.legend(handles=panels[0].get_lines()[:2], loc="outside lower center", ncols=2)
    return captioned(
        figure,
        """Predicted over measured length of the plateau, one mark for each run (median over seeds): by the
        published power law, and by one fitted to these runs.""",
    )


def plain_log(axes: Axes) -> None:
    """A logarithmic height of few decades, in plain numbers."""
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=20))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_locator(LogLocator(subs="all", numticks=20))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _unlike(kinds: Mapping[str, Sequence[ToyRun]]) -> str:
    """What is trained in each panel, where that differs."""
    trained = {name: getattr(sizes_of(runs[0][0]), "trained", "") for name, runs in kinds.items() if runs}
    words = "; ".join(f"{TRAINED.get(what, what)} ({name})" for name, what in trained.items())
    return f" What is trained: {words}." if len(set(trained.values())) > 1 else ""


def _colours(kinds: Mapping[str, Sequence[ToyRun]]) -> dict[int, str]:
    """One colour a d, the same in every panel."""
    sizes = sorted({sizes_of(settings).dimension for runs in kinds.values() for settings, _ in runs})
    return dict(zip(sizes, run_colours(len(sizes)), strict=True))


def _draw_plateaus(
    axes: Axes, runs: Sequence[ToyRun], along: Along, colours: Mapping[int, str], *, decades: bool
) -> None:
    """One line for each combination of the other sizes: that of the largest is thick, and the rest are thin."""
    highest = 1.0
    names = ("length", "copies", "repeated")

    def beside(run: ToyRun) -> tuple[float, ...]:
        return tuple(getattr(sizes_of(run[0]), name) for name in names if name != along)

    x = sorted({getattr(sizes_of(settings), along) for settings, _ in runs})
    for dimension in sorted({sizes_of(settings).dimension for settings, _ in runs}):
        own = [run for run in runs if sizes_of(run[0]).dimension == dimension]
        others = sorted({beside(run) for run in own})
        for other in others:
            line = [run for run in own if beside(run) == other]
            line.sort(key=lambda run: getattr(sizes_of(run[0]), along))
            places = [getattr(sizes_of(settings), along) for settings, _ in line]
            row = np.array([_share(run, ends_of(run)) for run in line])
            formula = np.array([_share(run, run[1].facts["closed_form"]) for run in line])
            highest = max(highest, float(np.max(np.nan_to_num(np.append(row, formula)))))
            last = other == others[-1]
            look: Look = (
                {"linewidth": 1.4, "marker": "o", "markersize": 2.8} if last else {"linewidth": 0.5, "alpha": 0.5}
            )
            axes.plot(places, row, color=colours[dimension], **look)
            if last:
                colour = MUTED if along != "repeated" else colours[dimension]
                axes.plot(places, formula, color=colour, linestyle=DASHES, linewidth=0.9, zorder=1)
    if along != "repeated":
        axes.set_xscale("log")
        name_every(axes, x)
    axes.margins(x=0.06)
    if decades and any(np.isfinite(trajectory.facts["plateau"]).any() for _, trajectory in runs):
        plain_log(axes)
    else:
        axes.set_ylim(0, 1.15 * highest)


def _share(run: ToyRun, times: np.ndarray) -> float:
    """A time as a share of sqrt(d) T: the median over seeds."""
    sizes = sizes_of(run[0])
    values = np.where(np.isfinite(times), times, np.nan)
    return float(median_over_seeds(values[:, None])[0]) / (sizes.dimension**0.5 * sizes.length)
