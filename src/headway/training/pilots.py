"""Pilots of one run try its learning rates; one whose rate cannot be chosen any more is given up.

A rate with which more pilots learn is better than one with which fewer do; of those the one with the shorter plateaus,
in the mean of their logarithms, and of equal ones the smaller. So once all pilots of a rate have learnt, another rate
has lost as soon as it would come behind even if its remaining plateaus ended at the next step. Where a pilot that has
lost stops depends on what is trained beside it; which rate is chosen does not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float

from headway.records import Cell

NOBODY = (np.inf, 0.0, 0.0)
"""Comes behind every rate."""


def _contest(cell: Cell) -> Hashable:
    """Equal for the pilots of which one rate is chosen; every other cell has its own."""
    if not cell.is_pilot:
        return cell
    settings = cell.settings
    return cell.kind, cell.source, replace(settings, training=replace(settings.training, learning_rate=1.0))


def contests(cells: Sequence[Cell]) -> list[list[int]]:
    """The places of cells that compete with each other; most have a contest to themselves."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place, cell in enumerate(cells):
        places[_contest(cell)].append(place)
    return list(places.values())


def best_rate(rates: Sequence[float], plateaus: Float[np.ndarray, "rate pilot"]) -> float:
    """The rate of the pilots that learn first; of those that never do, the smallest. NaN is a plateau without end."""
    return rates[min(range(len(rates)), key=lambda place: _order(rates[place], plateaus[place]))]


def lost(
    rates: Sequence[float],
    plateaus: Float[np.ndarray, "rate pilot"],
    running: Bool[np.ndarray, "rate pilot"],
    step: int,
) -> Bool[np.ndarray, " rate"]:
    """Which rates come behind one whose pilots have all learnt, even if what is running learns at the next step."""
    all_learnt = (_order(rate, own) for rate, own in zip(rates, plateaus, strict=True) if np.isfinite(own).all())
    first = min(all_learnt, default=NOBODY)
    at_best = np.where(np.isnan(plateaus) & running, step + 1, plateaus)
    return np.array([first < _order(rate, own) for rate, own in zip(rates, at_best, strict=True)])


def _order(rate: float, plateaus: Float[np.ndarray, " pilot"]) -> tuple[float, float, float]:
    ended = plateaus[np.isfinite(plateaus)]
    return -len(ended), float(np.mean(np.log(np.maximum(ended, 1)))) if len(ended) else 0.0, rate
