"""Who diverged, who stopped, and who stopped early because the model had learnt what it was trained for."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.records import Trajectory
from headway.report.about import SCALARS
from headway.tasks.task import RISING, progress_of

STEPS = ("step", "evaluation", "snapshot")
"""Clocks that count optimiser steps."""


def diverged_at(trajectory: Trajectory, clock: str, progress: str) -> list[float]:
    """When each seed diverged, in the unit of the slider; -1 where it did not."""
    steps = trajectory.facts.get("diverged_at")
    if steps is None or not len(trajectory.clocks[clock]):
        return [-1.0] * len(trajectory.seeds)
    if clock in STEPS:
        return [float(step) for step in steps]
    times = trajectory.clocks[clock]
    curves = trajectory[progress].reshape(len(trajectory.seeds), len(times), -1)
    found = []
    for step, curve in zip(steps, curves, strict=True):
        lost = np.flatnonzero(~np.isfinite(curve).all(axis=-1))
        found.append(float(times[lost[0]]) if step >= 0 and len(lost) else -1.0)
    return found


def stopped_at(trajectory: Trajectory, clock: str) -> list[float]:
    """When each seed stopped because it had learned enough, after which it has no numbers; -1 where it went on."""
    steps = trajectory.facts.get("stopped_at")
    if steps is None or clock not in STEPS or steps.ndim != 1:
        return [-1.0] * len(trajectory.seeds)
    return [float(step) if np.isfinite(step) else -1.0 for step in steps]


def threshold_of(settings: Any, trajectory: Trajectory, clock: str) -> dict[str, Any] | None:
    """The level that ends training, of what, after how many steps at most, and which seeds it stopped earlier."""
    training = getattr(settings, "training", None)
    most, level = getattr(training, "steps", None), getattr(training, "threshold", None)
    if level is None or not isinstance(most, int):
        return None
    measure = progress_of(getattr(settings, "task", None))
    level = getattr(training, "until", None) or level
    stops = np.array(stopped_at(trajectory, clock))
    gone = np.asarray(trajectory.facts.get("diverged_at", np.full(len(stops), -1))) >= 0
    early = (stops >= 0) & (stops < most) & ~gone & _has_reached(training, trajectory, measure, level)
    word = SCALARS.get(measure, measure.replace("_", " "))
    return {
        "level": float(level),
        "measure": word,
        "most": most,
        "tail": max(0.0, float(getattr(training, "tail", 0.0))),
        "stopped": early.tolist(),
    }


def _has_reached(training: Any, trajectory: Trajectory, measure: str, level: float) -> np.ndarray:
    """Which seeds reached the level: a record keeps when they reached the threshold, but not a later level."""
    plateau = trajectory.facts.get("plateau")
    if getattr(training, "until", None) is None and plateau is not None:
        return np.isfinite(plateau)
    if measure not in trajectory or trajectory[measure].ndim != 2:
        return np.zeros(len(trajectory.seeds), bool)
    values = trajectory[measure]
    return np.any(values >= level if measure in RISING else values <= level, axis=1)
