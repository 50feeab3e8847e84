"""log cost = log c + exponent log value: a straight line through logs, with its standard error."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.bench.alternate import spread


class Exponent(NamedTuple):
    """How cost grows; two points fix a line and leave nothing to judge it by."""

    value: float
    standard_error: float | None
    constant: float

    def __str__(self) -> str:
        error = "" if self.standard_error is None else f" ± {self.standard_error:.2f}"
        # "z": what is nothing may be a little less than nothing, depending on the machine, and is told as 0.00.
        return f"{self.value:z.2f}{error}"


def exponent(values: Sequence[float], costs: Sequence[float]) -> Exponent:
    """Least squares on logs, over at least two different values."""
    x, y = np.log(np.asarray(values, float)), np.log(np.asarray(costs, float))
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    left = y - y.mean() - slope * centred
    free = len(x) - 2
    error = math.sqrt(float(left @ left) / free / float(centred @ centred)) if free else None
    return Exponent(slope, error, float(np.exp(y.mean() - slope * x.mean())))


def medians(times: Mapping[str, Sequence[float]]) -> dict[int, float]:
    """Value of an axis -> median of its rounds, in order; JSON made words of the values."""
    return {value: spread(times[str(value)]).median for value in sorted(map(int, times))}


def axis_exponent(times: Mapping[str, Sequence[float]]) -> Exponent:
    """The exponent of one axis of a scaling record."""
    found = medians(times)
    return exponent(list(found), list(found.values()))
