"""From a noisy curve to one that bends only where it must, and the turns that it cannot avoid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Array = np.ndarray


@dataclass(frozen=True)
class Fit:
    """A continuous, piecewise straight curve through noisy data."""

    places: Array
    values: Array
    errors: Array
    """Standard error of each value."""
    noise: Array
    """Standard deviation of a single point near each place, as given or as estimated."""


def noise_near(x: Array, places: Array, values: Array, *, points: int = 61, reach: float = 0.5) -> Array:
    """1.4826 x median of |distance of a point to the line through its neighbours| / its standard error.

    One number for each x, from the nearest `points` points, or from all within `reach` where those are more:
    the noise of a loss may shrink with the loss. The median ignores the few points on sharp drops, so that
    a clean staircase has almost no noise.
    """
    if len(values) < 3:
        return np.zeros(len(x))
    left = (places[2:] - places[1:-1]) / (places[2:] - places[:-2])
    distance = values[1:-1] - left * values[:-2] - (1 - left) * values[2:]
    distance = np.abs(distance) / np.sqrt(1 + left**2 + (1 - left) ** 2)
    inner = places[1:-1]
    first = np.searchsorted(inner, x - reach)
    last = np.searchsorted(inner, x + reach)
    few = last - first < points
    points = min(points, len(inner))
    centred = np.clip(np.searchsorted(inner, x) - points // 2, 0, len(inner) - points)
    medians = np.empty(len(x))
    medians[few] = np.median(sliding_window_view(distance, points)[centred[few]], axis=1)
    medians[~few] = [np.median(distance[a:b]) for a, b in zip(first[~few], last[~few], strict=True)]
    return 1.4826 * medians


def in_cells(places: Array, values: Array, width: float) -> tuple[Array, Array, Array]:
    """Mean place, mean value and number of points in each cell of this width that has any."""
    cell = np.floor((places - places[:1]) / width).astype(int)
    _, inverse, counts = np.unique(cell, return_inverse=True, return_counts=True)
    return np.bincount(inverse, places) / counts, np.bincount(inverse, values) / counts, counts.astype(float)


def fit_bends(places: Array, values: Array, *, certainty: float, noise: float | None, width: float) -> Fit:
    """The curve through the data whose every bend is at least `certainty` times its own standard error.

    Points are first averaged in cells of `width`, so that a curve given at every step costs no more. The
    noise is estimated if it is not given, and raised if the first fit leaves over more than that.
    """
    x, y, counts = in_cells(places, values, width)
    sigma = noise_near(x, places, values) if noise is None else np.full(len(x), noise)
    float32 = 1e-7 * np.max(np.abs(np.minimum.accumulate(values)), initial=0.0)
    sigma = np.maximum(sigma, float32)  # no curve is smoother than its rounding
    fitted, covariance, straightened = _straighten(x, y, sigma**2 / counts, certainty)
    if noise is None and straightened > 10:
        excess = np.sqrt(np.sum(counts * ((y - fitted) / np.maximum(sigma, 1e-300)) ** 2) / straightened)
        if excess > 1:
            sigma = sigma * excess
            fitted, covariance, _ = _straighten(x, y, sigma**2 / counts, certainty)
    return Fit(x, fitted, np.sqrt(np.maximum(np.diag(covariance), 0.0)), sigma)


def _straighten(x: Array, y: Array, variances: Array, certainty: float) -> tuple[Array, Array, int]:
    """Remove the least significant bend, refit by least squares, and go on while one is below `certainty`.

    A bend at point j is the contrast c_j f = (change of slope there). Demanding c_j f = 0 moves a
    least-squares fit f with covariance P to f - P c (c f) / (c P c), and P to P - P c c P / (c P c):
    exact, no matrix to invert. Returns the fit, its covariance, and how many bends are gone.
    """
    f, P = y.astype(float), np.diag(variances)
    if len(x) < 3:
        return f, P, 0
    before, after = 1 / np.diff(x)[:-1], 1 / np.diff(x)[1:]
    contrast = np.stack([before, -(before + after), after])
    inner = len(x) - 2
    products = contrast[:, None] * contrast
    # The variance of a bend is in three diagonals of P, which are views: they follow it.
    diagonals = [P.diagonal(apart) for apart in range(3)]
    near = [[diagonals[abs(a - b)][min(a, b) :][:inner] for b in range(3)] for a in range(3)]
    bent, change = np.ones(inner, bool), np.empty_like(P)
    while bent.any():
        bend = sum(contrast[a] * f[a : a + inner] for a in range(3))
        variance = sum(products[a, b] * near[a][b] for a in range(3) for b in range(3))
        score = np.full(inner, np.inf)  # without any noise every bend is certain
        np.divide(bend**2, variance, out=score, where=bent & (variance > 0))
        k = int(np.argmin(score))
        if score[k] >= certainty**2:
            break
        reach = contrast[0, k] * P[k] + contrast[1, k] * P[k + 1] + contrast[2, k] * P[k + 2]
        f = f - reach * (bend[k] / variance[k])
        np.multiply.outer(reach, reach, out=change)
        np.divide(change, variance[k], out=change)
        np.subtract(P, change, out=P)
        bent[k] = False
    return f, P, int(np.sum(~bent))


def unavoidable_turns(x: Array, f: Array, tolerance: Array) -> list[int]:
    """Where, at the latest, every curve within f +- tolerance turns from slowing down to speeding up.

    A falling curve that drops once speeds up and then slows down: concave, then convex. Going from the
    left, each piece is taken as long as a concave (then convex, then concave ..) curve fits between
    f - tolerance and f + tolerance. A single drop of any shape, seen with errors within the tolerance,
    therefore has no turn, and n drops have at most n - 1.
    """
    ends, at, sign = [], 0, -1.0  # concave is convex upside down
    while at < len(f) - 1:
        at = _convex_until(x, sign * f + tolerance, sign * f - tolerance, at)
        ends.append(at)
        sign = -sign
    return ends[1:-1:2]


def _convex_until(x: Array, upper: Array, lower: Array, start: int) -> int:
    """Last index up to which the convex hull of `upper` stays above `lower`: a convex curve fits between."""
    hull = [start]
    for j in range(start + 1, len(x)):
        while len(hull) > 1:
            a, b = hull[-2], hull[-1]
            if (upper[b] - upper[a]) * (x[j] - x[b]) < (upper[j] - upper[b]) * (x[b] - x[a]):
                break
            hull.pop()
        a = hull[-1]
        line = upper[a] + (upper[j] - upper[a]) * (x[a + 1 : j] - x[a]) / (x[j] - x[a])
        if np.any(lower[a + 1 : j] > line):
            return j - 1
        hull.append(j)
    return len(x) - 1
