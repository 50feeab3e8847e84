"""What stages are found by, for the page to say why a seed is in the stage that it is in."""

from __future__ import annotations

from typing import Any

import numpy as np

from headway.analysis.stages import finite_part, met_and_lowest
from headway.records import Trajectory


def minima_of(trajectory: Trajectory) -> list[dict[str, Any] | None]:
    """Of each seed min KL_i of every rung, and the rungs that it meets; None where nothing is known of a ladder."""
    if "kl_rungs" not in trajectory:
        return [None] * len(trajectory.seeds)
    times = trajectory.times("kl_rungs")
    return [_minima(finite_part(times, kl)[1]) for kl in trajectory["kl_rungs"]]


def _minima(kl: np.ndarray) -> dict[str, Any] | None:
    if not kl.size:
        return None
    met, lowest = met_and_lowest(kl)
    return {"lowest": [float(value) for value in lowest], "met": met}
