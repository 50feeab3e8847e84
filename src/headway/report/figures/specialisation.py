"""Which head looks at which block over training, and how heads first compete and then share the work."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from scipy.optimize import linear_sum_assignment

from headway.analysis import competition, cooperation, mass_per_block
from headway.records import Trajectory
from headway.report.colours import COMPETITION_COLOUR, COOPERATION_COLOUR, MUTED, head_colours
from headway.report.figures.attention import seed_row
from headway.report.figures.lines import (
    Boundaries,
    draw_seeds,
    mark_boundaries,
    median_over_seeds,
    moving_values,
    name_lines,
    time_axis,
)
from headway.report.figures.style import dress, styled
from headway.settings import Blocks

Dashes = tuple[int, tuple[int | float, ...]]
DASHES: tuple[Dashes, ...] = (
    (0, ()),
    (0, (3, 1.2)),
    (0, (1, 1.2)),
    (0, (4, 1, 1, 1)),
    (0, (6, 2)),
    (0, (4, 1, 1, 1, 1, 1)),
)
"""Line styles of the blocks, the most important first; they return when there are more blocks."""


@styled
def draw_mass(
    axes: Axes,
    trajectory: Trajectory,
    seed: int | None,
    blocks: Blocks,
    boundaries: Boundaries | None = None,
    *,
    layer: int = 0,
    log_steps: bool = False,
) -> None:
    """Attention that each head (colour) gives to each block (dashes), of one seed or, with None, the median.

    Heads have no order of their own, so before the median each seed's heads are put in the order
    of the blocks that they end on.
    """
    dress(axes)
    mass = _mass(trajectory, blocks, layer)
    times = trajectory.times("attention_by_lag")
    heads = mass.shape[2]
    if seed is None:
        lines = median_over_seeds(heads_by_block(mass))
        names = [f"head of $I({head + 1})$" if head < len(blocks) else "spare head" for head in range(heads)]
    else:
        lines = mass[seed_row(trajectory, seed)]
        names = [f"head {head + 1}" for head in range(heads)]
    colours = head_colours(heads)
    widths = np.linspace(2.0, 1.0, heads) if heads > 1 else [1.3]  # heads that move together stay visible
    for head, (colour, width) in enumerate(zip(colours, widths, strict=True)):
        for block in range(len(blocks)):
            axes.plot(times, lines[:, head, block], color=colour, linewidth=width, linestyle=_dash(block))
    time_axis(axes, times, log_steps)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("attention on a block")
    mark_boundaries(axes, boundaries)
    handles = [Line2D([], [], color=colour, linewidth=1.5) for colour in colours]
    handles += [
        Line2D([], [], color=MUTED, linewidth=1.2, linestyle=_dash(block)) for block in range(len(blocks))
    ]
    axes.legend(
        handles,
        [*names, *(f"$I({block + 1})$" for block in range(len(blocks)))],
        handlelength=1.8,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
    )


@styled
def draw_competition(
    axes: Axes,
    trajectory: Trajectory,
    blocks: Blocks,
    boundaries: Boundaries | None = None,
    *,
    layer: int = 0,
    log_steps: bool = False,
) -> None:
    """The indices of competition and cooperation between heads over training."""
    dress(axes)
    mass = _mass(trajectory, blocks, layer)
    times = trajectory.times("attention_by_lag")
    lines = [
        draw_seeds(axes, times, np.asarray(competition(mass)), COMPETITION_COLOUR, "competition"),
        draw_seeds(axes, times, np.asarray(cooperation(mass)), COOPERATION_COLOUR, "cooperation"),
    ]
    time_axis(axes, times, log_steps)
    axes.set_ylim(0, 1.02)
    axes.set_ylabel("index")
    mark_boundaries(axes, boundaries)
    name_lines(axes, lines)


def heads_by_block(mass: np.ndarray) -> np.ndarray:
    """(seed, time, head, block) with each seed's heads in the order of the blocks that they end on.

    The order is the assignment of heads to blocks with the largest total mass at the last known time;
    heads that get no block come last.
    """
    ordered = mass.copy()
    for row in range(len(mass)):
        known = np.flatnonzero(np.isfinite(mass[row]).all(axis=(1, 2)))
        if known.size == 0:
            continue
        heads, blocks = linear_sum_assignment(mass[row, known[-1]], maximize=True)
        matched = list(heads[np.argsort(blocks)])
        spare = [head for head in range(mass.shape[2]) if head not in matched]
        ordered[row] = mass[row][:, matched + spare]
    return ordered


def _mass(trajectory: Trajectory, blocks: Blocks, layer: int) -> np.ndarray:
    """(seed, time, head, block)"""
    return np.asarray(mass_per_block(moving_values(trajectory, "attention_by_lag")[:, :, layer], blocks))


def _dash(block: int) -> Dashes:
    return DASHES[block % len(DASHES)]
