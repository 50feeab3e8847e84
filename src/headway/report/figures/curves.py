"""Figure 3 and its kin: how far the model is from each rung, and from the truth, over training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes

from headway.records import Trajectory
from headway.report.colours import UNIFORM_COLOUR, rung_colours
from headway.report.figures.lines import (
    StageStarts,
    draw_seeds,
    from_zero,
    mark_stages,
    median_over_seeds,
    moving_values,
    name_lines,
    name_on_the_right,
    time_axis,
)
from headway.report.figures.style import dress, styled


def rung_names(rungs: int) -> tuple[str, ...]:
    """rung 1, rung 2, ...: of a chain the predictors that know the first block, the first two, ..."""
    return tuple(f"rung {rung}" for rung in range(1, rungs + 1))


def reference_names(contexts: Sequence[int]) -> tuple[str, ...]:
    """c = 4, c = 8, ...: the n-gram models by their contexts."""
    return tuple(f"$c = {context}$" for context in contexts)


@styled
def draw_kl(
    axes: Axes,
    trajectory: Trajectory,
    names: Sequence[str] | None = None,
    quantity: Literal["kl_rungs", "kl_references"] = "kl_rungs",
    starts: StageStarts | None = None,
    *,
    uniform: bool = False,
    log_steps: bool = False,
) -> None:
    """KL(reference || model) over training, for each rung or each n-gram model.

    `names` are one for each curve; rungs know their own. They stand at the ends of the lines.
    `uniform` adds rung 0.
    """
    dress(axes)
    values = moving_values(trajectory, quantity)
    first = 1 if quantity == "kl_rungs" else 0
    count = values.shape[-1] - first
    if names is None and quantity == "kl_rungs":
        names = rung_names(count)
    if names is None or len(names) != count:
        raise ValueError(
            f"{quantity} has {count} curves to name, but the names are {names!r}. "
            "Give one name a curve, as `rung_names(3)` or `reference_names((4, 8, 12))` do."
        )
    times = trajectory.times(quantity)
    names, colours = tuple(names), rung_colours(count)
    if uniform and first:
        first, names, colours = 0, ("uniform", *names), (UNIFORM_COLOUR, *colours)
    lines = [
        draw_seeds(axes, times, values[..., curve], colour, name)
        for curve, (name, colour) in enumerate(zip(names, colours, strict=True), start=first)
    ]
    time_axis(axes, times, log_steps)
    from_zero(axes)
    axes.set_ylabel("KL divergence")
    mark_stages(axes, starts)
    name_lines(axes, lines)


@styled
def draw_excess(
    axes: Axes,
    trajectory: Trajectory,
    levels: bool = True,
    starts: StageStarts | None = None,
    *,
    log_steps: bool = False,
) -> None:
    """Cross-entropy minus the truth's over training; dotted lines are what each rung would reach."""
    dress(axes)
    values = moving_values(trajectory, "excess_loss")
    times = trajectory.times("excess_loss")
    draw_seeds(axes, times, values, "#30363D", "model")
    time_axis(axes, times, log_steps)
    from_zero(axes)
    axes.set_ylabel("excess loss (nats)")
    if levels:
        _draw_levels(axes, trajectory)
    mark_stages(axes, starts)


def _draw_levels(axes: Axes, trajectory: Trajectory) -> None:
    """A dotted line at each rung's excess loss, named on the right."""
    if "rung_excess" not in trajectory.facts:
        raise KeyError("this trajectory has no fact 'rung_excess' to draw levels at. Use `levels=False`.")
    heights = median_over_seeds(np.asarray(trajectory.facts["rung_excess"], dtype=float))
    count = len(heights) - 1
    names = ("uniform", *rung_names(count))
    colours = (UNIFORM_COLOUR, *rung_colours(count))
    axes.set_ylim(top=max(axes.get_ylim()[1], 1.05 * np.fmax.reduce(heights, initial=0.0)))
    for height, colour in zip(heights, colours, strict=True):
        if np.isfinite(height):
            axes.axhline(height, color=colour, linewidth=0.9, linestyle=(0, (1, 1.6)), zorder=1, clip_on=False)
    name_on_the_right(axes, heights, names, colours)
