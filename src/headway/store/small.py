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
    """The trajectory without most of its pictures, if they are large, and what was left out.

    Claims read attention to near lags; where that is measured apart, attention by lag is a picture, too.
    """
    trajectory = record.trajectory
    pictures = {name for name in trajectory.arrays if trajectory.clock_of[name] == DRAWN}
    if sum(trajectory[name].size for name in pictures) <= LARGE:
        return trajectory, {}
    if "attention_near" in trajectory and trajectory.clock_of["attention_by_lag"] != DRAWN:
        trajectory = _as_picture(trajectory, "attention_by_lag")
    evaluation = getattr(record.cell.settings, "evaluation", None)
    if getattr(evaluation, "comparisons", False):
        return _fewer(trajectory, 2), {"pictures": "every 2nd"}
    shown = {"attention", *(name for name in trajectory.arrays if name.startswith(SHOWN))}
    without = dataclasses.replace(
        trajectory,
        arrays={name: values for name, values in trajectory.arrays.items() if name not in shown},
        clock_of={name: clock for name, clock in trajectory.clock_of.items() if name not in shown},
        facts={name: values for name, values in trajectory.facts.items() if not name.startswith(SHOWN)},
    )
    return _fewer(without, 4), {"pictures": "left out; attention by lag at every 4th"}


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
