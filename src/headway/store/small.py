"""A copy for a repository: no weights, attention in fewer bits, the loss of every tenth step."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from headway.records import Trajectory
from headway.store.coarse import narrow
from headway.store.record import Record

# Shares between 0 and 1 of which nobody reads more than three digits.
COARSE = ("attention", "attention_by_lag", "attention_previous", "attention_relevant")
DRAWN = "snapshot"
"""Clock of what is only drawn, as pictures that show fewer shades than a byte has."""
THINNED = {"step": 10}
"""Name of a clock -> every how many ticks of it are kept: what is noisy from one to the next says little at each."""


def reduce(record: Record) -> tuple[Trajectory, dict[str, Any]]:
    """The trajectory with its coarse arrays in fewer bits and its fast clocks thinned, and what was reduced."""
    trajectory, coarse, reduced = record.trajectory, {}, {}
    for name in COARSE:
        if name in trajectory and trajectory[name].dtype in (np.float32, np.float64):
            to = "steps" if trajectory.clock_of[name] == DRAWN else "float16"
            coarse[name], reduced[name] = narrow(trajectory[name], to)
    weights = {"weights": "left out"} if record.has_weights or record.kept else {}
    small = _thinned(dataclasses.replace(trajectory, arrays={**trajectory.arrays, **coarse}))
    every = {name: f"every {THINNED[name]}th" for name in trajectory.clocks if name in THINNED}
    return small, {**record.reduced, **weights, "arrays": reduced, **({"clocks": every} if every else {})}


def _thinned(trajectory: Trajectory) -> Trajectory:
    kept = {
        name: ticks % THINNED[name] == 0 if name in THINNED else np.full(len(ticks), True)
        for name, ticks in trajectory.clocks.items()
    }
    return dataclasses.replace(
        trajectory,
        clocks={name: ticks[kept[name]] for name, ticks in trajectory.clocks.items()},
        arrays={name: values[:, kept[trajectory.clock_of[name]]] for name, values in trajectory.arrays.items()},
    )
