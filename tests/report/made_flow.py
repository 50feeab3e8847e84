"""A made-up gradient flow: formulas that look like one, for tests of claims and pictures. Nothing here was solved.

With the boundaries b_1 < b_2 < .. of a seed, moved_i(t) = 1 / (1 + (b_i / t)^8):

    head k comes to position 1 with moved_1 and leaves it with moved_k, for its own; a fifth stays behind
    its value along feature k grows with moved_k, and the first head offsets what is left behind of the others
    feature j's part of the loss at position j falls with moved_j; there are no others
"""

from __future__ import annotations

import numpy as np

from headway.records import Trajectory
from headway.settings import FlowSettings

SETTINGS = FlowSettings(length=10, first=1.0, last=1e4, points=60)
CROWD, OWN, LEFT = 0.8, 0.7, 0.2
"""Attention on position 1 where all heads are there; at its own position, and on position 1, of a head that left."""


def made_flow(
    settings: FlowSettings = SETTINGS, seeds: tuple[int, ...] = (0, 1), ends: tuple[float, ...] | None = None
) -> Trajectory:
    """All that a flow is stored with; boundaries at 10, 30, 90 .. and a little later from seed to seed."""
    count, heads = settings.features, settings.heads or settings.features
    times = np.concatenate([[0.0], np.geomspace(settings.first, settings.last, settings.points)])
    boundaries = np.stack([(1 + 0.05 * seed) * np.array(ends or 10 * 3.0 ** np.arange(count)) for seed in seeds])
    with np.errstate(divide="ignore"):
        moved = 1 / (1 + (boundaries[:, None] / times[:, None]) ** 8)  # (seed, time, feature)
    strengths = settings.base * settings.ratio ** np.arange(count - 1, -1, -1.0)
    uniform = 1 / settings.length
    attention = np.full((len(seeds), len(times), heads, count), uniform)
    values = np.zeros_like(attention)
    attention[..., 0] += (CROWD - uniform) * moved[:, :, None, 0]
    values[:, :, 0, 0] = strengths[0] / CROWD * moved[..., 0]
    for head in range(1, min(heads, count)):
        attention[:, :, head, 0] -= (CROWD - LEFT) * moved[..., head]
        attention[:, :, head, head] += (OWN - uniform) * moved[..., head]
        values[:, :, head, head] = strengths[head] / OWN * moved[..., head]
        values[:, :, 0, head] = -LEFT / CROWD * values[:, :, head, head]
    own = 0.5 * strengths**2 * (1 - moved) ** 2
    arrays = {
        "loss": own.sum(axis=-1),
        "attention": attention,
        "attention_elsewhere": np.full(attention.shape[:3], uniform / 2),
        "values": values,
        "loss_parts": own[..., None] * np.eye(count),
    }
    arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    return Trajectory(seeds, {"time": times}, arrays, dict.fromkeys(arrays, "time"), {"boundaries": boundaries})
