"""One head leaves while the others stay on what is known: equation (10) and its extension in section D.2."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Float

from headway.theory.flow import apply_target, correlate_target
from headway.theory.problem import Numbers, Problem, State
from headway.theory.simplex import inner, move


class Offshoot(NamedTuple):
    """What sits at e_1 .. e_n, and the head that leaves; the paper's V, V_2, .., V_n, V' = V_{n+1} and s' = s_{n+1}."""

    settled: Float[Numbers, "known size"]
    value: Float[Numbers, " size"]
    attention: Float[Numbers, " position"]


def heads_at(problem: Problem, known: int) -> Float[Numbers, " known"]:
    """How many heads sit at each known position: H - n at the first, one at each of the others."""
    if not 0 < known < problem.heads:
        raise ValueError(f"{known} features known by {problem.heads} heads leave none to learn the next: use fewer.")
    return jnp.ones(known).at[0].set(problem.heads - known)


def offshoot(problem: Problem, state: Offshoot) -> Offshoot:
    """dV_i/dt = m_i V_i* - N_i V_i - s'_i V', dV'/dt = G s' - sum_i N_i s'_i V_i - ||s'||^2 V',
    ds'/dt = Pi(s')^2 (V'^T G - sum_i N_i <V', V_i> e_i - ||V'||^2 s'), i = 1 .. n, N = (H - n, 1, .., 1).

    Exact for heads that attend to one position each, because Pi(e_i) = 0 keeps them there. n, the number of rows of
    `settled`, is 1 in equation (10), where N_1 V is the ensemble of H - 1 heads.
    """
    V, value, s = state
    known = V.shape[0]
    counts = heads_at(problem, known)
    kept = counts * s[:known]
    pull = jnp.asarray(correlate_target(problem, value) - jnp.sum(value * value) * s)
    pull = pull.at[:known].add(-counts * (V @ value))
    return Offshoot(
        problem.strengths[:known, None] * problem.features[:known] - counts[:, None] * V - s[:known, None] * value,
        apply_target(problem, s) - kept @ V - inner(problem, s, s) * value,
        move(problem, s, pull),
    )


def best_settled(problem: Problem, known: int, head: State) -> Float[Numbers, "known size"]:
    """V_i = (m_i V_i* - s'_i V') / N_i, where dV_i/dt = 0: Lemma 1's V*, and the start of equation (17)."""
    counts = heads_at(problem, known)
    wanted = problem.strengths[:known, None] * problem.features[:known]
    return (wanted - head.attention[:known, None] * head.values) / counts[:, None]


def lyapunov(problem: Problem, state: Offshoot) -> Float[Numbers, ""]:
    """phi = sum_i N_i (m_i <V_i, V_i*> - N_i/2 ||V_i||^2 - s'_i <V_i, V'>) + <V', G s'> - 1/2 ||s'||^2 ||V'||^2.

    The loss is 1/2 ||G||^2 - phi. For n = 1 it is the function in the proof of Theorem 3.
    """
    V, value, s = state
    known = V.shape[0]
    counts = heads_at(problem, known)
    own = problem.strengths[:known] * jnp.sum(V * problem.features[:known], axis=-1)
    ensemble = counts * (own - counts / 2 * jnp.sum(V * V, axis=-1) - s[:known] * (V @ value))
    square = jnp.sum(problem.copies * s * s)
    return jnp.sum(ensemble) + jnp.sum(value * apply_target(problem, s)) - 0.5 * square * jnp.sum(value * value)


def as_heads(problem: Problem, state: Offshoot) -> State:
    """The same state as H heads of the full flow: those at e_1, then e_2 .. e_n, and the one that leaves last."""
    known = state.settled.shape[0]
    owner = [0] * (problem.heads - known) + list(range(1, known))
    values = jnp.concatenate([jnp.asarray(state.settled)[jnp.asarray(owner)], state.value[None]])
    attention = jnp.concatenate([jnp.eye(problem.length)[jnp.asarray(owner)], state.attention[None]])
    return State(values, attention)
