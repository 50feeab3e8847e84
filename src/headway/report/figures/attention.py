"""Figure 2: where the heads look, at chosen steps; one colour a head, their sum as mixed ink."""

from __future__ import annotations

from typing import Literal

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from headway.records import Trajectory
from headway.report.colours import FAINT, MUTED, SEVERAL_COLOUR, blend, full_strength, head_colours, rung_colours
from headway.report.figures.lines import Steps
from headway.report.figures.style import styled
from headway.tasks.chain import Blocks

LegendPlace = Literal["below", "right"]


def seed_row(trajectory: Trajectory, seed: int) -> int:
    """Where the seed stands in the arrays."""
    if seed not in trajectory.seeds:
        raise ValueError(f"seed {seed} is not in this trajectory. It has the seeds {trajectory.seeds}.")
    return trajectory.seeds.index(seed)


def nearest_snapshots(trajectory: Trajectory, steps: Steps) -> list[int]:
    """For each step, the index of the snapshot nearest to it (the earlier one of two)."""
    times = np.asarray(trajectory.times("attention"), dtype=float)
    return [int(np.argmin(np.abs(times - step))) for step in steps]


@styled
def draw_attention(
    figure: Figure | SubFigure,
    trajectory: Trajectory,
    seed: int,
    steps: Steps,
    blocks: Blocks | None = None,
    *,
    columns: int | None = None,
    legend: LegendPlace | None = "below",
) -> None:
    """One panel a step: query rows, key columns, the heads' inks added up. Each layer has its own rows.

    The nearest snapshots are shown, with their true steps as titles. `blocks` marks, below each
    matrix, which keys of its last row lie in which block.
    """
    matrices, times = _shown(trajectory, seed, steps)
    _, layers, heads, *_ = matrices.shape
    full = full_strength(matrices)
    columns = min(columns or len(steps), len(steps))
    rows = -(-len(steps) // columns)
    panels = figure.subplots(layers * rows, columns, squeeze=False).reshape(layers, rows * columns)
    for layer, places in enumerate(panels):
        for place, axes in enumerate(places):
            if place >= len(steps):
                axes.remove()
                continue
            draw_matrix(axes, blend(matrices[place, layer], head_colours(heads), full), blocks)
            axes.set_title(_name_time(float(times[place])))
            lowest = layer == layers - 1 and place >= len(steps) - columns
            axes.set_xlabel("key" if lowest else "", labelpad=7)
            if place % columns == 0:
                axes.set_ylabel(f"layer {layer + 1}\nquery" if layers > 1 else "query", labelpad=3)
    if legend is not None:
        draw_legend(figure, heads, blocks, legend)


@styled
def draw_heads(
    figure: Figure | SubFigure,
    trajectory: Trajectory,
    seed: int,
    steps: Steps,
    blocks: Blocks | None = None,
    *,
    layer: int = 0,
) -> None:
    """Each head's own matrix: one row a head, one column a step, in the colours of `draw_attention`."""
    matrices, times = _shown(trajectory, seed, steps)
    heads = matrices.shape[2]
    full = full_strength(matrices[:, layer])
    panels = figure.subplots(heads, len(steps), squeeze=False)
    for head, (row, colour) in enumerate(zip(panels, head_colours(heads), strict=True)):
        for shown, (axes, time) in enumerate(zip(row, times, strict=True)):
            below = blocks if head == heads - 1 else None
            draw_matrix(axes, blend(matrices[shown, layer, head][None], (colour,), full), below)
            if head == 0:
                axes.set_title(_name_time(float(time)))
            if shown == 0:
                axes.set_ylabel(f"head {head + 1}\nquery", labelpad=3)
            if head == heads - 1:
                axes.set_xlabel("key", labelpad=7)


def _shown(trajectory: Trajectory, seed: int, steps: Steps) -> tuple[np.ndarray, np.ndarray]:
    """(step, layer, head, query, key) of one seed, and the true steps."""
    if len(steps) == 0:
        raise ValueError("no steps were given to show the attention at. Give some, as in (0, 60, 300, 1000).")
    snapshots = nearest_snapshots(trajectory, steps)
    matrices = trajectory["attention"][seed_row(trajectory, seed), snapshots]
    return matrices, trajectory.times("attention")[snapshots]


def draw_matrix(axes: Axes, pixels: np.ndarray, blocks: Blocks | None = None) -> None:
    """Pixels (query, key, 3) on input positions, counted from 1, the causal edge as a line, blocks below."""
    queries, keys, _ = pixels.shape
    start = keys - queries + 1
    axes.imshow(pixels, interpolation="nearest", aspect="equal", extent=(0.5, keys + 0.5, keys + 0.5, start - 0.5))
    # The newest key of each row; what lies to its right is the future.
    edge = np.repeat(np.arange(start, keys + 1) + 0.5, 2)
    rows = np.repeat(np.arange(start, keys + 2) - 0.5, 2)[1:-1]
    axes.plot(edge, rows, color=FAINT, linewidth=0.5, solid_joinstyle="miter")
    axes.set_xlim(0.5, keys + 0.5)
    axes.set_ylim(keys + 0.5, start - 0.5)
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(visible=True, color=MUTED, linewidth=0.4)
    _draw_blocks(axes, blocks)


def _name_time(time: float) -> str:
    """Steps are whole; flow time need not be."""
    return f"$t = {time:.0f}$" if time == round(time) else f"$t = {time:.3g}$"


def _draw_blocks(axes: Axes, blocks: Blocks | None) -> None:
    """Bars below the matrix: the keys that its last row should look at, block by block.

    Overlapping blocks get bars below each other.
    """
    if blocks is None:
        return
    keys = round(axes.get_xlim()[1] - 0.5)
    newest = keys + 1  # the lag of key j in the last row is newest - j
    for block, level, colour in zip(blocks, _levels(blocks), rung_colours(len(blocks)), strict=True):
        for nearest, farthest in _runs(block):
            axes.add_patch(
                Rectangle(
                    (newest - farthest - 0.5, -0.055 - 0.055 * level),
                    1.0 + farthest - nearest,
                    0.04,
                    transform=axes.get_xaxis_transform(),
                    facecolor=colour,
                    edgecolor="none",
                    clip_on=False,
                )
            )


def _runs(block: tuple[int, ...]) -> list[tuple[int, int]]:
    """(1, 2, 5) -> [(1, 2), (5, 5)]: neighbours share a bar, because touching bars show seams in print."""
    starts = [lag for lag in sorted(block) if lag - 1 not in block]
    ends = [lag for lag in sorted(block) if lag + 1 not in block]
    return list(zip(starts, ends, strict=True))


def _levels(blocks: Blocks) -> list[int]:
    """The first line below the matrix on which a block meets no earlier one."""
    levels: list[int] = []
    for number, block in enumerate(blocks):
        taken = {levels[other] for other in range(number) if _span(blocks[other]) & _span(block)}
        levels.append(next(level for level in range(len(blocks)) if level not in taken))
    return levels


def _span(block: tuple[int, ...]) -> set[int]:
    return set(range(min(block), max(block) + 1))


def draw_legend(
    figure: Figure | SubFigure,
    heads: int,
    blocks: Blocks | None,
    place: LegendPlace = "below",
    most: int = 8,
    title: str | None = None,
) -> None:
    """The heads' colours, the ink of a place that several of them share, and the bars of the blocks; `most` a line."""
    colours = head_colours(heads)
    entries: list[tuple[str, Artist]] = [
        (f"head {head}", Rectangle((0, 0), 1, 1, facecolor=colour)) for head, colour in enumerate(colours, start=1)
    ]
    if heads > 1:
        entries.append(("several heads", Rectangle((0, 0), 1, 1, facecolor=SEVERAL_COLOUR)))
    for number, colour in enumerate(rung_colours(len(blocks or ())), start=1):
        entries.append((f"block {number}", Line2D([], [], color=colour, linewidth=2.2, solid_capstyle="butt")))
    lines = -(-len(entries) // most)
    columns = -(-len(entries) // lines) if place == "below" else 1
    # A legend fills its columns first; people read lines first.
    entries = [entry for column in range(columns) for entry in entries[column::columns]]
    figure.legend(
        [artist for _, artist in entries],
        [name for name, _ in entries],
        loc="outside lower center" if place == "below" else "outside right center",
        ncols=columns,
        handlelength=0.9,
        handleheight=0.9,
        title=title,
    )
