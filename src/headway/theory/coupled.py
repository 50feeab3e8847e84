"""dV/dt = G s - H ||s||^2 V, ds/dt = Pi(s)^2 (V^T G - H ||V||^2 s): all heads alike."""

import jax.numpy as jnp
from jaxtyping import Float

from headway.theory.flow import apply_target, correlate_target
from headway.theory.problem import Numbers, Problem, State
from headway.theory.simplex import inner, move


def gradient(problem: Problem, state: State) -> State:
    """G s - H ||s||^2 V and V^T G - H ||V||^2 s: the gradient of `lyapunov`, in V and in s."""
    V, s = state
    return State(
        apply_target(problem, s) - problem.heads * inner(problem, s, s) * V,
        correlate_target(problem, V) - problem.heads * jnp.sum(V * V, axis=-1, keepdims=True) * s,
    )


def coupled(problem: Problem, state: State) -> State:
    """Section 3.2: V = V_k and s = s_k for every k, which the full flow preserves, H = `problem.heads`.

    One V of shape (size,) and one s of shape (position,). From a start in order it ends at V = m_1/H V_1*, s = e_1.
    """
    force = gradient(problem, state)
    return State(force.values, move(problem, state.attention, force.attention))


def lyapunov(problem: Problem, state: State) -> Float[Numbers, ""]:
    """phi = <V, G s> - H/2 ||V||^2 ||s||^2, equation (14); the loss is 1/2 ||G||^2 - H phi, so phi never falls."""
    V, s = state
    square = jnp.sum(problem.copies * s * s)
    return jnp.sum(V * apply_target(problem, s)) - 0.5 * problem.heads * jnp.sum(V * V) * square


def ordering(problem: Problem, state: State) -> Float[Numbers, ""]:
    """min over k of <V, V_1* - V_k*> and of s_1 - s_k: at least 0 in the region of equation (7)."""
    seen = problem.features @ state.values
    looked = state.attention[: problem.count]
    return jnp.minimum(jnp.min(seen[0] - seen[1:]), jnp.min(looked[0] - looked[1:]))
