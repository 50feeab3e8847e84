"""tau dW/dt = -1/2 dloss/dW: linear attention on in-context regression, with merged and with separate heads.

With gain g (N for a sum over the N pairs, 1 for their mean), M = g sum_i v_i U_i or g sum_i v_i k_i q_i^T, and
G = g (L^2 - E2 M L), E2 = L^2 + (L + tr L I) L / N, L diagonal:

    merged      tau dv_i/dt = <G, U_i>,        tau dU_i/dt = v_i G
    separate    tau dv_i/dt = k_i^T G q_i,     tau dk_i/dt = v_i G q_i,     tau dq_i/dt = v_i G^T k_i

Closed forms, and the levels between which the loss falls, are in analysis/linear_attention.py.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from headway.theory.problem import Numbers


class Regression(eqx.Module):
    """Eigenvalues of L, N, tau and g."""

    eigenvalues: Float[Numbers, " dimension"]
    pairs: Float[Numbers, ""]
    tau: Float[Numbers, ""]
    gain: Float[Numbers, ""]


class Merged(NamedTuple):
    """Heads of a value and a matrix each."""

    v: Float[Numbers, " head"]
    U: Float[Numbers, "head dimension dimension"]


class Separate(NamedTuple):
    """Heads of rank 1."""

    v: Float[Numbers, " head"]
    k: Float[Numbers, "head dimension"]
    q: Float[Numbers, "head dimension"]


def force(problem: Regression, matrix: Float[Numbers, "dimension dimension"]) -> Float[Numbers, "dimension dimension"]:
    """g (L^2 - E2 M L)."""
    own = problem.eigenvalues
    second = own**2 + (own + jnp.sum(own)) * own / problem.pairs
    return problem.gain * (jnp.diag(own**2) - second[:, None] * matrix * own)


def matrix(problem: Regression, state: Merged | Separate) -> Float[Numbers, "dimension dimension"]:
    """M."""
    if isinstance(state, Merged):
        return problem.gain * jnp.einsum("h,hde->de", state.v, state.U)
    return problem.gain * jnp.einsum("h,hd,he->de", state.v, state.k, state.q)


def merged(problem: Regression, state: Merged) -> Merged:
    """<G, U_i> and v_i G, over tau."""
    pull = force(problem, matrix(problem, state)) / problem.tau
    return Merged(jnp.einsum("de,hde->h", pull, state.U), state.v[:, None, None] * pull)


def separate(problem: Regression, state: Separate) -> Separate:
    """k_i^T G q_i, v_i G q_i and v_i G^T k_i, over tau."""
    pull = force(problem, matrix(problem, state)) / problem.tau
    return Separate(
        jnp.einsum("hd,de,he->h", state.k, pull, state.q),
        state.v[:, None] * (state.q @ pull.T),
        state.v[:, None] * (state.k @ pull),
    )


def loss(problem: Regression, state: Merged | Separate) -> Float[Numbers, ""]:
    """tr L - 2 tr(M L^2) + tr(E2 M L M^T)."""
    own, found = problem.eigenvalues, matrix(problem, state)
    second = own**2 + (own + jnp.sum(own)) * own / problem.pairs
    return jnp.sum(own) - 2 * jnp.sum(jnp.diag(found) * own**2) + jnp.sum(second[:, None] * found**2 * own)
