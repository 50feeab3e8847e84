"""log y = x b + u_cell + e: a line through cells, and the interval in which one more run of another cell falls.

Seeds of one cell share what the line misses there, u, and differ among themselves by e. So a line is as sure as it
has cells, however many seeds each of them has. With m cells of S seeds, X the (cell, k) design, b is the least squares
of the cells' means and, for a new run at x,

    var = s_c^2 (1 + x (X^T X)^-1 x) + s_e^2 (1 - 1/S)

s_c^2 the variance of the means around the line, which holds that of u and a share 1/S of that of e; s_e^2 that within
cells. The interval is Student's, with m - k degrees of freedom. It widens with the distance from the cells.

Far from the cells a line is only as good as it stays straight. With `bends`, squares and products of the columns, less
what the line says of them, are z(x), and how much of them the cells' means show, c by least squares, says how much
there may be of any: tau^2, the mean of c^2 less that of its noise, is added to the variance as tau^2 |z(x)|^2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from headway.analysis.arrays import of_any_arrays

COVERAGE = 0.95


class Bends(NamedTuple):
    """Squares and products of the columns of a design, and how much of them there may be."""

    centre: np.ndarray
    said: np.ndarray
    """What the line says of them: (k, squares and products)."""
    size: float
    """tau^2."""

    def of(self, rows: np.ndarray) -> np.ndarray:
        """z: squares and products less what the line says of them, (cell, squares and products)."""
        return _products(rows, self.centre) - rows @ self.said

    def variance(self, row: np.ndarray) -> float:
        return self.size * float(np.sum(self.of(row[None]) ** 2))


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
    bends: Bends | None = None
    """How far from straight it may be, where that is asked for."""

    def __repr__(self) -> str:
        line = ", ".join(f"{value:.3g}" for value in self.coefficients)
        return f"Calibration(coefficients {line}; {self.degrees} degrees of freedom)"

    def leverage(self, row: np.ndarray) -> float:
        """How far from the cells x is: x (X^T X)^-1 x."""
        return float(row @ self.inverse @ row)

    def interval(
        self, row: np.ndarray, coverage: float = COVERAGE, further: float = 0.0, bent: float = 0.0
    ) -> tuple[float, float, float]:
        """Middle, low and high of log y of one new run at x.

        It may be `further` away than its leverage says, and its line `bent` by a variance that the columns do not show.
        """
        from scipy.special import stdtrit  # takes long to import

        middle = float(row @ self.coefficients)
        bent += 0.0 if self.bends is None else self.bends.variance(row)
        spread = np.sqrt(self.between * (1 + self.leverage(row) + further) + self.within + bent)
        half = float(stdtrit(self.degrees, (1 + coverage) / 2)) * spread
        return middle, middle - half, middle + half


@of_any_arrays
def calibrate(design: np.ndarray, logs: np.ndarray, *, bends: bool = False) -> Calibration | None:
    """The line through the means of `logs` (cell, seed), NaN where a seed has no value, at the rows x of `design`.

    None where the cells do not determine it, or leave no degree of freedom to estimate how well it fits. With `bends`
    its intervals know that it may not be straight.
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
    bent = bends_of(design, means - design @ found) if bends else None
    return Calibration(found, inverse, between, pooled * float(np.mean(1 - 1 / counts)), degrees, furthest, bent)


def _products(rows: np.ndarray, centre: np.ndarray) -> np.ndarray:
    away = rows - centre
    first, second = np.triu_indices(rows.shape[1])
    return away[:, first] * away[:, second]


def bends_of(design: np.ndarray, residual: np.ndarray) -> Bends:
    """What the residuals show of squares and products; 0 where two values of each column cannot show any."""
    centre = design.mean(axis=0)
    products = _products(design, centre)
    bends = Bends(centre, np.linalg.inv(design.T @ design) @ design.T @ products, 0.0)
    z = bends.of(design)
    rank = int(np.linalg.matrix_rank(z, tol=1e-8))
    if rank == 0:
        return bends
    inverted = np.linalg.pinv(z, rcond=1e-8)
    found = inverted @ residual
    # Of what is found, so much is noise: that of what is left, if anything is.
    free = len(design) - design.shape[1] - rank
    noise = float(np.sum((residual - z @ found) ** 2)) / free * float(np.sum(inverted**2)) if free > 0 else 0.0
    return bends._replace(size=max(float(np.sum(found**2)) - noise, 0.0) / rank)
