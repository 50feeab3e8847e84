"""Figure 5: how far a model comes with so many training sequences, and when it is best to stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from headway.analysis import seed_stages
from headway.records import Trajectory
from headway.report.captions import CURVES, captioned
from headway.report.colours import INK, MUTED
from headway.report.figures.curves import draw_kl, reference_names
from headway.report.figures.ends import note_above
from headway.report.figures.lines import Run, from_zero, longest_times, median_over_seeds, moving_values, time_axis
from headway.report.figures.size_axis import best_losses, best_steps, draw_sizes, places_of, seed_table, size_axis
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled


@styled
def figure_sizes(runs: Mapping[str, Run], shown: Sequence[str]) -> Figure:
    """Left: lowest excess loss and stages against the size of the training set. Right: KL for the sizes `shown`.

    KL is that to the run's n-gram models where it has some beside it, else that to the rungs. The dashed line is the
    first step of the lowest excess loss, its median over the seeds and, shaded, their range.
    """
    ordered = sorted(runs.values(), key=lambda run: run[0].training.size)
    figure = new_figure(PAGE_WIDTH, 3.3)
    if not shown:
        _draw_best(figure, ordered)
        return captioned(
            figure,
            f"""Left, against the size of the training set: lowest excess loss, and number of stages; dots are
            seeds, larger where several agree, lines medians. Right, over training steps for some sizes: KL to
            n-gram models with context length c, or to the rungs; the dashed line is the step of the lowest
            loss (median, shaded the range over seeds). {CURVES}""",
            runs.values(),
        )
    left, right = figure.subfigures(1, 2, width_ratios=(1, 1.45), squeeze=False).ravel()
    _draw_best(left, ordered)
    columns = 1 if len(shown) < 3 else 2
    panels = right.subplots(-(-len(shown) // columns), columns, sharex=True, squeeze=False).ravel()
    for axes, name in zip(panels, shown, strict=False):
        _draw_ladder(axes, runs[name])
    time_axis(panels[0], longest_times([runs[name][1] for name in shown], "kl_rungs"), log=True)
    for place, axes in enumerate(panels[: len(shown)]):
        last_row = place >= len(panels) - columns
        axes.set_xlabel("training steps" if last_row else "")
        axes.tick_params(labelbottom=last_row or len(shown) < len(panels))
    for axes in panels[len(shown) :]:
        axes.remove()
    return captioned(
        figure,
        f"""Left, against the size of the training set: lowest excess loss, and number of stages; dots are seeds,
        larger where several agree, lines medians. Right, over training steps for some sizes: KL to n-gram
        models with context length c, or to the rungs; the dashed line is the step of the lowest loss (median,
        shaded the range over seeds). {CURVES}""",
        runs.values(),
    )


def _draw_best(figure: Figure | SubFigure, ordered: list[Run]) -> None:
    """Above the lowest excess loss, below the number of stages, against the size."""
    sizes = [settings.training.size for settings, _ in ordered]
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(1.7, 1))
    for axes in (above, below):
        dress(axes)
        size_axis(axes, sizes)
    draw_sizes(above, sizes, seed_table([best_losses(trajectory) for _, trajectory in ordered]), INK, "lowest")
    from_zero(above)
    above.set(xlabel="", ylabel="lowest excess loss (nats)")
    counts = [rungs_met(trajectory) for _, trajectory in ordered]
    _draw_counts(below, places_of(sizes), counts)
    draw_sizes(below, sizes, seed_table(counts), INK, "stages", dots=False, markersize=0)
    most = max((trajectory["kl_rungs"].shape[2] - 1 for _, trajectory in ordered), default=1)
    below.set(ylim=(-0.35, most + 0.35), yticks=range(most + 1), ylabel="stages")


def rungs_met(trajectory: Trajectory) -> np.ndarray:
    """How many rungs each seed visits, NaN for a seed without a number: (seed,)."""
    known = np.isfinite(moving_values(trajectory, "kl_rungs")).any(axis=(1, 2))
    return np.where(known, seed_stages.rungs_met(trajectory), np.nan)


def _draw_counts(axes: Axes, places: np.ndarray, counts: Sequence[np.ndarray]) -> None:
    """At each size and count a disc with the share of the seeds as its area: dots would hide each other."""
    for place, row in zip(places, counts, strict=True):
        found, seeds = np.unique(row[np.isfinite(row)], return_counts=True)
        axes.scatter(
            np.full(len(found), place), found, s=55 * seeds / len(row), color=INK, alpha=0.35, linewidths=0, zorder=2
        )


def _draw_ladder(axes: Axes, run: Run) -> None:
    settings, trajectory = run
    if "kl_references" in trajectory:
        draw_kl(axes, trajectory, reference_names(settings.task.references), "kl_references", log_steps=True)
        axes.set_ylabel("KL to n-gram models")
    else:
        draw_kl(axes, trajectory, log_steps=True)
        axes.set_ylabel("KL to the rungs")
    size = settings.training.size
    axes.set_title(f"{size:g} sequences" if np.isfinite(size) else "fresh sequences", pad=11)
    mark_best(axes, best_steps(trajectory))


def mark_best(axes: Axes, steps: np.ndarray) -> None:
    """A dashed line at the median of the steps, named above, and a shade over their range."""
    median = float(median_over_seeds(steps[:, None])[0])
    if not np.isfinite(median):
        return
    axes.axvspan(np.nanmin(steps), np.nanmax(steps), color=MUTED, alpha=0.15, linewidth=0, zorder=0)
    axes.axvline(median, color=INK, linewidth=0.9, linestyle=(0, (3, 2)), zorder=4)
    note_above(axes, "lowest loss", (median, 1.0), ("data", "axes fraction"), "center")
