"""Paper B's toy over time: loss, attention and W of one run, or of every share p of a repeated vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from headway.claims.plateau_laws import OWN_CLOCK, plateau
from headway.records import Trajectory
from headway.report.captions import CURVES, captioned
from headway.report.colours import COMPETITION_COLOUR, COOPERATION_COLOUR, INK, MUTED, run_colours
from headway.report.figures.ends import note_above
from headway.report.figures.lines import draw_seeds, median_over_seeds, moving_values
from headway.report.figures.style import DASHES, DOTS, PAGE_WIDTH, dress, new_figure, styled

Look = dict[str, Any]
ToyRun = tuple[Any, Trajectory]
"""A descent, whose task has the sizes, or a flow, which has them itself."""
NAMES = {"attention_relevant": "attention on the token", "gain": r"$\langle W, W_*\rangle / d$"}
COLOURS = {"attention_relevant": COOPERATION_COLOUR, "gain": COMPETITION_COLOUR}


@styled
def figure_transition(run: ToyRun) -> Figure:
    """Left: the loss, where its plateau ends, and the threshold. Right: attention and W."""
    settings, trajectory = run
    times, threshold = times_of(run), settings.training.threshold
    figure = new_figure(PAGE_WIDTH, 2.2)
    left, right = figure.subplots(1, 2)
    draw_seeds(left, times, curves_of(trajectory, "loss"), INK, "loss")
    left.axhline(threshold, color=MUTED, linewidth=0.7, linestyle=DOTS)
    note_above(left, f"threshold {threshold:g}", (0.02, threshold), ("axes fraction", "data"), "left")
    left.set_ylabel("loss")
    for name in ("gain", "attention_relevant"):
        draw_seeds(right, times, curves_of(trajectory, name), COLOURS[name], NAMES[name])
    right.axhline(1, color=MUTED, linewidth=0.7, linestyle=DOTS)
    right.set_ylabel("share")
    figure.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    ends = ends_of(run)
    for axes in (left, right):
        dress(axes)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("steps")
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
        if np.isfinite(ends).any():
            axes.axvline(float(np.median(ends[np.isfinite(ends)])), color=MUTED, linewidth=0.7, linestyle=DASHES)
            axes.set_xlim(0, 1.5 * float(np.max(ends[np.isfinite(ends)])))
    left.set_title(sizes_of(settings).size)
    return captioned(
        figure,
        f"""The toy model over training steps. Left: the loss, the threshold 0.1 and, dashed, the end of the
        plateau. Right: attention to the relevant token, and the share of the map W* that W has learnt.
        {CURVES}""",
        [run],
    )


@styled
def figure_repeated(runs: Sequence[ToyRun]) -> Figure:
    """Every share p of one size: the loss without repetition, attention, and W where it repeats and where not."""
    figure = new_figure(PAGE_WIDTH, 2.2)
    panels = figure.subplots(1, 3)
    for run, colour in zip(runs, run_colours(len(runs)), strict=True):
        trajectory, sizes = run[1], sizes_of(run[0])
        times, size = times_of(run), sizes.dimension
        loss, attention, gain, repeated = (
            median_of(trajectory, name) for name in ("loss", "attention_relevant", "gain", "gain_repeated")
        )
        panels[0].plot(times, loss, color=colour, linewidth=1.3, label=f"p = {sizes.repeated:g}")
        panels[1].plot(times, attention, color=colour, linewidth=1.3)
        panels[2].plot(times, (size * gain - repeated) / (size - 1), color=colour, linewidth=1.3)
        panels[2].plot(times, repeated, color=colour, linewidth=1.0, linestyle=DASHES)
    for axes, label in zip(panels, ("loss without repetition", "attention on the token", "share of W"), strict=True):
        dress(axes)
        axes.set_ylabel(label)
        axes.set_xlabel("steps")
        axes.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))
        axes.set_ylim(bottom=0)
    panels[0].set_title(without_repetition(runs[0][0]))
    keys = [*panels[0].get_lines(), Line2D([], [], color=MUTED, label="W, other directions")]
    keys.append(Line2D([], [], color=MUTED, linestyle=DASHES, label="W, repeated vector"))
    figure.legend(handles=keys, loc="outside lower center", ncols=len(keys))
    return captioned(
        figure,
        """The toy model with one vector repeated in a share p of the samples, over training steps: loss on
        samples without repetition; attention to the relevant token; share of W* that W has learnt along the
        repeated vector (dashed) and along the others. Lines are medians over seeds.""",
        runs,
    )


def sizes_of(settings: Any) -> Any:
    """What has d, T, B and p."""
    return getattr(settings, "task", settings)


def times_of(run: ToyRun) -> np.ndarray:
    """Time at which a run was seen: of a flow, or steps times their length."""
    settings, trajectory = run
    times = trajectory.times("loss")
    if trajectory.clock_of["loss"] == OWN_CLOCK:  # which counts closed forms of the plateau
        return times * trajectory.facts["closed_form"][0]
    return times * settings.training.learning_rate


def ends_of(run: ToyRun) -> np.ndarray:
    """When the plateau of every seed ended, in the same time; NaN where it never did: (seed,)."""
    settings, _ = run
    return plateau(run) * (settings.training.learning_rate if hasattr(settings, "training") else 1.0)


def curves_of(trajectory: Trajectory, name: str) -> np.ndarray:
    """(seed, time): the toy has one layer and one head."""
    return moving_values(trajectory, name).reshape(len(trajectory.seeds), -1)


def median_of(trajectory: Trajectory, name: str) -> np.ndarray:
    """The median over seeds of a curve: (time,)."""
    return median_over_seeds(curves_of(trajectory, name))


def without_repetition(settings: Any) -> str:
    """d = 64, T = 256."""
    sizes = sizes_of(settings)
    return f"d = {sizes.dimension}, T = {sizes.length}"
