"""A made-up toy of paper B: formulas that look like one, for tests of claims and pictures. Nothing here was descended.

plateau    = constant d^(1/2) (T/B)^1 / sqrt(p^2 d + (1-p)^2), a little longer from seed to seed
attention  = B/T, and from its plateau on 1, within a tenth of it
gain       = rises evenly over the plateau to a half, then jumps to 1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.records import Trajectory

FORMULA = 1.25
"""Constant of what is told as closed form."""
LINEAR = 3.0
"""Escape time over closed form."""


def made_toy(
    settings: Any,
    seeds: tuple[int, ...] = (0, 1),
    diverged: dict[int, int] | None = None,
    *,
    constant: float = 1.3,
    powers: tuple[float, float, float] = (0.5, 1.0, 1.0),
    fall: float = 0.1,
    w_first: bool = True,
    points: int = 101,
) -> Trajectory:
    """All that a descent of the toy, or its flow, is stored with, at `points` times if it is a descent.

    `powers` are those of d, T and 1/B, `fall` the length of the transition.
    """
    task = getattr(settings, "task", settings)
    d, length, copies, p = task.dimension, task.length, task.copies, task.repeated
    size = d ** powers[0] * length ** powers[1] / copies ** powers[2] / np.sqrt(p**2 * d + (1 - p) ** 2)
    closed = FORMULA * np.sqrt(d) * length / copies / np.sqrt(p**2 * d + (1 - p) ** 2)
    plateaus = np.array([constant * (1 + 0.01 * seed) * size for seed in seeds])
    flow = task is settings
    times = np.linspace(0, settings.shown, settings.points) if flow else np.linspace(0, 2.5, points)
    # Where each run is on its way, in plateaus: 1 at its end, (seed, time).
    way = times * closed / plateaus[:, None]
    late = np.clip((way - 1 + fall) / fall, 0, 1)
    start = copies / length
    early = way if not w_first else late
    arrays = {
        "loss": 0.5 - 0.4 * late - 0.09 * np.clip(way - 1, 0, 1),
        "attention_relevant": (start + (1 - start) * np.clip(early, 0, 1))[:, :, None, None],
        "gain": np.clip(0.5 * way + 0.5 * late, 0, 1) if w_first else late,
        "gain_repeated": np.clip(way, 0, 1),
    }
    clock = "escape" if flow else "evaluation"
    return Trajectory(
        seeds,
        {clock: times if flow else times * closed},
        {name: values.astype(np.float32) for name, values in arrays.items()},
        dict.fromkeys(arrays, clock),
        {
            "plateau": plateaus,
            "closed_form": np.full(len(seeds), closed),
            "escape_time": np.full(len(seeds), LINEAR * closed),
            "diverged_at": np.array([(diverged or {}).get(seed, -1) for seed in seeds]),
        },
    )
