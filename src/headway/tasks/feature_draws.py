"""What a seed of paper A's regression draws, in NumPy: orthonormal features, and attention near uniform."""

from __future__ import annotations

from typing import Literal

import numpy as np

OffSimplex = Literal["refuse", "project"]


def random_features(seed: int, count: int, dimension: int) -> np.ndarray:
    """V_1*, .., V_count* in R^{dimension x dimension}: an orthonormal frame, each matrix written out as a vector."""
    if count > dimension**2:
        raise ValueError(
            f"{count} orthonormal matrices do not fit into {dimension} x {dimension}. "
            f"Use a dimension of at least {int(np.ceil(np.sqrt(count)))}."
        )
    draws = np.random.default_rng(seed).standard_normal((dimension**2, count))
    return np.ascontiguousarray(np.linalg.qr(draws)[0].T)


def near_uniform_attention(
    seed: int, heads: int, length: int, noise: float, otherwise: OffSimplex = "project"
) -> np.ndarray:
    """s_k = 1/T + noise * normal, one draw a head, (head, position); `noise` is a standard deviation."""
    draws = np.random.default_rng([seed, 0x5]).standard_normal((heads, length))
    return on_simplex(np.full((heads, length), 1 / length) + noise * draws, otherwise)


def project(points: np.ndarray) -> np.ndarray:
    """argmin over the simplex of ||s - point||: subtract what makes the positive part sum to 1, and cut at 0."""
    ordered = -np.sort(-points, axis=-1)
    excess = (np.cumsum(ordered, axis=-1) - 1) / np.arange(1, points.shape[-1] + 1)
    kept = np.sum(ordered > excess, axis=-1, keepdims=True)
    return np.maximum(points - np.take_along_axis(excess, kept - 1, axis=-1), 0.0)


def on_simplex(points: np.ndarray, otherwise: OffSimplex) -> np.ndarray:
    """`points` if they lie on the simplex; otherwise an error, or the nearest points that do.

    Off the simplex d(sum s)/dt is not 0, so a start beside it would drift to or from it, which no attention does.
    """
    off = np.abs(points.sum(axis=-1) - 1).max()
    least = points.min()
    if off <= 1e-12 and least >= 0:
        return points
    if otherwise == "refuse":
        raise ValueError(
            f"a start must lie on the simplex, but its entries sum to 1 only within {off:.1e} and the least is "
            f'{least:.1e}. Give a start that does, or ask for the nearest one with otherwise="project".'
        )
    nearest = project(points)
    if nearest.min() == 0 < points.min():
        raise ValueError(
            f"the nearest point of the simplex has no attention at all on some position, and would never have any. "
            f"The entries of the start sum to 1 within {off:.1e}: bring it closer."
        )
    return nearest
