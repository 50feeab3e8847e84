"""Linear attention on in-context regression: the loss between its levels, closed forms over it, heads in turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.analysis.linear_attention import balanced_time, merged_sigma, noise, spectrum, white_loss
from headway.records import Trajectory
from headway.report.captions import CURVES, captioned
from headway.report.colours import COMPETITION_COLOUR, INK, MUTED, run_colours, rung_colours
from headway.report.figures.lines import Run, draw_seeds, moving_values, time_axis
from headway.report.figures.style import DASHES, DOTS, PAGE_WIDTH, dress, new_figure, styled

ROOM = 0.07
"""Share of the whole way between two levels that both have a name."""
CLOSED_FORM: dict[str, Any] = {"color": COMPETITION_COLOUR, "linewidth": 0.9, "linestyle": DASHES, "zorder": 4}
"""Above what was trained, which it would else lie under."""


@styled
def figure_linear_attention(merged: Run, separate: Run, balanced: Run, white: Run) -> Figure:
    """Merged and separate heads between the levels L_m; and two runs of which the closed form is known, dashed."""
    figure = new_figure(PAGE_WIDTH, 3.6)
    panels = figure.subplots(2, 2)
    named = zip(
        panels.ravel(),
        (merged, separate, white, balanced),
        ("merged", "separate", "merged, all eigenvalues alike", "separate, balanced start"),
        strict=True,
    )
    for axes, (settings, trajectory), name in named:
        _draw_loss(axes, trajectory, INK, begin=100 if settings.task.parts == "separate" else None)
        _levels(axes, trajectory)
        axes.set_title(name)
    _white_over(panels[1, 0], *white)
    _balanced_over(panels[1, 1], *balanced)
    for axes in panels[:, 0]:
        axes.set_ylabel("squared error")
    return captioned(
        figure,
        f"""Loss of linear attention on in-context regression over training steps, with merged (left) and with separate
        keys and queries (right, logarithmic). Below, the course is known in closed form (red, dashed): left because
        all eigenvalues are alike, from where the loss of each seed has fallen by 2 %; right because of a balanced
        initialisation. Grey, dashed: the loss L_m with m components learnt. {CURVES}""",
        (merged, separate, balanced, white),
    )


@styled
def figure_linear_heads(run: Run) -> Figure:
    """|v|, |k| and |q| of every head of the first seed, a colour for the eigenvector that it has at the end."""
    settings, trajectory = run
    figure = new_figure(PAGE_WIDTH, 2.2)
    panels = figure.subplots(1, 3, sharey=True)
    directions = np.nan_to_num(np.asarray(trajectory["direction"])[0, -1, 0]).astype(int)
    colours = rung_colours(settings.task.dimension)
    for axes, name in zip(panels, ("value", "key", "query"), strict=True):
        dress(axes)
        times, sizes = trajectory.times(f"{name}_size"), moving_values(trajectory, f"{name}_size")[0, :, 0]
        for head, direction in enumerate(directions):
            axes.plot(times, sizes[:, head], color=colours[direction - 1], linewidth=1.2)
        axes.set_xscale("log")
        axes.set_xlim(100, times[-1])
        axes.set_xlabel("training steps")
        axes.set_title(f"|{name[0] if name != 'value' else 'v'}| of each head")
    for direction, colour in enumerate(colours, start=1):
        panels[0].plot([], [], color=colour, label=f"eigenvector {direction}")
    figure.legend(loc="outside lower center", ncols=len(colours))
    return captioned(
        figure,
        """Norms of the value, key and query of every head over training steps (logarithmic), of one seed. A head
        has the colour of the eigenvector that it ends on.""",
    )


@styled
def figure_ranks(runs: Mapping[str, Run]) -> Figure:
    """The loss with keys and queries of several ranks; levels that the rank divides are drawn through."""
    figure = new_figure(PAGE_WIDTH, 3.6)
    panels = figure.subplots(2, -(-len(runs) // 2), sharex=True, sharey=True, squeeze=False).ravel()
    for axes, (name, (settings, trajectory)), colour in zip(panels, runs.items(), run_colours(len(runs)), strict=False):
        _draw_loss(axes, trajectory, colour, begin=200)
        _levels(axes, trajectory, settings.task.rank)
        axes.set_title(name)
    panels[0].set_ylabel("squared error")
    return captioned(
        figure,
        f"""Loss of linear attention over training steps (logarithmic), one panel for each rank R of keys and
        queries. Dashed: the loss L_m with m components learnt; dotted and faint where R does not divide m. {CURVES}""",
        runs.values(),
    )


@styled
def figure_linear_softmax(merged: Run, separate: Run) -> Figure:
    """The same with softmax; the levels are those of linear attention."""
    figure = new_figure(PAGE_WIDTH, 2.1)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (_, trajectory), name in zip(panels, (merged, separate), ("merged", "separate"), strict=True):
        _draw_loss(axes, trajectory, INK)
        _levels(axes, trajectory)
        axes.set_title(f"softmax, {name}")
    panels[0].set_ylabel("squared error")
    return captioned(
        figure,
        f"""Loss of softmax attention on in-context regression over training steps, with merged and with separate
        keys and queries. Dashed: the loss L_m of linear attention with m components learnt. {CURVES}""",
        (merged, separate),
    )


def _draw_loss(axes: Axes, trajectory: Trajectory, colour: str, begin: float | None = None) -> None:
    """Over the steps, or over their logarithm from `begin` on: drops come at powers of the eigenvalues."""
    dress(axes)
    times = trajectory.times("loss")
    draw_seeds(axes, times, moving_values(trajectory, "loss"), colour, "loss")
    if begin is None:
        time_axis(axes, times, log=False)
        return
    axes.set_xscale("log")
    axes.set_xlim(min(begin, times[-1] / 2), times[-1])
    axes.set_xlabel("training steps")


def _levels(axes: Axes, trajectory: Trajectory, rank: int = 1) -> None:
    """Named on the right, where there is room for the name."""
    levels = np.median(trajectory.facts["rung_loss"], axis=0)
    named = np.inf
    for count, level in enumerate(levels):
        dashes = DASHES if count % rank == 0 else DOTS
        axes.axhline(float(level), color=MUTED, linewidth=0.6 if count % rank == 0 else 0.35, linestyle=dashes)
        if count % rank == 0 and named - level > ROOM * np.ptp(levels):
            place = axes.get_yaxis_transform()
            axes.text(1.01, level, f"$L_{{{count}}}$", transform=place, va="center", fontsize=6.0, color=MUTED)
            named = level


def _white_over(axes: Axes, settings: Any, trajectory: Trajectory) -> None:
    """The logistic curve from where each seed's loss has come a little way: its start is not in the record."""
    task, times = settings.task, trajectory.times("loss")
    eigenvalue, size = task.eigenvalues[0], task.dimension
    tau = 1 / (2 * settings.training.learning_rate * task.gain)
    for loss in trajectory["loss"]:
        begun = int(np.argmax(loss < 0.98 * loss[0]))
        # sigma(t_0) from the loss there, the smaller root; w^2 of a start at t_0 is sqrt(D) sigma(t_0).
        noisy = 1 + (1 + size) / task.pairs
        share = 1 - loss[begun] / (size * eigenvalue)
        sigma = (1 - np.sqrt(np.maximum(1 - share * noisy, 0))) / (noisy * eigenvalue)
        curve = merged_sigma(times - times[begun], eigenvalue, size, task.pairs, np.sqrt(size) * sigma, tau)
        axes.plot(times, white_loss(curve, eigenvalue, size, task.pairs), **CLOSED_FORM)


def _balanced_over(axes: Axes, settings: Any, trajectory: Trajectory) -> None:
    """1 - (1 - y^3)^2 of each drop at the time t(y) of the closed form."""
    task = settings.task
    eigenvalues = spectrum(task.spectrum)
    root = task.gain ** (1 / 3)
    tau = 1 / (2 * settings.training.learning_rate * root**2)
    times = np.geomspace(100, trajectory.times("loss")[-1], 600)
    total = np.full(len(times), eigenvalues.sum())
    for eigenvalue, noisy in zip(eigenvalues, noise(eigenvalues, task.pairs), strict=True):
        scale = (eigenvalue * noisy) ** (1 / 3)
        y = np.linspace(root * task.start * scale * 1.0001, 0.9999, 4000)
        when = balanced_time(y / scale, root * task.start, eigenvalue, noisy, tau)
        done = np.interp(times, when, y**3, right=1.0)
        total -= eigenvalue / noisy * (1 - (1 - done) ** 2)
    axes.plot(times, total, **CLOSED_FORM)
