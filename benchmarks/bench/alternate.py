"""rival, Headway, rival, Headway, ..: what disturbs the machine for a while disturbs both, and ratios survive it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.bench.contestant import Contestant

PAUSE = 0.05
"""Seconds before each measurement: threads that another contestant left spinning go to sleep."""


class Pair(NamedTuple):
    """Seconds per seed and step of a rival, and of Headway right after it."""

    rival: str
    seconds: float
    headway: float


class Spread(NamedTuple):
    """A median and how far single rounds lie from it."""

    low: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Median, range and quartiles of at least one value."""
    return Spread(*map(float, np.quantile(values, (0, 0.25, 0.5, 0.75, 1))))


def seconds(act: Callable[[], Any]) -> float:
    """Wall time of one call."""
    time.sleep(PAUSE)
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def seconds_per_step(contestant: Contestant) -> float:
    """Wall time of one `advance`, for each seed and step in it."""
    return seconds(contestant.advance) / (contestant.seeds * contestant.steps)


def warm_up(contestant: Contestant) -> float:
    """Compile and touch everything once; the seconds that the first call took beyond what its steps take."""
    first = seconds(contestant.advance)
    return max(0.0, first - seconds_per_step(contestant) * contestant.seeds * contestant.steps)


def alternate(headway: Contestant, rivals: Sequence[Contestant], rounds: int) -> Iterator[list[Pair]]:
    """Round by round, each rival and then Headway."""
    for _ in range(rounds):
        yield [Pair(rival.name, seconds_per_step(rival), seconds_per_step(headway)) for rival in rivals]
