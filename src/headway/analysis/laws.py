"""y = c + a x: one line a seed, by least squares; laws of powers are in power_laws.py."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headway.analysis.arrays import of_any_arrays


@of_any_arrays
def lines(x: Sequence[float] | np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a and c of y = c + a x for each row of `values` (seed, point); values that are not finite are left out.

    NaN where fewer than two different x are left.
    """
    x, y = np.asarray(x, float), np.asarray(values, float)
    known = np.isfinite(y)
    weight = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
    filled = np.where(known, y, 0.0)
    centre, middle = weight @ x, np.sum(weight * filled, axis=1)
    away = np.where(known, x - centre[:, None], 0.0)
    spread = np.sum(weight * away**2, axis=1)
    enough = np.any(away != 0, axis=1) & (known.sum(axis=1) > 1)
    slope = np.where(enough, np.sum(weight * away * filled, axis=1) / np.where(enough, spread, 1.0), np.nan)
    return slope, middle - slope * centre


@of_any_arrays
def slopes(x: Sequence[float] | np.ndarray, values: np.ndarray) -> np.ndarray:
    """a of y = c + a x, seed by seed."""
    return lines(x, values)[0]
