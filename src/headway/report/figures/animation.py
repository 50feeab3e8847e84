"""A run as a moving picture: the ladder on the left, attention at that step on the right."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image  # comes with matplotlib

from headway.analysis import Stages, stages_from_ladder
from headway.records import Trajectory
from headway.report.colours import INK, blend, full_strength, head_colours
from headway.report.figures.attention import draw_legend, draw_matrix, seed_row
from headway.report.figures.curves import draw_kl, rung_names
from headway.report.figures.lines import START
from headway.report.figures.style import styled
from headway.tasks.chain import Blocks

FRAMES = 48
MILLISECONDS = 110
PAUSE = 2500
"""On the last frame, before it begins again."""
CURVES = "curves: the rungs of the ladder"
HEADS_AND_BLOCKS = "attention: heads, and the keys of each block"
IN_A_LINE = 4
"""Entries of the legend under the picture."""
COLOURS = 255
"""Of the palette that all frames share: a few hundred kilobytes instead of megabytes."""


@styled
def animate(
    trajectory: Trajectory, seed: int, names: Sequence[str] = (), blocks: Blocks | None = None, layer: int = 0
) -> bytes:
    """A GIF of one seed, its snapshots evenly in log-time; the same run gives the same bytes."""
    for needed in ("kl_rungs", "attention"):
        if needed not in trajectory.arrays:
            raise ValueError(f"the record has no {needed}, which the picture needs: it shows a ladder and attention.")
    row = seed_row(trajectory, seed)
    matrices = trajectory["attention"][row, :, layer]  # (snapshot, head, query, key)
    times = np.asarray(trajectory.times("attention"), dtype=float)
    chosen = _evenly(times, FRAMES)
    stages = stages_from_ladder(trajectory.times("kl_rungs"), trajectory["kl_rungs"][row])
    figure = Figure(figsize=(7.6, 3.2), dpi=110, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    parts: Any = figure.subfigures(1, 2, width_ratios=(1.75, 1))
    curves, picture = parts
    left, right = curves.subplots(), picture.subplots()
    draw_kl(left, trajectory, names or rung_names(trajectory["kl_rungs"].shape[-1] - 1), log_steps=True)
    left.set_ylabel("KL(reference predictor ‖ model), nats")
    left.set_title(CURVES)
    now = left.axvline(times[0], color=INK, linewidth=1.0)
    # Under the picture alone: rungs and blocks have the same colours, and blocks are no curves.
    draw_legend(picture, matrices.shape[1], blocks, "below", IN_A_LINE, HEADS_AND_BLOCKS if blocks else None)
    full = full_strength(matrices)
    frames = []
    for snapshot in chosen:
        right.clear()
        draw_matrix(right, blend(matrices[snapshot], head_colours(matrices.shape[1]), full), blocks)
        right.set(xlabel="key", ylabel="query", title=_caption(times[snapshot], stages))
        now.set_xdata([times[snapshot]] * 2)
        canvas.draw()
        frames.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]))
    return _gif(frames)


def _evenly(times: np.ndarray, count: int) -> list[int]:
    """Snapshots spread evenly in log-time, the first and the last among them."""
    wanted = np.linspace(0, np.log1p(times[-1]), count)
    return sorted({int(np.argmin(np.abs(np.log1p(times) - point))) for point in wanted})


def _caption(time: float, stages: Stages) -> str:
    rung = stages.at(time)
    return f"step {time:.0f}, {f'stage {rung}' if rung else START}"


def _gif(frames: list[Image.Image]) -> bytes:
    width, height = frames[0].size
    some = [frames[place] for place in np.linspace(0, len(frames) - 1, 8).round().astype(int)]
    sheet = Image.new("RGB", (width, height * len(some)))  # colours come and go: the palette is that of all
    for place, frame in enumerate(some):
        sheet.paste(frame, (0, height * place))
    palette = sheet.quantize(COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    reduced = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [MILLISECONDS] * (len(reduced) - 1) + [PAUSE]
    content = io.BytesIO()
    reduced[0].save(
        content, "gif", save_all=True, append_images=reduced[1:], duration=durations, loop=0, optimize=True, disposal=1
    )
    return content.getvalue()
