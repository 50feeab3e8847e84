"""With little data: stopping a model early that sees everything, against choosing by validation how much it sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.records import Trajectory
from headway.report.captions import captioned
from headway.report.colours import COOPERATION_COLOUR, INK, MUTED, rung_colours
from headway.report.figures.curves import reference_names
from headway.report.figures.ends import name_ends
from headway.report.figures.lines import Run, from_zero, moving_values
from headway.report.figures.size_axis import draw_sizes, first_best, places_of, seed_table, size_axis
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled

Halves = dict[int, np.ndarray]
"""Seed -> excess loss on the even and on the odd test sequences, at the best step by the even ones."""


@dataclass(frozen=True)
class Choice:
    """One size of the training set; arrays over the seeds that all of its runs share."""

    size: float
    everything: np.ndarray
    """Excess loss of the model that sees everything: (seed,)."""
    lengths: dict[int, np.ndarray]
    """Context length -> that of its n-gram model: (seed,)."""
    chosen: np.ndarray
    """That of the length with the lowest loss on the even sequences: (seed,)."""
    picked: np.ndarray
    """That length; 0 where no length has a number: (seed,)."""


@styled
def figure_choice(runs: Mapping[str, Run]) -> Figure:
    """Left: excess loss against size, for each way to stop. Right: what the choice gains, seed by seed.

    Every run is stopped where its loss on the even test sequences reaches its minimum, and the length chosen by the
    same loss; shown is the loss on the odd ones. Sizes without n-gram models have nothing to choose from and are left
    out.
    """
    choices = choices_of(runs)
    figure = new_figure(PAGE_WIDTH, 2.3)
    losses, gains = figure.subplots(1, 2, width_ratios=(1.15, 1))
    for axes in (losses, gains):
        dress(axes)
        size_axis(axes, [choice.size for choice in choices])
    if not choices:
        for axes in (losses, gains):
            axes.text(0.5, 0.5, "no n-gram models", transform=axes.transAxes, ha="center", va="center", color=MUTED)
        return captioned(
            figure,
            """Training sets of different sizes. Left: excess loss after early stopping, of the model that sees
            the whole context, of n-gram models with context length c, and of the length chosen by validation.
            Right: how much lower the loss of the chosen length is than that of the whole context; a dot is a
            seed, in the colour of the length that it chose. Dots are seeds, lines medians.""",
            runs.values(),
        )
    contexts = sorted({length for choice in choices for length in choice.lengths})
    colours = dict(zip(contexts, rung_colours(len(contexts)), strict=True))
    _draw_losses(losses, choices, colours)
    _draw_gains(gains, choices, colours)
    return captioned(
        figure,
        """Training sets of different sizes. Left: excess loss after early stopping, of the model that sees the
        whole context, of n-gram models with context length c, and of the length chosen by validation. Right:
        how much lower the loss of the chosen length is than that of the whole context; a dot is a seed, in
        the colour of the length that it chose. Dots are seeds, lines medians.""",
        runs.values(),
    )


def choices_of(runs: Mapping[str, Run]) -> list[Choice]:
    """Every finite size that has the model that sees everything, and n-gram models beside it."""
    by_size: dict[float, dict[int | None, Halves]] = {}
    for settings, trajectory in runs.values():
        if np.isfinite(settings.training.size) and "excess_halves" in trajectory:
            by_size.setdefault(settings.training.size, {})[settings.task.context] = stopped(trajectory)
    return [
        _choice(size, models[None], {length: found for length, found in models.items() if length is not None})
        for size, models in sorted(by_size.items())
        if None in models and len(models) > 1
    ]


def stopped(trajectory: Trajectory) -> Halves:
    """Excess loss of each seed on both halves of the test sequences, at the best step by the first half."""
    halves = moving_values(trajectory, "excess_halves")
    best = first_best(halves[..., 0])
    return {
        seed: halves[row, best[row]] if best[row] >= 0 else np.full(2, np.nan)
        for row, seed in enumerate(trajectory.seeds)
    }


def _choice(size: float, everything: Halves, windows: dict[int, Halves]) -> Choice:
    seeds = [seed for seed in everything if all(seed in found for found in windows.values())]
    lengths = sorted(windows)
    table = np.array([[windows[length][seed] for seed in seeds] for length in lengths]).reshape(len(lengths), -1, 2)
    even, odd = np.where(np.isfinite(table[..., 0]), table[..., 0], np.inf), table[..., 1]
    pick, any_known = np.argmin(even, axis=0), np.isfinite(even).any(axis=0)
    return Choice(
        size,
        np.array([everything[seed][1] for seed in seeds]),
        {length: odd[row] for row, length in enumerate(lengths)},
        np.where(any_known, np.take_along_axis(odd, pick[None], axis=0)[0], np.nan),
        np.where(any_known, np.array(lengths)[pick], 0),
    )


def _draw_losses(axes: Axes, choices: list[Choice], colours: dict[int, str]) -> None:
    sizes = [choice.size for choice in choices]
    ways = [("whole context", INK, [choice.everything for choice in choices], {})]
    for (length, colour), name in zip(colours.items(), reference_names(list(colours)), strict=True):
        missing = np.empty(0)
        ways.append((name, colour, [choice.lengths.get(length, missing) for choice in choices], {"linewidth": 1.0}))
    # Open marks: where the choice is always the same, its line lies on another one, which must stay in sight.
    look = {"linestyle": (0, (2, 1.5)), "markersize": 5.0, "markerfacecolor": "none", "zorder": 4}
    ways.append(("chosen", COOPERATION_COLOUR, [choice.chosen for choice in choices], look))
    lines = [
        draw_sizes(axes, sizes, seed_table(rows), colour, name, dots=name != "chosen", **look)
        for name, colour, rows, look in ways
    ]
    from_zero(axes)
    axes.set_ylabel("excess loss, stopped early (nats)")
    name_ends(axes, lines)


def _draw_gains(axes: Axes, choices: list[Choice], colours: dict[int, str]) -> None:
    """A dot for each seed in the colour of the length that was chosen; above 0 the choice is the better one."""
    axes.axhline(0, color=MUTED, linewidth=0.7, zorder=1)
    sizes = [choice.size for choice in choices]
    gains = [choice.everything - choice.chosen for choice in choices]
    draw_sizes(axes, sizes, seed_table(gains), COOPERATION_COLOUR, "median", dots=False)
    for place, choice, gain in zip(places_of(sizes), choices, gains, strict=True):
        for length, colour in colours.items():
            own = gain[choice.picked == length]
            look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 3.5, "markeredgewidth": 0}
            axes.plot(np.full(len(own), place), own, color=colour, alpha=0.7, **look)
    axes.set_ylabel("gain of choosing (nats)")
    axes.set_title("each seed in the colour of its choice", loc="right", fontsize=6.5, color=MUTED)
