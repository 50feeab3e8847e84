"""The gradient flow beside what was trained: losses on one time axis, boundaries against boundaries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullFormatter

from headway.analysis import over_seeds
from headway.analysis.seed_stages import boundary_table
from headway.claims.theory_over_training import boundaries_of, method_of, times_of
from headway.report.captions import captioned
from headway.report.colours import INK, MUTED, run_colours, rung_colours
from headway.report.figures.lines import Run, draw_seeds, from_zero, median_over_seeds, moving_values
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled

FLOW_LOOK = (0, (3, 1.5))
"""The flow is dashed: it was solved, all else was trained."""


@styled
def figure_regression(flow: Run, trained: Mapping[str, Run]) -> Figure:
    """Above, the loss of the first seed over the flow's time, and AdamW's over steps; below, b_i / b_i(flow)."""
    figure = new_figure(PAGE_WIDTH, 4.6)
    axes = figure.subplot_mosaic(
        [["time", "steps"], ["ratios", "ratios"]], width_ratios=(1.7, 1), height_ratios=(1.15, 1)
    )
    timed = {name: run for name, run in trained.items() if method_of(run[0]) != "adamw"}
    stepped = {name: run for name, run in trained.items() if name not in timed}
    colours = dict(zip(trained, run_colours(len(trained)), strict=True))
    words = {name: run_words(run[0]) for name, run in trained.items()}
    for each in axes.values():
        dress(each)
    _draw_over_time(axes["time"], flow, timed, colours, words)
    _draw_laid_on(axes["time"], flow, stepped, colours)
    # Outside, because curves, boundaries and levels run through every corner.
    figure.legend(*axes["time"].get_legend_handles_labels(), loc="outside upper center", ncols=4, fontsize=6.0)
    _draw_over_steps(axes["steps"], flow, stepped, colours)
    _draw_ratios(axes["ratios"], flow, trained, words)
    return captioned(
        figure,
        """The flow's own model, trained. Top left: loss of one seed over learning rate times step, beside the
        flow (dashed) and its boundaries (dashed vertical lines). Top right: AdamW over training steps; thin lines are
        seeds, the thick one their median. Dotted: the loss with 0, 1, ... features learnt. Bottom: boundaries relative
        to those of the flow; dots are seeds, bars medians. At the bottom and top left, AdamW's steps are scaled so that
        the first boundaries agree.""",
        [flow, *trained.values()],
    )


def run_words(settings: Any) -> str:
    """What sets a run apart, in few words."""
    method, training = method_of(settings), settings.training
    if method == "gd":
        return f"GD\nstep {training.learning_rate:g}"
    return f"{'SGD' if method == 'sgd' else 'AdamW'}\nbatch {training.batch}"


def _draw_over_time(
    axes: Axes, flow: Run, runs: Mapping[str, Run], colours: Mapping[str, str], words: Mapping[str, str]
) -> None:
    """One seed, because seeds change stages at different times and no mean of staircases is one."""
    for name, run in runs.items():
        loss = moving_values(run[1], "loss")[0]
        label = words[name].replace("\n", ", ")
        axes.plot(times_of(run), loss, color=colours[name], linewidth=1.3, label=label, zorder=2)
    _draw_flow(axes, flow)
    _log_time(axes, flow[1].times("loss"))
    axes.set(xlabel="time (learning rate × step)", ylabel="excess loss", title=f"seed {flow[1].seeds[0]}")
    _mark_levels(axes, flow)
    from_zero(axes)


def _draw_laid_on(axes: Axes, flow: Run, runs: Mapping[str, Run], colours: Mapping[str, str]) -> None:
    """Steps times what lays their first boundary on the flow's: the one time that AdamW can be given."""
    for name, run in runs.items():
        first, own = (boundaries_of(each)[0, 0] for each in (flow, run))
        if np.isfinite(first) and np.isfinite(own):
            times, loss = times_of(run) * first / own, moving_values(run[1], "loss")[0]
            label = f"{name}, first boundary laid on"
            axes.plot(times, loss, color=colours[name], linewidth=1.1, label=label, zorder=2)


def _draw_flow(axes: Axes, flow: Run) -> None:
    loss = moving_values(flow[1], "loss")[0]
    label = "flow as simulated by the authors" if flow[0].projections == 1 else "flow as printed"
    axes.plot(flow[1].times("loss"), loss, color=INK, linewidth=1.1, linestyle=FLOW_LOOK, label=label, zorder=4)
    for boundary in np.asarray(flow[1].facts["boundaries"])[0]:
        if np.isfinite(boundary):
            axes.axvline(boundary, color=MUTED, linewidth=0.6, linestyle=(0, (4, 2.5)), zorder=1)


def _draw_over_steps(axes: Axes, flow: Run, runs: Mapping[str, Run], colours: Mapping[str, str]) -> None:
    """AdamW has no time that its rate would give: its own axis, all seeds."""
    for name, (settings, trajectory) in runs.items():
        times = trajectory.times("loss")
        draw_seeds(axes, times, moving_values(trajectory, "loss"), colours[name], name)
        _log_time(axes, times)
        axes.set(xlabel="training steps", title=f"{name}, rate {settings.training.learning_rate:g}, all seeds")
    _mark_levels(axes, flow)
    from_zero(axes)


def _mark_levels(axes: Axes, flow: Run) -> None:
    """Dotted lines where the loss waits: 1/2 sum_{j > i} m_j^2."""
    for level in flow[0].plateaus[:-1]:
        axes.axhline(level, color=MUTED, linewidth=0.6, linestyle=(0, (1, 1.6)), zorder=1)


def _draw_ratios(axes: Axes, flow: Run, runs: Mapping[str, Run], words: Mapping[str, str]) -> None:
    """A dot a seed and a bar at the median, for every run and boundary; what was never met is counted below."""
    wanted = np.asarray(flow[1].facts["boundaries"], float)
    count = wanted.shape[1]
    colours = rung_colours(count)
    axes.axhline(1, color=INK, linewidth=0.8, linestyle=FLOW_LOOK, zorder=1)
    everything = [np.ones(1)]
    for place, run in enumerate(runs.values()):
        ratios = _ratios(boundaries_of(run), wanted, method_of(run[0]) == "adamw")
        everything.append(ratios[np.isfinite(ratios)])
        for i in range(count):
            x = place + 0.22 * (i - (count - 1) / 2)
            known = ratios[np.isfinite(ratios[:, i]), i]
            axes.plot(np.full(len(known), x), known, "o", color=colours[i], markersize=2.5, alpha=0.5, linewidth=0)
            if len(known):
                axes.plot([x - 0.09, x + 0.09], 2 * [np.median(known)], color=colours[i], linewidth=1.8)
            if len(known) < len(ratios):
                note = f"{len(ratios) - len(known)} never"
                place_below = (x, 0.02)
                axes.annotate(
                    note, place_below, xycoords=("data", "axes fraction"), ha="center", fontsize=5, color=MUTED
                )
    _ratio_axis(axes, np.concatenate(everything))
    laid_on = {name: method_of(settings) == "adamw" for name, (settings, _) in runs.items()}
    labels = [f"{text}\n(first laid on)" if laid_on[name] else text for name, text in words.items()]
    axes.set_xticks(range(len(runs)), labels)
    axes.set_xlim(-0.5, len(runs) - 0.5)
    axes.set_ylabel("boundary / the flow's")
    for i, colour in enumerate(colours):
        axes.plot([], [], "o", color=colour, markersize=3, label=f"boundary {i + 1}")
    axes.legend(loc="upper left", ncols=count)


def _ratios(found: np.ndarray, wanted: np.ndarray, scaled: bool) -> np.ndarray:
    """b_i / b_i(flow), NaN where one was not met; `scaled` divides by the first."""
    known = np.isfinite(found) & np.isfinite(wanted)
    ratios = np.where(known, found, np.nan) / np.where(known, wanted, np.nan)
    return ratios / ratios[:, :1] if scaled else ratios


def _ratio_axis(axes: Axes, ratios: np.ndarray) -> None:
    """Logarithmic, with whole factors as ticks, and room for the names of the boundaries."""
    low, high = min(ratios.min() / 1.15, 0.8), max(2.2 * ratios.max(), 1.6)
    axes.set_ylim(low, high)
    axes.set_yscale("log")
    near = (0.8, 1.25) if high < 8 * low else ()  # else they lie over 1
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, *near) if low <= tick <= high]
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def _log_time(axes: Axes, times: np.ndarray) -> None:
    positive = times[times > 0]
    first, last = (float(positive[0]), float(positive[-1])) if len(positive) > 1 else (0.1, 1.0)
    axes.set_xlim(first, last)
    axes.set_xscale("log")


@styled
def figure_overlay(training: Run, flows: Mapping[str, Run]) -> Figure:
    """Left, losses relative to their start, the flow's time stretched so that the first boundaries after stage 1 meet;
    right, the boundaries: on the line, one factor explains them.
    """
    figure = new_figure(PAGE_WIDTH, 2.5)
    left, right = figure.subplots(1, 2, width_ratios=(1.5, 1))
    dress(left)
    dress(right)
    trajectory = training[1]
    steps = trajectory.times("excess_loss").astype(float)
    excess = moving_values(trajectory, "excess_loss")
    draw_seeds(left, steps, excess / excess[:, :1], INK, "minimal transformer")
    found = boundary_table(trajectory)
    for boundary in median_over_seeds(found):
        if np.isfinite(boundary):
            left.axvline(boundary, color=MUTED, linewidth=0.7, linestyle=(0, (4, 2.5)), zorder=1)
    for (_, flow), name, colour in zip(flows.values(), flows, run_colours(len(flows) + 1)[1:], strict=True):
        wanted = np.asarray(flow.facts["boundaries"], float)[:, 1:]
        factor = _factor(found, wanted)
        if np.isfinite(factor):
            loss = moving_values(flow, "loss")
            draw_seeds(left, factor * flow.times("loss"), loss / loss[:, :1], colour, name, linestyle=FLOW_LOOK)
        _draw_boundaries(right, found, wanted, factor, colour, name)
    _log_time(left, steps)
    left.set(xlabel="training steps (flow: time × one factor)", ylabel="loss / loss at the start")
    from_zero(left)
    figure.legend(handles=left.get_legend_handles_labels()[0], loc="outside upper center", ncols=3)
    right.set(xlabel="boundary of the flow (time)", ylabel="transformer's boundary (steps)")
    if np.isfinite(found).any():
        right.set_ylim(np.nanmin(found) / 1.5, 2 * np.nanmax(found))
    return captioned(
        figure,
        """Left: loss relative to its start, of the minimal transformer over training steps and of gradient flows
        over their time, stretched so that the first boundaries after stage 1 agree. Thin lines are seeds,
        thick ones their median; dashed vertical lines are the transformer's boundaries (medians). Right: the
        transformer's boundaries against the flow's, medians with ranges over seeds; on a dashed
        line, one factor maps one onto the other.""",
        [training, *flows.values()],
    )


def _factor(found: np.ndarray, wanted: np.ndarray) -> float:
    """Steps a unit of time, from the medians of the first boundaries after stage 1; NaN without them."""
    if not found.shape[1] or not wanted.shape[1]:
        return float("nan")
    return over_seeds(found[:, 0]).median / over_seeds(wanted[:, 0]).median


def _draw_boundaries(axes: Axes, found: np.ndarray, wanted: np.ndarray, factor: float, colour: str, name: str) -> None:
    """Medians with their ranges over seeds, on logarithmic axes, and the line of one factor."""
    points = [
        (over_seeds(times), over_seeds(steps), times[np.isfinite(times)], steps[np.isfinite(steps)])
        for times, steps in zip(wanted.T, found.T, strict=False)
    ]
    met = [point for point in points if point[0].seeds and point[1].seeds]
    if not met or not np.isfinite(factor):
        return
    axes.set(xscale="log", yscale="log")
    for at, step, times, steps in met:
        axes.plot([times.min(), times.max()], 2 * [step.median], color=colour, linewidth=0.8)
        axes.plot(2 * [at.median], [steps.min(), steps.max()], color=colour, linewidth=0.8)
        axes.plot(at.median, step.median, "o", color=colour, markersize=4)
    along = _ends([point[2] for point in met])
    axes.plot(along, factor * along, color=colour, linewidth=0.8, linestyle=FLOW_LOOK, label=name)


def _ends(rows: Sequence[np.ndarray]) -> np.ndarray:
    everything = np.concatenate(rows)
    return np.array([everything.min(), everything.max()])
