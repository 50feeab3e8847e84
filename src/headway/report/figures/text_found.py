"""Real text: heads of their own and the loss, and steps predicted from information and number of contexts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from headway.analysis.crossings import at_end
from headway.claims.text import CLOSE, same_text
from headway.claims.text_found import ON_IT, fitted, lag_terms, of_layer_1
from headway.report.captions import captioned
from headway.report.colours import MUTED, run_colours
from headway.report.figures.lines import Run
from headway.report.figures.style import DASHES, PAGE_WIDTH, dress, new_figure, styled

RunsByName = Mapping[str, Run]


@styled
def figure_own_heads(runs: RunsByName) -> Figure:
    """Attention of layer 1 to the lag after the first one with information, against the loss; a dot a seed."""
    texts: list[tuple[str, Run]] = []
    for name, run in runs.items():
        if not any(same_text(run[0], each[0]) for _, each in texts):
            texts.append((name, run))
    depths = sorted({settings.model.layers for settings, _ in runs.values()})
    figure = new_figure(PAGE_WIDTH, 1.2 + 1.4 * len(depths))
    panels = figure.subplots(len(depths), len(texts), sharex=True, squeeze=False)
    for row, depth in zip(panels, depths, strict=True):
        for axes, (_, (settings, _)), colour in zip(row, texts, run_colours(len(texts)), strict=True):
            dress(axes)
            for own in runs.values():
                if own[0].model.layers == depth and same_text(own[0], settings):
                    lag = 2 * own[0].task.interleaved
                    attention = at_end(of_layer_1((own[0], own[1]), [lag]))[:, 0]
                    axes.plot(attention, at_end(own[1]["loss"]), "o", color=colour, markersize=3.5)
            axes.axvline(ON_IT, color=MUTED, linewidth=0.8, linestyle=DASHES, zorder=1)
            axes.set_xlim(-0.05, 1.05)
            axes.margins(y=0.15)
        row[0].set_ylabel(f"loss, {depth} layer{'s' if depth > 1 else ''}")
    for axes, (name, _) in zip(panels[0], texts, strict=True):
        axes.set_title(name.partition(", interleaved")[0])
    figure.supxlabel("largest attention of a head of layer 1 to lag 4, at the end", fontsize=8)
    return captioned(
        figure,
        f"""Two texts interleaved, where lag 2 has the most information and lag 4 the next. Held-out loss at the end,
        against the attention that lag 4 gets from the head of layer 1 that attends to it most. A dot is a seed; above
        {ON_IT:g} (dashed) a head counts as being on the lag.""",
        runs.values(),
    )


@styled
def figure_contexts(runs: RunsByName) -> Figure:
    """Steps at which lags are learnt, against those predicted from the other texts."""
    figure = new_figure(PAGE_WIDTH / 2 + 1, 2.8)
    axes = figure.subplots()
    dress(axes)
    ends = []
    for (name, run), colour in zip(runs.items(), run_colours(len(runs)), strict=True):
        others = [each for other, each in runs.items() if other != name]
        for seed in range(len(run[1].seeds)):
            terms, steps = lag_terms((run[0], run[1]), seed)
            law = fitted([lag_terms((each[0], each[1]), seed) for each in others]) if others else np.full(3, np.nan)
            said, label = np.exp(terms @ law), name if seed == 0 else None
            axes.plot(said, np.exp(steps), "o", color=colour, markersize=3, label=label)
            ends.extend(said[np.isfinite(said)])
    low, high = (min(ends) / 2, max(ends) * 2) if ends else (1.0, 1000.0)
    line = np.array([low, high])
    axes.plot(line, line, color=MUTED, linewidth=0.8, zorder=1)
    axes.fill_between(line, line / CLOSE, line * CLOSE, color=MUTED, alpha=0.15, linewidth=0, zorder=0)
    axes.set(xscale="log", yscale="log", xlim=(low, high))
    axes.set_xlabel("step predicted from the other texts")
    axes.set_ylabel("step at which half is learnt")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return captioned(
        figure,
        f"""Step at which half of a lag's information is learnt, against the step that log t = a + b log I + c log N
        predicts, fitted to the other texts: I is the lag's information, N the number of contexts. Grey: a factor of
        {CLOSE:g} either way. A dot is a lag in one seed.""",
        runs.values(),
    )
