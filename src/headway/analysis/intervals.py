"""How sure a number is, given that it was measured once per seed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from headway.analysis.arrays import of_any_arrays

RESAMPLES = 9999


@dataclass(frozen=True)
class OverSeeds:
    """A median over seeds, its interval, and how many seeds had no value."""

    median: float
    low: float
    high: float
    seeds: int
    """Seeds with a value."""
    missing: int
    """Seeds whose value is NaN or infinite; they are left out of the median and the interval."""


@of_any_arrays
def interval_over_seeds(
    values: Sequence[float] | np.ndarray,
    statistic: Callable[..., Any] = np.median,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """(low, high) of `statistic` over seeds: the BCa bootstrap, resampling seeds, always with the same draws.

    Seeds without a finite value are left out. Where a bootstrap means nothing:

        no value or one        (nan, nan): one seed does not show how much seeds differ
        all values equal       (v, v), the statistic of that value
        two different values   the statistic of each: all that two seeds can say
        BCa not defined        the plain percentile interval of the same bootstrap
    """
    finite = _finite(values)
    if len(finite) < 2:
        return math.nan, math.nan
    if len(finite) == 2 or np.ptp(finite) == 0:
        ends = sorted(float(statistic(finite[k : k + 1])) for k in (0, 1))
        return ends[0], ends[1]

    return _bootstrapped(finite.tobytes(), statistic, confidence)


def _finite(values: Sequence[float] | np.ndarray) -> np.ndarray:
    every = np.asarray(values, np.float64).ravel()
    return every[np.isfinite(every)]


@lru_cache(4096)
def _bootstrapped(values: bytes, statistic: Callable[..., Any], confidence: float) -> tuple[float, float]:
    """The interval of three float64 or more, as bytes: pages and tables ask for the same again and again."""
    from scipy import stats  # takes longer to import than everything else here

    statistic = _median if statistic is np.median else statistic
    for method in ("BCa", "percentile"):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # degenerate samples are handled here, by the next method
            found = stats.bootstrap(
                (np.frombuffer(values),),
                statistic,
                confidence_level=confidence,
                n_resamples=RESAMPLES,
                method=method,
                rng=np.random.default_rng(0),
            ).confidence_interval
        low, high = float(found.low), float(found.high)
        if math.isfinite(low) and math.isfinite(high):
            return low, high
    return math.nan, math.nan


def _median(sample: np.ndarray, axis: int = -1) -> np.ndarray | np.float64:
    """`np.median` of finite numbers, to the last bit: of thousands of short rows sorting finds the middle sooner."""
    ordered, count = np.sort(sample, axis=axis), sample.shape[axis]
    return np.mean(np.take(ordered, range((count - 1) // 2, count // 2 + 1), axis=axis), axis=axis)


@of_any_arrays
def median_in_words(values: Sequence[float] | np.ndarray, interval: tuple[float, float] | None) -> str:
    """ "2.37 [2.15, 2.61]", the interval if it is known; nothing where no seed has a value."""
    finite = _finite(values)
    if not len(finite):
        return ""
    return f"{np.median(finite):.3g}" + ("" if interval is None else f" [{interval[0]:.3g}, {interval[1]:.3g}]")


@of_any_arrays
def over_seeds(values: Sequence[float] | np.ndarray, confidence: float = 0.95) -> OverSeeds:
    """The median over seeds with `interval_over_seeds`, and how many values there were."""
    finite = _finite(values)
    low, high = interval_over_seeds(finite, confidence=confidence)
    median = float(np.median(finite)) if len(finite) else math.nan
    return OverSeeds(median, low, high, seeds=len(finite), missing=np.size(values) - len(finite))
