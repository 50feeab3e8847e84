"""dV_k/dt = (G - P) s_k, ds_k/dt = Pi(s_k)^2 V_k^T (G - P): the full flow, paper A, equation (6)."""

import jax.numpy as jnp
from jaxtyping import Float

from headway.theory.problem import Numbers, Problem, State
from headway.theory.simplex import inner, move


def apply_target(problem: Problem, s: Float[Numbers, "*head position"]) -> Float[Numbers, "*head size"]:
    """G s = sum_j m_j V_j* s_j."""
    return (jnp.asarray(s)[..., : problem.count] * problem.strengths) @ problem.features


def correlate_target(problem: Problem, V: Float[Numbers, "*head size"]) -> Float[Numbers, "*head position"]:
    """V^T G = sum_j m_j <V, V_j*> e_j."""
    seen = problem.strengths * (V @ problem.features.T)
    return jnp.zeros((*V.shape[:-1], problem.length), seen.dtype).at[..., : problem.count].set(seen)


def overlaps(problem: Problem, s: Float[Numbers, "head position"]) -> Float[Numbers, "head head"]:
    """<s_i, s_k>."""
    return (problem.copies * s) @ s.T


def drive(problem: Problem, state: State) -> State:
    """(G - P) s_k and V_k^T (G - P), without ever forming the tensors: P s_k = sum_i <s_i, s_k> V_i."""
    V, s = state
    return State(
        values=apply_target(problem, s) - overlaps(problem, s) @ V,
        attention=correlate_target(problem, V) - (V @ V.T) @ s,
    )


def full(problem: Problem, state: State) -> State:
    """dV_k/dt = (G - P) s_k, ds_k/dt = Pi(s_k)^n V_k^T (G - P), n = `problem.projections`.

    n = 2 is gradient flow in the logits q_k, s_k = softmax(q_k), and what equation (6) prints; n = 1, gradient flow of
    s_k in the geometry of the simplex, is what the simulation of figure 10 does. Both have the same fixed points.
    """
    force = drive(problem, state)
    return State(force.values, move(problem, state.attention, force.attention))


def softmax(problem: Problem, q: Float[Numbers, "*head position"]) -> Float[Numbers, "*head position"]:
    """s_p = e^{q_p} / sum_r n_r e^{q_r}, n_r the copies of position r."""
    weights = jnp.exp(q - jnp.max(q, axis=-1, keepdims=True))
    return weights / jnp.sum(problem.copies * weights, axis=-1, keepdims=True)


def logits(problem: Problem, state: State) -> State:
    """dV_k/dt = (G - P) s_k, dq_k/dt = Pi(s_k)^(n-1) V_k^T (G - P): the same flow with `attention` holding q_k.

    As s = softmax(q) gives ds/dt = Pi(s) dq/dt, the s of this flow is the s of `full`. Equation (13) is n = 2. In q the
    attention is on the simplex whatever the solver does, and small entries keep their relative accuracy.
    """
    s = softmax(problem, state.attention)
    force = drive(problem, State(state.values, s))
    if problem.projections == 2:
        return State(force.values, s * (force.attention - inner(problem, s, force.attention)))
    return force


def residual(problem: Problem, state: State) -> Float[Numbers, "size position"]:
    """G - P, with V written out: only where the whole tensor is wanted."""
    target = (
        jnp.zeros((problem.size, problem.length)).at[:, : problem.count].set(problem.features.T * problem.strengths)
    )
    return target - state.values.T @ state.attention


def loss(problem: Problem, state: State) -> Float[Numbers, ""]:
    """1/2 ||G - P||_F^2 = 1/2 (sum_j m_j^2 - 2 <G, P> + sum_ik <V_i, V_k> <s_i, s_k>), as a sum of squares."""
    return 0.5 * jnp.sum(problem.copies * residual(problem, state) ** 2)


def loss_parts(problem: Problem, state: State) -> Float[Numbers, "feature position"]:
    """1/2 <V_j*, (G - P) e_p>^2, feature j and position p; for V in the features' span they sum to the loss."""
    return 0.5 * problem.copies * (problem.features @ residual(problem, state)) ** 2


def plateaus(strengths: Float[Numbers, " feature"]) -> Float[Numbers, " rung"]:
    """1/2 sum_{j > i} m_j^2 for i = 0 .. h: where the loss waits once i features are learned."""
    tail = jnp.cumsum(jnp.asarray(strengths)[::-1] ** 2)[::-1]
    return 0.5 * jnp.concatenate([tail, jnp.zeros(1, tail.dtype)])
