"""log y = x b + u_cell + e: a line through cells, and the interval in which one more run of another cell falls.

Seeds of one cell share what the line misses there, u, and differ among themselves by e. So a line is as sure as it
has cells, however many seeds each of them has. With m cells of S seeds, X the (cell, k) design, b is the least squares
of the cells' means and, for a new run at x,

    var = s_c^2 (1 + x (X^T X)^-1 x) + s_e^2 (1 - 1/S)

s_c^2 the variance of the means around the line, which holds that of u and a share 1/S of that of e; s_e^2 that within
cells. The interval is Student's, with m - k degrees of freedom. It widens with the distance from the cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headway.analysis.arrays import of_any_arrays

COVERAGE = 0.95


class Calibration(NamedTuple):
    """A fitted line, and what is needed for its intervals."""

    coefficients: np.ndarray
    """b: (k,)."""
    inverse: np.ndarray
    """(X^T X)^-1."""
    between: float
    """s_c^2."""
    within: float
    """s_e^2 (1 - 1/S), the mean over cells."""
    degrees: int
    furthest: float
    """The largest leverage, x (X^T X)^-1 x, of the cells that were fitted."""

    def __repr__(self) -> str:
        line = ", ".join(f"{value:.3g}" for value in self.coefficients)
        return f"Calibration(coefficients {line}; {self.degrees} degrees of freedom)"

    def leverage(self, row: np.ndarray) -> float:
        """How far from the cells x is: x (X^T X)^-1 x."""
        return float(row @ self.inverse @ row)

    def interval(self, row: np.ndarray, coverage: float = COVERAGE) -> tuple[float, float, float]:
        """Middle, low and high of log y of one new run at x."""
        from scipy.special import stdtrit  # takes long to import

        middle = float(row @ self.coefficients)
        spread = np.sqrt(self.between * (1 + self.leverage(row)) + self.within)
        half = float(stdtrit(self.degrees, (1 + coverage) / 2)) * spread
        return middle, middle - half, middle + half


@of_any_arrays
def calibrate(design: np.ndarray, logs: np.ndarray) -> Calibration | None:
    """The line through the means of `logs` (cell, seed), NaN where a seed has no value, at the rows x of `design`.

    None where the cells do not determine it, or leave no degree of freedom to estimate how well it fits.
    """
    counts = np.sum(np.isfinite(logs), axis=1)
    design, logs, counts = design[counts > 0], logs[counts > 0], counts[counts > 0]
    degrees = len(design) - design.shape[1]
    if degrees < 1 or np.linalg.matrix_rank(design) < design.shape[1]:
        return None
    means = np.nanmean(logs, axis=1)
    inverse = np.linalg.inv(design.T @ design)
    found = np.linalg.lstsq(design, means, rcond=None)[0]
    between = float(np.sum((means - design @ found) ** 2) / degrees)
    squares = np.nansum((logs - means[:, None]) ** 2, axis=1)
    pooled = float(np.sum(squares) / max(np.sum(counts - 1), 1))
    furthest = float(np.max(np.einsum("ij,jk,ik->i", design, inverse, design)))
    return Calibration(found, inverse, between, pooled * float(np.mean(1 - 1 / counts)), degrees, furthest)
