"""dV'/dt = G_(n) s'_(n) - ||s'_(n)||^2 V', ds'/dt = Pi(s')^2 (V'^T G_(n) - ||V'||^2 s'_(n)): the rest is fast."""

import functools
from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Float

from headway.theory.flow import apply_target, correlate_target
from headway.theory.problem import Numbers, Problem, State
from headway.theory.simplex import inner, move


def without(known: int, s: Float[Numbers, "*head position"]) -> Float[Numbers, "*head position"]:
    """s_(n) = s - sum_{j <= n} s_j e_j."""
    return jnp.asarray(s).at[..., :known].set(0.0)


def gradient(known: int, problem: Problem, state: State) -> State:
    """G_(n) s_(n) - ||s_(n)||^2 V and V^T G_(n) - ||V||^2 s_(n), G_(n) = G - sum_{j <= n} m_j V_j* (x) e_j.

    As G_(n) s = G s_(n) and V^T G_(n) = (V^T G)_(n), removing the first n entries of s is enough.
    """
    V, rest = state.values, without(known, state.attention)
    return State(
        apply_target(problem, rest) - inner(problem, rest, rest) * V,
        without(known, correlate_target(problem, V)) - jnp.sum(V * V, axis=-1, keepdims=True) * rest,
    )


@functools.cache  # one function for one n, so that a solver compiles it once
def next_head(known: int) -> Callable[[Problem, State], State]:
    """Section D.2's flow of head n + 1, n = `known`; equation (11) is n = 1. V' is `values` and s' is `attention`.

    It is `offshoot` with every settled V_i at `best_settled`. Whatever s' keeps on the first n positions costs
    nothing, as the settled heads offset it: that is why it ends on a set of points, see docs/errata.md.
    """

    def field(problem: Problem, state: State) -> State:
        force = gradient(known, problem, state)
        return State(force.values, move(problem, state.attention, force.attention))

    return field


two_scale = next_head(1)
"""Equation (11)."""


def lyapunov(known: int, problem: Problem, state: State) -> Float[Numbers, ""]:
    """phi = <V', G_(n) s'_(n)> - 1/2 ||V'||^2 ||s'_(n)||^2; condition (12) of Theorem 4 says phi > 0 at the start."""
    V, rest = state.values, without(known, state.attention)
    square = jnp.sum(problem.copies * rest * rest)
    return jnp.sum(V * apply_target(problem, rest)) - 0.5 * jnp.sum(V * V) * square
