"""Figure 10: where the flow's heads look, what they add, and what is left of the loss, over the flow's time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

from headway.records import Trajectory
from headway.report.captions import FLOW_STAGES, captioned
from headway.report.colours import INK, MUTED, head_colours
from headway.report.figures.ends import note_above
from headway.report.figures.family import log_axis
from headway.report.figures.lines import name_stages
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled
from headway.settings import FlowSettings

FLOOR = 1e-3
"""The lowest loss that is drawn, which is next to nothing of what there was."""
WORTH_A_LINE = 3e-3
"""Share of the first loss that a cross term must reach to be drawn."""
DOTTED = (0, (1, 1.6))
LONG_AFTER = 10
"""How many times the last boundary the axis shows, at most."""


@styled
def figure_flow(settings: FlowSettings, trajectory: Trajectory) -> Figure:
    """Attention by position, values by feature, loss and its parts; a head has the colour of where it ends.

    Seeds are thin. The thick one is the seed whose boundaries are nearest to their medians: a median of curves that
    fall at different times would fall more slowly than any of them.
    """
    trajectory = by_position(trajectory)
    features, typical = settings.features, typical_seed(trajectory)
    heads = trajectory["attention"].shape[2]
    colours = head_colours(max(heads, features))
    figure = new_figure(PAGE_WIDTH, 4.9)
    grid = figure.add_gridspec(3, features, height_ratios=(1, 1, 1.6))
    for row, name in enumerate(("attention", "values")):
        panels = [figure.add_subplot(grid[row, place]) for place in range(features)]
        for place, axes in enumerate(panels):
            _draw_heads(axes, trajectory, name, place, typical, colours)
            time_axis_of_flow(axes, settings, trajectory)
            axes.tick_params(labelbottom=name == "values")
            mark_flow_boundaries(axes, trajectory)
            if place:
                axes.sharey(panels[0])
                axes.tick_params(labelleft=False)
        _dress_row(panels, name, settings)
    below = figure.add_subplot(grid[2, :])
    _draw_loss(below, settings, trajectory, typical, colours)
    _legend(figure, features, colours[:heads])
    return captioned(
        figure,
        f"""The gradient flow over its time t (logarithmic). Top: attention of each head at each position. Middle:
        each head's value along each feature. Bottom: the loss, its levels L_i with i features learnt, and its parts.
        A head has the colour of the position that it ends on. Thin lines are seeds; the thick one is the seed
        whose boundaries are nearest to the medians. {FLOW_STAGES}""",
        [(None, trajectory)],
    )


def by_position(trajectory: Trajectory) -> Trajectory:
    """The same with the heads of every seed in the order of the positions that they take at the end.

    Heads are alike but for the noise of the start, so that number 2 of one seed has nothing to do with number 2 of
    another. Each position gets the head that puts most of its feature there, no head two; heads beyond come last.
    """
    from scipy.optimize import linear_sum_assignment  # takes longer to import than all else here

    values = dict(trajectory.arrays)
    for name in ("attention", "attention_elsewhere", "values"):
        values[name] = np.array(values[name])
    put = trajectory["attention"][:, -1] * trajectory["values"][:, -1]
    for seed, matrix in enumerate(np.nan_to_num(put)):
        heads, places = linear_sum_assignment(-matrix)
        order = heads[np.argsort(places)]
        order = [*order, *(head for head in range(len(matrix)) if head not in order)]
        for name in ("attention", "attention_elsewhere", "values"):
            values[name][seed] = trajectory[name][seed][:, order]
    return replace(trajectory, arrays=values)


def typical_seed(trajectory: Trajectory) -> int:
    """The row of the seed whose boundaries are nearest, on a logarithmic axis, to the medians; infinite ones last."""
    ends = np.asarray(trajectory.facts["boundaries"], float)
    last = float(trajectory.clocks["time"][-1])
    logs = np.log(np.clip(ends, 1e-12, 10 * last))
    return int(np.abs(logs - np.median(logs, axis=0)).sum(axis=1).argmin())


def _draw_heads(
    axes: Axes, trajectory: Trajectory, name: str, place: int, typical: int, colours: tuple[str, ...]
) -> None:
    dress(axes)
    times = trajectory.times(name)
    for head in range(trajectory[name].shape[2]):
        _draw(axes, times, trajectory[name][:, :, head, place], typical, colours[head])


def _draw(axes: Axes, times: np.ndarray, rows: np.ndarray, typical: int, colour: str, style: str = "-") -> None:
    # Time 0 has no place on a logarithmic axis; the first time kept after it looks the same.
    for seed, row in enumerate(rows):
        if seed != typical:
            axes.plot(times[1:], row[1:], style, color=colour, linewidth=0.4, alpha=0.3, zorder=2)
    axes.plot(times[1:], rows[typical, 1:], style, color=colour, linewidth=1.5, zorder=3)


def _dress_row(panels: list[Axes], name: str, settings: FlowSettings) -> None:
    first = panels[0]
    if name == "attention":
        first.set_ylim(0, 1.03)
        first.set_ylabel("attention $s_k$")
        for place, axes in enumerate(panels, start=1):
            axes.set_title(f"position {place}")
            axes.axhline(1 / settings.length, color=MUTED, linewidth=0.7, linestyle=DOTTED, zorder=1)
        note_above(panels[-1], "uniform", (0.03, 1 / settings.length), ("axes fraction", "data"), "left")
        return
    # All panels on one scale, and room for the name of the strongest feature.
    seen = [0.0, settings.strengths[0]]
    seen += [end for axes in panels for end in (axes.dataLim.y0, axes.dataLim.y1) if np.isfinite(end)]
    spare = 0.06 * (max(seen) - min(seen))
    first.set_ylim(min(seen) - spare, max(seen) + 2 * spare)
    first.set_ylabel(r"value $\langle V_k, V_j^*\rangle$")
    first.yaxis.set_major_locator(MaxNLocator(4))
    for place, axes in enumerate(panels, start=1):
        axes.set_title(f"feature {place}")
        axes.axhline(0, color=MUTED, linewidth=0.5, zorder=1)
        strength = settings.strengths[place - 1]
        axes.axhline(strength, color=MUTED, linewidth=0.7, linestyle=DOTTED, zorder=1)
        note_above(axes, f"$m_{place}$", (0.03, strength), ("axes fraction", "data"), "left")


def _draw_loss(
    axes: Axes, settings: FlowSettings, trajectory: Trajectory, typical: int, colours: tuple[str, ...]
) -> None:
    """The loss in ink; feature j at position j in the colour of its head, at another position dashed."""
    dress(axes)
    times, loss, parts = trajectory.times("loss"), trajectory["loss"], trajectory["loss_parts"]
    for feature in range(settings.features):
        for place in range(settings.features):
            cross = feature != place
            if not cross or parts[typical, :, feature, place].max() > WORTH_A_LINE * loss[typical, 0]:
                style = "--" if cross else "-"
                _draw(axes, times, parts[:, :, feature, place], typical, colours[feature], style)
    _draw(axes, times, loss, typical, INK)
    log_axis(axes, [loss], FLOOR)
    time_axis_of_flow(axes, settings, trajectory)
    axes.set_xlabel("time $t$")
    mark_flow_boundaries(axes, trajectory, named=True)
    axes.set_ylabel(r"loss $\frac{1}{2}\|G - P\|^2$")
    for known, level in enumerate(settings.plateaus[:-1]):
        axes.axhline(level, color=MUTED, linewidth=0.7, linestyle=DOTTED, zorder=1)
        axes.text(
            1.01, level, f"$L_{known}$", transform=axes.get_yaxis_transform(), va="center", fontsize=6.5, color=MUTED
        )


def time_axis_of_flow(axes: Axes, settings: FlowSettings, trajectory: Trajectory) -> None:
    """A logarithm of time, up to long after the last stage."""
    ends = np.asarray(trajectory.facts["boundaries"], float)
    met = ends[np.isfinite(ends)]
    axes.set_xscale("log")
    axes.set_xlim(settings.first, min(settings.last, LONG_AFTER * met.max()) if len(met) else settings.last)
    axes.xaxis.set_major_locator(LogLocator(numticks=8))
    axes.xaxis.set_minor_locator(LogLocator(subs="all", numticks=20))
    axes.xaxis.set_minor_formatter(NullFormatter())


def mark_flow_boundaries(axes: Axes, trajectory: Trajectory, *, named: bool = False) -> None:
    """A dashed line at each boundary's median and a shade over its range; boundary k begins stage k."""
    ends = np.asarray(trajectory.facts["boundaries"], float)
    medians = []
    for column in ends.T:
        met = column[np.isfinite(column)]
        if not len(met):
            break
        medians.append(float(np.median(met)))
        axes.axvspan(met.min(), met.max(), color=MUTED, alpha=0.09, linewidth=0, zorder=0)
        axes.axvline(medians[-1], color=MUTED, linewidth=0.7, linestyle=(0, (4, 2.5)), zorder=1)
    if named:
        name_stages(axes, [(median, number) for number, median in enumerate(medians, start=1)], room=0.1)


def _legend(figure: Figure, features: int, colours: tuple[str, ...]) -> None:
    """One line a head, by where it ends; the loss and its cross terms."""
    names = [f"head that ends at position {k + 1}" if k < features else "another head" for k in range(len(colours))]
    lines = [Line2D([], [], color=colour, linewidth=1.5) for colour in colours]
    names += [
        "loss; in colour, its parts",
        "part: a feature at another's position",
        r"$L_i = \frac{1}{2}\sum_{j>i} m_j^2$",
    ]
    lines += [
        Line2D([], [], color=INK, linewidth=1.5),
        Line2D([], [], color=MUTED, linewidth=1.2, linestyle="--"),
        Line2D([], [], color=MUTED, linewidth=0.9, linestyle=DOTTED),
    ]
    # Filled column by column: the heads on the left, whatever their number.
    figure.legend(lines, names, loc="outside lower center", ncols=2 if len(colours) == 3 else 3)
