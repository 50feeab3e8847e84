"""rival, Headway, rival, Headway, ..: what disturbs the machine for a while disturbs both, and ratios survive it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.bench.contestant import Contestant

PAUSE = 0.05
"""Seconds before each measurement: threads that another contestant left spinning go to sleep."""


class Pair(NamedTuple):
    """Seconds per seed and step of a rival, and of Headway right after it."""

    rival: str
    seconds: float
    headway: float


@dataclass(frozen=True)
class Spread:
    """A median and how far single rounds lie from it."""

    median: float
    low: float
    high: float
    lower_quartile: float
    upper_quartile: float
    rounds: int


def spread(values: Sequence[float]) -> Spread:
    """Median, range and quartiles of at least one value."""
    low, lower, median, upper, high = (float(value) for value in np.quantile(values, (0, 0.25, 0.5, 0.75, 1)))
    return Spread(median, low, high, lower, upper, len(values))


def seconds_per_step(contestant: Contestant) -> float:
    """Wall time of one `advance`, for each seed and step in it."""
    time.sleep(PAUSE)
    began = time.perf_counter()
    contestant.advance()
    return (time.perf_counter() - began) / (contestant.seeds * contestant.steps)


def warm_up(contestant: Contestant) -> float:
    """Compile and touch everything once; the seconds that the first call took beyond what its steps take."""
    began = time.perf_counter()
    contestant.advance()
    first = time.perf_counter() - began
    return max(0.0, first - seconds_per_step(contestant) * contestant.seeds * contestant.steps)


def alternate(headway: Contestant, rivals: Sequence[Contestant], rounds: int) -> Iterator[list[Pair]]:
    """Round by round, each rival and then Headway."""
    for _ in range(rounds):
        yield [Pair(rival.name, seconds_per_step(rival), seconds_per_step(headway)) for rival in rivals]
