"""s >= 0, sum s = 1: where attention lives, and what to do with a start that does not."""

from typing import Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from headway.theory.problem import Numbers, Problem

OffSimplex = Literal["refuse", "project"]


def inner(
    problem: Problem, s: Float[Numbers, "*head position"], v: Float[Numbers, "*head position"]
) -> Float[Numbers, "*head 1"]:
    """<s, v> = sum_p s_p v_p, where an entry that stands for n positions counts n times."""
    return jnp.sum(problem.copies * s * v, axis=-1, keepdims=True)


def spread(
    problem: Problem, s: Float[Numbers, "*head position"], v: Float[Numbers, "*head position"]
) -> Float[Numbers, "*head position"]:
    """Pi(s) v = (diag(s) - s s^T) v = s (v - <s, v>)."""
    return s * (v - inner(problem, s, v))


def move(
    problem: Problem, s: Float[Numbers, "*head position"], gradient: Float[Numbers, "*head position"]
) -> Float[Numbers, "*head position"]:
    """Pi(s)^n applied to the gradient, n = `problem.projections`."""
    for _ in range(problem.projections):
        gradient = spread(problem, s, gradient)
    return gradient


def project(points: Float[np.ndarray, "*head position"]) -> Float[np.ndarray, "*head position"]:
    """argmin over the simplex of ||s - point||: subtract what makes the positive part sum to 1, and cut at 0."""
    ordered = -np.sort(-points, axis=-1)
    excess = (np.cumsum(ordered, axis=-1) - 1) / np.arange(1, points.shape[-1] + 1)
    kept = np.sum(ordered > excess, axis=-1, keepdims=True)
    return np.maximum(points - np.take_along_axis(excess, kept - 1, axis=-1), 0.0)


def on_simplex(
    points: Float[np.ndarray, "*head position"], otherwise: OffSimplex
) -> Float[np.ndarray, "*head position"]:
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
