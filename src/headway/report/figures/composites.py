"""Figure 1's lower half, and the picture that opens the README: the ladder and the attention side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.patches import FancyBboxPatch

from headway.records import Trajectory
from headway.report.captions import CURVES, STAGES, TOGETHER, captioned
from headway.report.colours import FAINT, INK
from headway.report.figures.attention import draw_attention, draw_legend, nearest_snapshots, seed_row
from headway.report.figures.curves import draw_excess, draw_kl
from headway.report.figures.lines import StageStarts, Steps
from headway.report.figures.style import PAGE_WIDTH, new_figure, styled
from headway.tasks.chain import Blocks


def telling_seed(trajectory: Trajectory) -> int:
    """The first seed that did not diverge and whose attention is known; else the first."""
    for row, seed in enumerate(trajectory.seeds):
        diverged = "diverged_at" in trajectory.facts and trajectory.facts["diverged_at"][row] >= 0
        if not diverged and np.isfinite(trajectory["attention"][row]).all():
            return seed
    return trajectory.seeds[0]


def telling_steps(trajectory: Trajectory, seed: int) -> tuple[int, ...]:
    """The start, and the snapshots at which the seed is nearest to f_{1:1}, f_{1:2}, ...: one for each stage.

    Fewer, when the seed is nearest to two rungs at the same snapshot.
    """
    snapshots = trajectory.times("attention")
    measured = np.searchsorted(trajectory.times("kl_rungs"), snapshots)
    distance = trajectory["kl_rungs"][seed_row(trajectory, seed), measured, 1:]
    nearest = np.argmin(np.where(np.isfinite(distance), distance, np.inf), axis=0)
    return tuple(int(step) for step in np.unique([snapshots[0], *snapshots[nearest]]))


@styled
def figure_stages(
    trajectory: Trajectory,
    blocks: Blocks,
    *,
    seed: int | None = None,
    steps: Steps | None = None,
    starts: StageStarts | None = None,
    names: Sequence[str] | None = None,
    log_steps: bool = True,
) -> Figure:
    """Left: KL to each rung over training. Right: the sum of the heads' attention at four steps."""
    seed = telling_seed(trajectory) if seed is None else seed
    steps = telling_steps(trajectory, seed) if steps is None else steps
    figure = new_figure(PAGE_WIDTH, 2.35)
    left, right = figure.subfigures(1, 2, width_ratios=(1.2, 1), squeeze=False).ravel()
    draw_kl(left.subplots(), trajectory, names, starts=starts, log_steps=log_steps)
    draw_attention(right, trajectory, seed, steps, blocks, columns=2 if len(steps) in (3, 4) else None, legend=None)
    draw_legend(figure, trajectory["attention"].shape[3], blocks)
    return captioned(
        figure,
        f"""Left: KL to each rung over training steps (logarithmic). {CURVES} {STAGES} Right: the attention of all
        heads together at chosen steps t of one seed. {TOGETHER}""",
        [(None, trajectory)],
    )


@styled
def figure_overview(
    trajectory: Trajectory,
    settings: Any,
    *,
    seed: int | None = None,
    steps: Steps | None = None,
    starts: StageStarts | None = None,
    log_steps: bool = True,
) -> Figure:
    """The whole story on 1600 x 700 pixels: the loss's staircase, the ladder, and where the heads look.

    The paper is a white card with round corners, so that it sits well on a light page and on a dark one.
    """
    seed = telling_seed(trajectory) if seed is None else seed
    steps = telling_steps(trajectory, seed) if steps is None else steps
    figure = new_figure(1600 / 230, 700 / 230, resolution=230)
    _lay_on_card(figure)
    above, below = figure.subfigures(2, 1, height_ratios=(1.05, 1), squeeze=False).ravel()
    for part in (above, below):
        part.set_facecolor("none")
    staircase, ladder = above.subplots(1, 2)
    draw_excess(staircase, trajectory, starts=starts, log_steps=log_steps)
    draw_kl(ladder, trajectory, starts=starts, log_steps=log_steps)
    shown = trajectory.times("attention")[nearest_snapshots(trajectory, steps)]
    for axes in (staircase, ladder):
        _point_at(axes, shown)
    draw_attention(below, trajectory, seed, steps, settings.task.blocks, legend="right")
    return captioned(
        figure,
        f"""Above, over training steps (logarithmic): excess loss, dotted the loss of each rung, and KL to each
        rung. {CURVES} {STAGES} Below: the attention of all heads together of one seed, at the steps marked by
        triangles. {TOGETHER}""",
        [(None, trajectory)],
    )


def _point_at(axes: Axes, steps: np.ndarray) -> None:
    """Small triangles on the time axis, at the steps whose attention is shown."""
    axes.set_xlabel("training steps  (\N{BLACK UP-POINTING SMALL TRIANGLE} shown below)")
    axes.plot(
        steps,
        np.zeros(len(steps)),
        transform=axes.get_xaxis_transform(),
        linestyle="none",
        marker=6,
        markersize=4,
        color=INK,
        clip_on=False,
        zorder=5,
    )


def _lay_on_card(figure: Figure) -> None:
    """A white card with round corners behind everything, and nothing around it."""
    figure.patch.set_alpha(0)
    width, height = figure.get_size_inches()
    figure.add_artist(
        FancyBboxPatch(
            (0.02, 0.02),
            width - 0.04,
            height - 0.04,
            boxstyle="round,pad=0,rounding_size=0.1",
            transform=figure.dpi_scale_trans,
            facecolor="white",
            edgecolor=FAINT,
            linewidth=0.5,
            zorder=-10,
        )
    )
    margin = 0.1
    inside = (margin / width, margin / height, 1 - 2 * margin / width, 1 - 2 * margin / height)
    figure.set_layout_engine(ConstrainedLayoutEngine(rect=inside, h_pad=0.055))
