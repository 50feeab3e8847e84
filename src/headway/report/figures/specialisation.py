"""Which head looks at which block over training, and how heads first compete and then share the work."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from scipy.optimize import linear_sum_assignment

from headway.analysis import competition, cooperation, mass_per_block
from headway.records import Trajectory
from headway.report.colours import COMPETITION_COLOUR, COOPERATION_COLOUR, MUTED, head_colours
from headway.report.figures.attention import seed_row
from headway.report.figures.lines import (
    StageStarts,
    draw_seeds,
    mark_stages,
    median_over_seeds,
    moving_values,
    name_lines,
    time_axis,
)
from headway.report.figures.style import dress, styled
from headway.tasks.chain import Blocks

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
    starts: StageStarts | None = None,
    *,
    layer: int = 0,
    log_steps: bool = False,
) -> None:
    """Attention that each head (colour) gives to each block (dashes), of one seed or, with None, the median.

    Heads have no order of their own, so before the median each seed's heads are put in the order
    of the blocks that they end on.
    """
    dress(axes)
    mass = _measure(trajectory, layer, lambda attention: mass_per_block(attention, blocks))
    times = trajectory.times("attention_by_lag")
    heads = mass.shape[2]
    if seed is None:
        lines = median_over_seeds(heads_by_block(mass))
        names = [f"head of block {block + 1}" for block in range(len(blocks))] + ["spare head"] * heads
        if heads < len(blocks):  # which blocks go without a head may differ from seed to seed
            names = [f"head {head + 1} in the order of blocks" for head in range(heads)]
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
    mark_stages(axes, starts)
    handles = [Line2D([], [], color=colour, linewidth=1.5) for colour in colours]
    handles += [Line2D([], [], color=MUTED, linewidth=1.2, linestyle=_dash(block)) for block in range(len(blocks))]
    axes.legend(
        handles,
        [*names[:heads], *(f"block {block + 1}" for block in range(len(blocks)))],
        handlelength=1.8,
        loc="center left",
        bbox_to_anchor=(1.0, 0.5),
    )


@styled
def draw_competition(
    axes: Axes,
    trajectory: Trajectory,
    blocks: Blocks,
    starts: StageStarts | None = None,
    *,
    layer: int = 0,
    log_steps: bool = False,
) -> None:
    """The indices of competition and cooperation between heads over training."""
    dress(axes)
    times = trajectory.times("attention_by_lag")
    competing = _measure(trajectory, layer, lambda attention: competition(mass_per_block(attention, blocks)))
    cooperating = _measure(trajectory, layer, lambda attention: cooperation(mass_per_block(attention, blocks)))
    lines = [
        draw_seeds(axes, times, competing, COMPETITION_COLOUR, "competition"),
        draw_seeds(axes, times, cooperating, COOPERATION_COLOUR, "cooperation"),
    ]
    time_axis(axes, times, log_steps)
    highest = np.fmax.reduce(
        [competing, cooperating], axis=None, initial=1.0
    )  # above 1 where overlapping blocks count twice
    axes.set_ylim(0, 1.02 * highest)
    axes.set_ylabel("index")
    mark_stages(axes, starts)
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


def _measure(trajectory: Trajectory, layer: int, measure: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """`measure` of (seed, time, head, lag), and NaN wherever a head's attention is not known."""
    attention = moving_values(trajectory, "attention_by_lag")[:, :, layer]
    known = np.asarray(np.isfinite(attention).all(axis=(2, 3)))
    # A measure need not know about gaps: it sees even attention there, and its answer is not used.
    filled = np.where(known[..., None, None], attention, 1 / attention.shape[-1])
    measured = np.array(measure(filled), dtype=float)
    measured[~known] = np.nan
    return measured


def _dash(block: int) -> Dashes:
    return DASHES[block % len(DASHES)]
