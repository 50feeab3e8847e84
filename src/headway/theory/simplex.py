"""s >= 0, sum s = 1: where attention lives, and what to do with a start that does not."""

import jax.numpy as jnp
from jaxtyping import Float

from headway.tasks.feature_draws import OffSimplex as OffSimplex
from headway.tasks.feature_draws import on_simplex as on_simplex
from headway.tasks.feature_draws import project as project
from headway.theory.problem import Numbers, Problem


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
