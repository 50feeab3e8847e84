"""In-context chains and n-grams: losses with the rungs' levels, ladders, attention and weights over training."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullFormatter

from headway.records import Trajectory
from headway.report.captions import CURVES, captioned
from headway.report.colours import INK, MUTED, UNIFORM_COLOUR, head_colours, run_colours, rung_colours
from headway.report.figures.ends import level_places
from headway.report.figures.lines import Run, draw_seeds, from_zero, moving_values, time_axis
from headway.report.figures.style import DASHES, DOTS, PAGE_WIDTH, dress, new_figure, styled

RunsByName = Mapping[str, Run]


def _rung_colours(rungs: int) -> tuple[str, ...]:
    """Uniform in grey, the others from dark to light."""
    return (UNIFORM_COLOUR, *rung_colours(rungs - 1))


def _draw_levels(axes: Axes, run: Run) -> None:
    """Dashed lines at the losses of the rungs, with their names, further left where the line above is near.

    The last is named at the very left, because curves end where it is on the right.
    """
    settings, trajectory = run
    levels = np.median(np.asarray(trajectory.facts["rung_loss"], float), axis=0)
    places = [*level_places(levels, 0.99)[:-1], 0.015]
    for level, name, colour, place in zip(levels, settings.task.rungs, _rung_colours(len(levels)), places, strict=True):
        axes.axhline(level, color=colour, linewidth=0.8, linestyle=DASHES, zorder=1)
        axes.annotate(
            name,
            (place, level),
            xycoords=("axes fraction", "data"),
            xytext=(0, 1),
            textcoords="offset points",
            ha="left" if place == places[-1] else "right",
            va="bottom",
            fontsize=6,
            color=colour,
        )


def _draw_ladder(axes: Axes, run: Run) -> None:
    """KL(rung || model) over training."""
    settings, trajectory = run
    kl, times = moving_values(trajectory, "kl_rungs"), trajectory.times("kl_rungs")
    for rung, colour in enumerate(_rung_colours(kl.shape[2])):
        draw_seeds(axes, times, kl[:, :, rung], colour, settings.task.rungs[rung])
    axes.set_ylabel("KL(rung || model)")
    time_axis(axes, times, log=False)
    from_zero(axes)


def _draw_loss(axes: Axes, run: Run) -> None:
    _, trajectory = run
    draw_seeds(axes, trajectory.times("loss"), moving_values(trajectory, "loss"), INK, "model")
    time_axis(axes, trajectory.times("loss"), log=False)


@styled
def figure_chains(runs: RunsByName) -> Figure:
    """Above KL(truth || model) behind the last token, dashed the rungs'; below KL from every rung."""
    figure = new_figure(PAGE_WIDTH, 3.6)
    panels = figure.subplots(2, len(runs), squeeze=False)
    for column, (name, run) in zip(panels.T, runs.items(), strict=True):
        for axes in column:
            dress(axes)
        _draw_loss(column[0], run)
        _draw_levels(column[0], run)
        from_zero(column[0])
        column[0].set_title(name)
        column[0].set_xlabel("")
        _draw_ladder(column[1], run)
        for axes in column:
            axes.locator_params(axis="x", nbins=3)
    for row in panels:
        for axes in row[1:]:
            axes.set_ylabel("")
    panels[0, 0].set_ylabel("KL(truth || model)")
    return captioned(
        figure,
        f"""Markov chains learnt in context, one column for each number of states, over training steps. Top: KL
        to the truth, after the last token; dashed: the same of each rung. Bottom: KL to each rung. {CURVES}""",
        runs.values(),
    )


@styled
def figure_induction(runs: RunsByName) -> Figure:
    """Attention of layer 1 on the token before, of layer 2 on what followed the last token's like."""
    figure = new_figure(PAGE_WIDTH, 2.2)
    panels = figure.subplots(1, len(runs), sharey=True, squeeze=False)[0]
    first, second = head_colours(2)
    for axes, (name, (_, trajectory)) in zip(panels, runs.items(), strict=True):
        dress(axes)
        back, behind = trajectory["attention_back_1"], trajectory["attention_followers"]
        times = trajectory.times("attention_back_1")
        draw_seeds(axes, times, back[:, :, 0].max(axis=-1), first, "layer 1, the token before")
        draw_seeds(axes, times, behind[:, :, 1].max(axis=-1), second, "layer 2, what followed the last token's like")
        axes.set_title(name)
        axes.set_ylim(0, 1)
        time_axis(axes, times, log=False)
    panels[0].set_ylabel("attention")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return captioned(
        figure,
        f"""Attention over training steps, one panel for each number of states: of layer 1 to the previous token,
        and of layer 2 to the tokens that followed earlier occurrences of the last token. {CURVES}""",
        runs.values(),
    )


@styled
def figure_distraction(runs: RunsByName, *, by_sequences: bool = False) -> Figure:
    """KL(truth || model) of several runs; against steps, or against the sequences that are no unigrams."""
    figure = new_figure(PAGE_WIDTH, 2.2)
    axes = figure.subplots()
    dress(axes)
    for (name, (settings, trajectory)), colour in zip(runs.items(), run_colours(len(runs)), strict=True):
        times = trajectory.times("loss").astype(float)
        if by_sequences:
            times = times * settings.training.batch * (1 - settings.task.unigrams)
        draw_seeds(axes, times, moving_values(trajectory, "loss"), colour, name)
    _draw_levels(axes, next(iter(runs.values())))
    axes.set_xlabel("sequences that are not unigrams" if by_sequences else "training steps")
    axes.set_ylabel("KL(truth || model)")
    axes.set_xlim(left=0)
    from_zero(axes)
    handles = [line for line in axes.get_lines() if line.get_label() in runs]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(runs))
    against = "the number of training sequences that are not drawn from unigrams" if by_sequences else "training steps"
    first, *others = [trajectory.facts["rung_loss"] for _, trajectory in runs.values()]
    alike = all(np.allclose(np.median(first, axis=0), np.median(each, axis=0)) for each in others)
    whose = "" if alike else f" for {next(iter(runs))}"
    words = f"KL to the truth against {against}, one colour for each run; dashed: the same of the rungs{whose}."
    return captioned(figure, f"{words} {CURVES}", runs.values())


@styled
def figure_trigrams(runs: RunsByName) -> Figure:
    """KL from every rung with enough heads, and with one."""
    figure = new_figure(PAGE_WIDTH, 2.2)
    panels = figure.subplots(1, len(runs), sharey=True, squeeze=False)[0]
    for axes, (name, run) in zip(panels, runs.items(), strict=True):
        dress(axes)
        _draw_ladder(axes, run)
        axes.set_title(name.replace(", ", ",\n"))
        axes.label_outer()
        axes.xaxis.set_major_locator(MaxNLocator(3))
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return captioned(
        figure,
        f"""Trigrams learnt in context: KL to each rung over training steps, one panel for each run. {CURVES}""",
        runs.values(),
    )


@styled
def figure_minimal(results: RunsByName, first_gains: np.ndarray, first_codes: Mapping[str, np.ndarray]) -> Figure:
    """Loss; W, dotted its first push; v over training; v_d while on the plateau beside its first push (dotted)."""
    figure = new_figure(PAGE_WIDTH, 3.6)
    (loss, gains), (codes, shape) = figure.subplots(2, 2)
    for axes in (loss, gains, codes, shape):
        dress(axes)
    for (name, (_, trajectory)), colour in zip(results.items(), run_colours(len(results)), strict=True):
        draw_seeds(loss, trajectory.times("loss"), moving_values(trajectory, "loss"), colour, name)
    time_axis(loss, trajectory.times("loss"), log=True)
    loss.set_ylabel("KL(truth || model)")
    loss.legend(loc="lower left", fontsize=6)
    _, trajectory = results["2 states"]
    times = trajectory.times("gain_same")
    draw_seeds(gains, times, trajectory["gain_same"], INK, "diagonal")
    draw_seeds(gains, times, trajectory["gain_other"], MUTED, "beside it")
    top = 1.3 * float(np.max(trajectory["gain_same"]))
    # Between evaluations, too: it leaves the axes before the second of them.
    fine = np.append(0, np.geomspace(0.01, max(float(times[-1]), 1.0), 400))
    course = np.interp(fine, times, first_gains)
    gains.plot(fine, np.where(course <= top, course, np.nan), color=INK, linestyle=DOTS, label="first update")
    gains.set_ylabel("W")
    gains.legend(loc="best", fontsize=6)
    time_axis(gains, times, log=True)
    values = trajectory["codes"]
    for distance, colour in enumerate(run_colours(6)):
        draw_seeds(codes, times, values[:, :, distance], colour, f"$v_{distance}$")
    codes.legend(loc="best", fontsize=6, ncols=2)
    codes.set_ylabel("v")
    time_axis(codes, times, log=True)
    _draw_shape(shape, trajectory, first_codes)
    return captioned(
        figure,
        f"""The minimal model of in-context bigrams, over training steps (logarithmic): the loss of every run; with 2
        states, the entries of W, dotted the course that its first update begins, and the first entries of v. Last
        panel: v against the distance d, less its mean, when v_1 has made a tenth of its way; dots are seeds, dotted
        lines its first update, scaled. {CURVES}""",
        results.values(),
    )


def _draw_shape(axes: Axes, trajectory: Trajectory, first: Mapping[str, np.ndarray]) -> None:
    """v_d when v_1 has made a tenth of its way, less its mean; theory scaled to the same size."""
    values, way = trajectory["codes"], trajectory["codes"][:, :, 1]
    early = np.argmax(way >= 0.1 * way.max(axis=1, keepdims=True), axis=1)
    own = values[np.arange(len(values)), early]
    own = own - own.mean(axis=1, keepdims=True)
    distance = np.arange(own.shape[1])
    for row in own:
        axes.plot(distance, row, "o", color=INK, markersize=2, alpha=0.4)
    for (name, push), colour in zip(first.items(), (UNIFORM_COLOUR, rung_colours(1)[0]), strict=True):
        size = np.linalg.norm(np.median(own, axis=0)) / np.linalg.norm(push)
        label = f"first update from {name}, scaled"
        axes.plot(distance, size * push, color=colour, linestyle=DOTS, marker="_", label=label)
    axes.set(xlabel="distance d", ylabel="$v_d$ less its mean", title="on the plateau")
    axes.legend(loc="best", fontsize=6)
    axes.set_xlim(-0.3, own.shape[1] - 0.7)


@styled
def figure_sub_n_grams(results: RunsByName) -> Figure:
    """Columns are runs: the loss with its rungs, each head's attention back by 1, 2, .., and the gradient's norm."""
    figure = new_figure(PAGE_WIDTH, 4.6)
    panels = figure.subplots(3, len(results), squeeze=False)
    rungs = max((settings.task.rungs for settings, _ in results.values()), key=len)
    shades = dict(zip(rungs, _rung_colours(len(rungs)), strict=True))
    for (top, middle, low), (name, run) in zip(panels.T, results.items(), strict=True):
        settings, trajectory = run
        for axes in (top, middle, low):
            dress(axes)
        _draw_loss(top, run)
        top.set_title(name.replace(", ", ",\n"), fontsize=6)
        levels = np.median(np.asarray(trajectory.facts["rung_loss"], float), axis=0)
        # Named below: in a panel this narrow the loss would run through the names.
        for rung, level in zip(settings.task.rungs, levels, strict=True):
            top.axhline(level, color=shades[rung], linewidth=0.8, linestyle=DASHES, zorder=1)
        room = max(float(np.ptp(levels)), 0.01)
        lowest = float(np.min(np.median(np.asarray(trajectory["loss"], float), axis=0)))
        # In short contexts a model without pseudo-counts stays above all rungs.
        top.set_ylim(levels.min() - 0.1 * room, max(levels.max(), lowest) + 0.3 * room)
        lags = settings.task.grams - 1
        times = trajectory.times("attention_back_1")
        for lag, colour in zip(range(1, lags + 1), head_colours(lags), strict=True):
            heads = np.median(trajectory[f"attention_back_{lag}"][:, :, 0], axis=0)
            for head in heads.T:
                middle.plot(times, head, color=colour, linewidth=1.0, label=f"{lag} back")
        middle.set_ylim(0, 1)
        norm = moving_values(trajectory, "gradient_norm")
        draw_seeds(low, trajectory.times("gradient_norm"), norm, INK, "gradient")
        from_zero(low)
        for axes in (top, middle, low):
            _decades(axes, times)
        low.set_xlabel("training steps")
    for axes, words in zip(panels[:, 0], ("loss", "attention, by head", "|gradient|"), strict=True):
        axes.set_ylabel(words)
    labelled = [pair for axes in panels[1] for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    kept = {name: handle for handle, name in labelled}
    dashed = {rung: Line2D([], [], color=shade, linewidth=0.8, linestyle=DASHES) for rung, shade in shades.items()}
    keys = dashed | kept
    figure.legend(keys.values(), keys.keys(), loc="outside lower center", ncols=len(keys))
    return captioned(
        figure,
        f"""One column for each run, over training steps (logarithmic). Top: the loss, without what is far above all
        rungs; dashed: that of the best n-grams. Middle: attention of each head of layer 1 to the token 1, 2, ... back,
        median over seeds. Bottom: norm of a batch's gradient. {CURVES}""",
        results.values(),
    )


def _decades(axes: Axes, times: np.ndarray) -> None:
    """The logarithm of time from the first evaluation after the start on: the first plateaus are short."""
    axes.set_xlabel("")
    after = times[times > 0]
    if len(after):
        axes.set_xscale("log")
        axes.set_xlim(after[0], after[-1])
        axes.xaxis.set_minor_formatter(NullFormatter())


@styled
def figure_points(run: Run) -> Figure:
    """|gradient| with respect to QK at the k-gram points, and at random weights (dashed), against T."""
    settings, trajectory = run
    figure = new_figure(PAGE_WIDTH, 2.4)
    axes = figure.subplots()
    dress(axes)
    lengths, norms = trajectory.times("gradient_scores"), trajectory["gradient_scores"]
    for k, colour in enumerate(_rung_colours(norms.shape[2] + 1)[1:]):
        draw_seeds(axes, lengths, norms[:, :, k], colour, settings.task.rungs[k + 1])
    draw_seeds(axes, lengths, trajectory["gradient_random"], MUTED, "random QK", linestyle=DASHES)
    axes.set(xscale="log", xlabel="context length T", ylabel="|gradient|")
    if np.isfinite(norms).any():
        axes.set_yscale("log")
    axes.set_xticks(lengths, [str(length) for length in lengths])
    axes.minorticks_off()
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right center")
    return captioned(
        figure,
        f"""Norm of the gradient with respect to keys and queries, against the context length T, at the parameters
        at which the model predicts like a k-gram (one colour for each k), and at random ones (dashed).
        {CURVES}""",
        [run],
    )
