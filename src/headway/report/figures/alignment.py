"""How the values of the heads turn towards the features over training: one panel a feature, one colour a head."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from headway.analysis.seed_stages import stage_starts
from headway.records import Trajectory
from headway.report.captions import BY_BLOCK, CURVES, FLOW_STAGES, STAGES, captioned
from headway.report.colours import MUTED, head_colours
from headway.report.figures.flow import by_position, mark_flow_boundaries, time_axis_of_flow
from headway.report.figures.lines import draw_seeds, mark_stages, moving_values, name_lines, time_axis
from headway.report.figures.specialisation import heads_by_block
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled
from headway.settings import FlowSettings

MEASURE = "value_alignment"


def shows_alignment(trajectory: Trajectory) -> bool:
    """Whether the run measured it: records of before do not hold it."""
    return MEASURE in trajectory


@styled
def figure_alignment(trajectory: Trajectory) -> Figure:
    """cos(V_k, A_j) over training, a row for each layer and a panel for each block; thick: the median over seeds.

    Heads have no order of their own: in each seed they are put in the order of the blocks that they end on.
    """
    cosines = moving_values(trajectory, MEASURE)
    layers, blocks = cosines.shape[2], cosines.shape[4]
    starts = stage_starts(trajectory)
    figure = new_figure(PAGE_WIDTH, 0.4 + 1.7 * layers)
    grid = figure.subplots(layers, blocks, squeeze=False, sharex=True, sharey=True)
    for layer, row in enumerate(grid):
        ordered = heads_by_block(cosines[:, :, layer])
        for block, axes in enumerate(row):
            lines = _draw_heads(axes, trajectory.times(MEASURE), ordered[..., block])
            time_axis(axes, trajectory.times(MEASURE), log=True)
            mark_stages(axes, starts)
            axes.set_title(f"$A_{block + 1}$", pad=12)
            axes.set_xlabel("training steps" if layer == layers - 1 else "")
        row[0].set_ylabel(r"$\cos(V_k, A_j)$" + (f", layer {layer + 1}" if layers > 1 else ""))
        name_lines(row[-1], lines)
    return captioned(
        figure,
        f"""Cosine between each head's value matrix V_k and the matrix A_j of the chain, one panel for each block
        j, over training steps (logarithmic). {BY_BLOCK} {CURVES} {STAGES}""",
        [(None, trajectory)],
    )


@styled
def figure_flow_alignment(settings: FlowSettings, trajectory: Trajectory) -> Figure:
    """cos(V_k, V_j*) over the flow's time, one panel a feature; from V = 0 a value stays in the features' span."""
    trajectory = by_position(trajectory)
    cosines = flow_cosines(trajectory)
    figure = new_figure(PAGE_WIDTH, 2.1)
    panels = figure.subplots(1, settings.features, squeeze=False, sharey=True)[0]
    for feature, axes in enumerate(panels):
        lines = _draw_heads(axes, trajectory.times("values")[1:], cosines[:, 1:, :, feature])
        time_axis_of_flow(axes, settings, trajectory)
        mark_flow_boundaries(axes, trajectory)
        axes.set(title=f"$V_{feature + 1}^*$", xlabel="time $t$")
    panels[0].set_ylabel(r"$\cos(V_k, V_j^*)$")
    name_lines(panels[-1], lines)
    return captioned(
        figure,
        f"""Cosine between each head's value V_k and each feature V_j*, one panel for each feature j, over the
        time of the gradient flow (logarithmic). In each seed heads are renumbered by the position that they
        end on: head 1 ends on position 1, and so on. Each position gets one head; where two heads end on one position,
        one of them has the number of a position that it is not on. {CURVES} {FLOW_STAGES}""",
        [(None, trajectory)],
    )


def flow_cosines(trajectory: Trajectory) -> np.ndarray:
    """<V_k, V_j*> / |V_k|, (seed, time, head, feature); NaN where a value is zero, as at the start."""
    values = np.asarray(trajectory["values"], float)
    sizes = np.linalg.norm(values, axis=-1, keepdims=True)
    return np.where(sizes > 0, values / np.where(sizes > 0, sizes, 1), np.nan)


def _draw_heads(axes, times: np.ndarray, cosines: np.ndarray) -> list:
    """(seed, time, head): thin lines for seeds, their median thick."""
    dress(axes)
    axes.axhline(0, color=MUTED, linewidth=0.5, zorder=1)
    heads = cosines.shape[2]
    colours = head_colours(heads)
    lines = [draw_seeds(axes, times, cosines[:, :, k], colours[k], f"head {k + 1}") for k in range(heads)]
    axes.set_ylim(-1.03, 1.03)
    return lines
