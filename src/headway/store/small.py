"""A copy for a repository: no weights, attention in fewer bits, the loss of every tenth step, pictures if few."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from headway.records import Trajectory
from headway.store.coarse import narrow
from headway.store.record import Record

# Of which nobody reads more than three digits: shares between 0 and 1, and distances at many confidences.
COARSE = (
    "attention",
    "attention_by_lag",
    "attention_previous",
    "attention_relevant",
    "kl_confidence",
    "shown_attention",
)
DRAWN = "snapshot"
"""Clock of what is only drawn, as pictures that show fewer shades than a byte has."""
SHOWN = "shown_"
"""How names of arrays and facts begin that only a page shows."""
LARGE = 500_000
"""Numbers in a record's pictures above which only runs that are compared in detail keep them, and every second one."""
BY_LAG = "attention_by_lag"
APART = {"attention_near": LARGE, "attention_relevant": 50_000}
"""Array by which claims read attention -> how many numbers make attention by lag, there only a picture, large."""
THINNED = {"step": 10}
"""Name of a clock -> every how many ticks of it are kept: what is noisy from one to the next says little at each."""


def reduce(record: Record) -> tuple[Trajectory, dict[str, Any]]:
    """The trajectory with its coarse arrays in fewer bits, its fast clocks thinned and few pictures; what was
    reduced.
    """
    trajectory, left_out = _few_pictures(record)
    coarse, reduced = {}, {}
    for name in COARSE:
        if name in trajectory and trajectory[name].dtype.kind == "f":
            to = "steps" if trajectory.clock_of[name] == DRAWN else "float16"
            coarse[name], reduced[name] = narrow(trajectory[name], to)
    weights = {"weights": "left out"} if record.has_weights or record.kept else {}
    small = _thinned(dataclasses.replace(trajectory, arrays={**trajectory.arrays, **coarse}), THINNED)
    every = {name: f"every {THINNED[name]}th" for name in trajectory.clocks if name in THINNED}
    clocks = {"clocks": every} if every else {}
    return small, {**record.reduced, **weights, "arrays": reduced, **clocks, **left_out}


def _few_pictures(record: Record) -> tuple[Trajectory, dict[str, str]]:
    """The trajectory without most of its pictures, if they are large, and what was left out. Nobody looks at pilots."""
    trajectory = record.trajectory
    apart = [most for name, most in APART.items() if name in trajectory and BY_LAG in trajectory]
    pictures = {name for name in trajectory.arrays if trajectory.clock_of[name] == DRAWN} | (
        {BY_LAG} if apart else set()
    )
    if record.cell.is_pilot:
        return _without(trajectory, pictures), {"pictures": "left out"}
    if sum(trajectory[name].size for name in pictures) <= min([LARGE, *apart]):
        return trajectory, {}
    if apart and trajectory.clock_of[BY_LAG] != DRAWN:
        trajectory = _as_picture(trajectory, BY_LAG)
    evaluation = getattr(record.cell.settings, "evaluation", None)
    if getattr(evaluation, "comparisons", False):
        return _fewer(trajectory, 2), {"pictures": "every 2nd"}
    shown = {"attention", *(name for name in trajectory.arrays if name.startswith(SHOWN))}
    return _fewer(_without(trajectory, shown), 4), {"pictures": "left out; attention by lag at every 4th"}


def _without(trajectory: Trajectory, left_out: set[str]) -> Trajectory:
    """The same without these arrays, and without facts that only a page shows."""
    return dataclasses.replace(
        trajectory,
        arrays={name: values for name, values in trajectory.arrays.items() if name not in left_out},
        clock_of={name: clock for name, clock in trajectory.clock_of.items() if name not in left_out},
        facts={name: values for name, values in trajectory.facts.items() if not name.startswith(SHOWN)},
    )


def _fewer(trajectory: Trajectory, every: int) -> Trajectory:
    """One of so many snapshots, the last among them."""
    ticks = np.arange(len(trajectory.clocks[DRAWN]))
    return _kept(trajectory, {DRAWN: (ticks[::-1] % every) == 0})


def _as_picture(trajectory: Trajectory, name: str) -> Trajectory:
    """The same with an array at the times of pictures, which are some of its own."""
    at = np.isin(trajectory.times(name), trajectory.clocks[DRAWN])
    arrays = {**trajectory.arrays, name: trajectory[name][:, at]}
    return dataclasses.replace(trajectory, arrays=arrays, clock_of={**trajectory.clock_of, name: DRAWN})


def _thinned(trajectory: Trajectory, every: dict[str, int]) -> Trajectory:
    return _kept(trajectory, {n: ticks % every[n] == 0 for n, ticks in trajectory.clocks.items() if n in every})


def _kept(trajectory: Trajectory, kept: dict[str, np.ndarray]) -> Trajectory:
    """At these ticks of some clocks, and at all of the others."""
    masks = {name: kept.get(name, np.full(len(ticks), True)) for name, ticks in trajectory.clocks.items()}
    return dataclasses.replace(
        trajectory,
        clocks={name: ticks[masks[name]] for name, ticks in trajectory.clocks.items()},
        arrays={name: values[:, masks[trajectory.clock_of[name]]] for name, values in trajectory.arrays.items()},
    )
