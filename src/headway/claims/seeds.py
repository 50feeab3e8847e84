"""From numbers of every seed to a Finding."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from headway.analysis import interval_over_seeds, over_seeds
from headway.records import Finding, Trajectory


def finding(
    claim: str,
    statement: str,
    definition: str,
    quantity: str,
    trajectory: Trajectory,
    values: ArrayLike,
    holds: ArrayLike,
    detail: str = "",
    parts: Mapping[str, ArrayLike] | None = None,
) -> Finding:
    """A Finding over all seeds; one that diverged shows nothing: it has no value and the claim does not hold for it."""
    sound = not_diverged(trajectory)
    numbers, held = np.where(sound, np.asarray(values, float), np.nan), np.asarray(holds, bool) & sound
    low, high = interval_over_seeds(numbers)
    lost = int(np.sum(~sound))
    if lost:
        detail = f"{detail} {lost} of {len(sound)} seeds diverged.".strip()
    return Finding(
        claim=claim,
        statement=statement,
        definition=definition,
        quantity=quantity,
        seeds=tuple(trajectory.seeds),
        values=tuple(numbers.tolist()),
        holds=tuple(held.tolist()),
        interval=(low, high) if math.isfinite(low) else None,
        detail=detail,
        parts={name: int(np.sum(np.asarray(column, bool) & sound)) for name, column in (parts or {}).items()},
    )


def not_run(claim: str, statement: str, definition: str, quantity: str, why: str) -> Finding:
    """A claim that these records cannot speak about."""
    return Finding(claim, statement, definition, quantity, seeds=(), values=(), holds=(), detail=why)


def not_diverged(trajectory: Trajectory) -> np.ndarray:
    """Which seeds stayed finite to the end."""
    return np.asarray(trajectory.facts.get("diverged_at", np.full(len(trajectory.seeds), -1))) < 0


def steps_in_words(steps: np.ndarray) -> str:
    """Medians over seeds of a (seed, k) array of steps: "72, 188 and 450"."""
    medians = [f"{over_seeds(column).median:.0f}" for column in steps.T]
    return medians[0] if len(medians) == 1 else f"{', '.join(medians[:-1])} and {medians[-1]}"
