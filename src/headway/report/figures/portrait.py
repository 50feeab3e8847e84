"""x y = m: where the next head comes to rest, and the ways that lead there, in the plane of its value and attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.records import Trajectory
from headway.report.captions import captioned
from headway.report.colours import COMPETITION_COLOUR, COOPERATION_COLOUR, INK, MUTED, head_colours
from headway.report.figures.style import PAGE_WIDTH, dress, new_figure, styled
from headway.settings import PortraitSettings

REGION = 0.09
"""How much of its colour the region (12) has."""


@styled
def figure_portrait(settings: PortraitSettings, trajectory: Trajectory, flow: Trajectory | None = None) -> Figure:
    """The plane of head n + 1, with that head of every seed of the whole flow on it, where one is given."""
    strength = settings.strengths[settings.known]
    figure = new_figure(0.8 * PAGE_WIDTH, 2.9)
    axes = figure.subplots()
    dress(axes)
    facts = {name: values[0] for name, values in trajectory.facts.items()}
    _draw_region(axes, facts["border"], settings.reach * strength)
    _draw_field(axes, facts["places"], facts["field"])
    for orbit in np.moveaxis(trajectory["orbits"][0], 1, 0):
        axes.plot(*orbit.T, color=MUTED, linewidth=0.6, alpha=0.6, label="_orbit", zorder=2)
    axes.plot(*facts["rest"].T, color=INK, linewidth=1.6, label=f"$xy = m_{{{settings.known + 1}}}$: at rest", zorder=4)
    axes.axhline(0, color=INK, linewidth=1.6, zorder=4, clip_on=False)
    if "lost" in facts:
        (line,) = axes.plot(*facts["lost"].T, label="left of it and below: never learns", zorder=3)
        line.set(color=COMPETITION_COLOUR, linewidth=1.1, linestyle=(0, (4, 3)))
    if flow is not None:
        _draw_heads(axes, shadows(flow, settings.known), head_colours(settings.known + 1)[settings.known])
    axes.set(xlim=(-strength, settings.reach * strength), ylim=(0, 1))
    axes.set_xlabel(rf"value $x = \langle V', V_{{{settings.known + 1}}}^* \rangle$")
    axes.set_ylabel(rf"attention $y = s'_{{{settings.known + 1}}}$")
    figure.legend(loc="outside upper center", ncols=2)
    return captioned(
        figure,
        """The gradient flow of one more head once the first has learnt position 1: attention to position 2
        against the value along feature 2. Arrows: the direction of the flow; grey: its paths; yellow: that
        head in the whole flow, all seeds. Left of and below the red dashed line a head never learns the
        feature; shaded: where the condition (12) of the paper holds.""",
        [(None, flow)] if flow is not None else [],
    )


def shadows(flow: Trajectory, known: int) -> list[np.ndarray]:
    """(time, 2) of every seed: value and attention of the head that looks most at the next position in the end."""
    heads = flow["attention"][:, -1, :, known].argmax(axis=-1)
    return [
        np.stack([flow["values"][seed, :, head, known], flow["attention"][seed, :, head, known]], axis=-1)
        for seed, head in enumerate(heads)
    ]


def _draw_heads(axes: Axes, paths: Sequence[np.ndarray], colour: str) -> None:
    for seed, path in enumerate(paths):
        name = "_head" if seed else "that head of the whole flow, every seed"
        axes.plot(*path.T, color=colour, linewidth=1.1, alpha=0.85, label=name, zorder=5)
        axes.plot(*path[-1], "o", color=colour, markersize=3, label="_end", zorder=6)


def _draw_region(axes: Axes, border: np.ndarray, right: float) -> None:
    """phi > 0: right of x = 0 and below x y = 2 m."""
    corners = np.concatenate([[[0, 0], [right, 0]], border, [[0, 1]]])
    label = r"$\phi > 0$, condition (12)"
    axes.fill(*corners.T, color=COOPERATION_COLOUR, alpha=REGION, linewidth=0, label=label, zorder=1)


def _draw_field(axes: Axes, places: np.ndarray, field: np.ndarray) -> None:
    """Arrows of one length on paper: speeds differ a thousandfold."""
    spans = np.ptp(places.reshape(-1, 2), axis=0)
    on_paper = field / np.where(spans > 0, spans, 1)
    length = np.linalg.norm(on_paper, axis=-1, keepdims=True)
    towards = on_paper / np.where(length > 0, length, 1)
    arrows: dict[str, Any] = {"angles": "uv", "pivot": "mid", "scale": 42, "width": 0.0017, "headwidth": 4.5}
    axes.quiver(*np.moveaxis(places, -1, 0), *np.moveaxis(towards, -1, 0), color=MUTED, alpha=0.55, **arrows)
