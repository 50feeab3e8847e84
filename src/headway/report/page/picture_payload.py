"""Attention as the page draws it: matrices of all heads, cut to as many times and cells as there is room for."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.records import Trajectory
from headway.report.colours import full_strength
from headway.report.page.packing import pack_levels

MOST_PICTURES = 2_000_000
"""Bytes that the attention matrices of a run may take; of more, evenly spaced times are kept."""
FEWEST_PICTURES = 6
"""So many times are kept at least: matrices of very many positions are shown in coarser cells instead."""
SHOWN_ATTENTION = "shown_attention"
"""Where each head attends in the stretch of text that is shown, (seed, time, layer, head, query, key)."""


def pictures_of(trajectory: Trajectory) -> dict[str, Any]:
    """Attention matrices, (seed, time, layer, head, query, key), in as many times and cells as there is room for."""
    attention = trajectory.arrays.get("attention")
    if attention is None or attention.ndim != 6 or not attention.size:
        return {"clocks": {}, "arrays": {}, "taken": 0, "coarse": 1, "full": 1.0}
    taken = attention.shape[1]
    coarse = _coarseness(attention)
    room = attention.size // coarse**2
    kept = kept_times(taken, max(1, room))
    shown = _pooled(attention[:, kept], coarse)
    return {
        "clocks": {"snapshot": trajectory.times("attention")[kept]},
        "arrays": {"attention": pack_levels(shown)},
        "taken": taken,
        "coarse": coarse,
        "full": full_strength(shown),
    }


def shown_attention_of(trajectory: Trajectory) -> dict[str, Any]:
    """Attention within the stretch that is shown, at as many times as there is room for."""
    attention = trajectory.arrays.get(SHOWN_ATTENTION)
    if attention is None or attention.ndim != 6 or not attention.size:
        return {"clocks": {}, "arrays": {}}
    kept = kept_times(attention.shape[1], attention.size)
    return {
        "clocks": {f"{SHOWN_ATTENTION} ": trajectory.times(SHOWN_ATTENTION)[kept]},
        "arrays": {SHOWN_ATTENTION: pack_levels(attention[:, kept].astype(np.float32))},
    }


def kept_times(times: int, size: int) -> np.ndarray:
    """Evenly spaced times, first and last included, at which at most `MOST_PICTURES` of `size` bytes fall."""
    room = max(2, times * MOST_PICTURES // size)
    return np.unique(np.linspace(0, times - 1, min(times, room)).round().astype(int))


def _coarseness(attention: np.ndarray) -> int:
    """How many positions a cell covers each way, so that a few times fit."""
    one = attention.size / attention.shape[1]
    coarse = 1
    while one * min(FEWEST_PICTURES, attention.shape[1]) / coarse**2 > 2 * MOST_PICTURES:
        coarse += 1
    return coarse


def _pooled(attention: np.ndarray, coarse: int) -> np.ndarray:
    """Means over squares of `coarse` positions; the newest positions fill the last square."""
    if coarse == 1:
        return attention
    *front, queries, keys = attention.shape
    more = [(-size) % coarse for size in (queries, keys)]
    padded = np.pad(attention.astype(np.float32), [(0, 0)] * len(front) + [(each, 0) for each in more])
    rows, columns = padded.shape[-2] // coarse, padded.shape[-1] // coarse
    return padded.reshape(*front, rows, coarse, columns, coarse).mean(axis=(-3, -1))
