"""A copy for a repository: no weights, and the big attention matrices in half the bits."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from headway.records import Trajectory
from headway.store.record import Record

# Shares between 0 and 1 of which nobody reads more than three digits.
COARSE = ("attention",)


def reduce(record: Record) -> tuple[Trajectory, dict[str, Any]]:
    """The trajectory with its coarse arrays in float16, and what was reduced."""
    trajectory, coarse, reduced = record.trajectory, {}, {}
    for name in COARSE:
        if name in trajectory and trajectory[name].dtype in (np.float32, np.float64):
            coarse[name] = trajectory[name].astype(np.float16)
            reduced[name] = {"from": trajectory[name].dtype.name, "to": "float16"}
    weights = {"weights": "left out"} if record.has_weights else {}
    small = dataclasses.replace(trajectory, arrays={**trajectory.arrays, **coarse})
    return small, {**record.reduced, **weights, "arrays": reduced}
