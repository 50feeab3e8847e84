"""y = c x_1^{a_1} x_2^{a_2} ..: least squares on logarithms, seed by seed.

A value that is not finite and above 0 belongs to a run that never left its plateau. It is censored: left out of the
fit, and counted, because a law that misses its slowest runs looks faster than it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headway.analysis.arrays import of_any_arrays


class PowerLaws(NamedTuple):
    """One law a seed; NaN where the values that are left do not determine it."""

    constants: np.ndarray
    """c: (seed,)."""
    exponents: np.ndarray
    """a: (seed, factor)."""
    errors: np.ndarray
    """Root mean square of log y - log of the law: (seed,)."""
    censored: np.ndarray
    """How many values were left out: (seed,)."""

    def __repr__(self) -> str:
        powers = [f"x_{number}" for number in range(1, self.exponents.shape[1] + 1)]
        law = self.in_words(powers) or "not determined"
        return f"PowerLaws({len(self.constants)} seeds: {law}, {int(self.censored.sum())} values censored)"

    def predict(self, factors: np.ndarray) -> np.ndarray:
        """The laws' values, (seed, point), at the factors (point, factor)."""
        return self.constants[:, None] * np.exp(self.exponents @ np.log(np.asarray(factors, float)).T)

    def in_words(self, names: Sequence[str]) -> str:
        """1.51 d^0.49 T^0.99: the medians over seeds; nothing where no seed has a law."""
        known = np.isfinite(self.constants)
        if not known.any():
            return ""
        return in_words(float(np.median(self.constants[known])), np.median(self.exponents[known], axis=0), names)


def in_words(constant: float, powers: Sequence[float] | np.ndarray, names: Sequence[str]) -> str:
    """1.51 d^0.49 T^0.99, for a law of which only one is meant."""
    said = [f"{name}^{power:.2f}" for name, power in zip(names, powers, strict=True)]
    return " ".join([f"{constant:.2f}" if constant >= 0.1 else f"{constant:.2g}", *said])


@of_any_arrays
def fit_power_laws(factors: np.ndarray, values: np.ndarray) -> PowerLaws:
    """The laws of `values` (seed, point) in the factors x (point, factor), which are above 0."""
    logs = np.log(np.asarray(factors, float))
    values = np.asarray(values, float)
    if logs.ndim != 2 or values.ndim != 2 or len(logs) != values.shape[1]:
        raise ValueError(
            f"the factors have the shape {logs.shape} and the values {values.shape}. Give (point, factor) and "
            "(seed, point)."
        )
    known = np.isfinite(values) & (values > 0)
    design = np.column_stack([np.ones(len(logs)), logs])
    found = np.full((len(values), design.shape[1]), np.nan)
    errors = np.full(len(values), np.nan)
    for seed, (row, there) in enumerate(zip(values, known, strict=True)):
        if np.linalg.matrix_rank(design[there]) < design.shape[1]:
            continue
        wanted = np.log(row[there])
        found[seed] = np.linalg.lstsq(design[there], wanted, rcond=None)[0]
        errors[seed] = np.sqrt(np.mean((design[there] @ found[seed] - wanted) ** 2))
    return PowerLaws(np.exp(found[:, 0]), found[:, 1:], errors, np.sum(~known, axis=1))
