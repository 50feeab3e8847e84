"""W in R^{d x d} and all T logits a: L = 1/2 E ||W X softmax(a) - W* x_T||^2, over all samples.

Tokens are independent and have mean zero, so that the expectation is exact, S the attention on the B copies:

    L = 1/2 tr (S W - W*) C (S W - W*)^T + 1/2 ||W||_F^2 sum_{others} softmax(a)_t^2 / d,    C = E x_T x_T^T

Nothing is reduced here: its gradients are those of the model, and what `context` and `sample` are held against.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from headway.theory.emergence.toy import Scalar, Toy
from headway.theory.problem import Numbers


class Matrices(NamedTuple):
    """W and a."""

    values: Float[Numbers, "out in"]
    logits: Float[Numbers, " time"]


class Population(eqx.Module):
    """All samples of a toy at once; the repeated vector is the first unit vector, the copies are the last tokens."""

    toy: Toy
    target: Float[Numbers, "out in"]


def start(toy: Toy) -> Matrices:
    """W = 0, a = 0."""
    return Matrices(jnp.zeros((int(toy.dimension),) * 2), jnp.zeros(int(toy.length)))


def orthogonal_target(key: Key[Array, ""], dimension: int) -> Float[Array, "out in"]:
    """W*: a random orthogonal matrix, ||W*||_F^2 = d."""
    return jax.random.orthogonal(key, dimension)


def loss(population: Population, state: Matrices) -> Scalar:
    """The loss above, with C = diag(s~, s, .., s)."""
    along, across = population.toy.variances
    return _loss(population, state, jnp.full(population.target.shape[1], across).at[0].set(along))


def tested(population: Population, state: Matrices) -> Scalar:
    """The same on samples without cross-sample repetition: C = I/d."""
    size = population.target.shape[1]
    return _loss(population, state, jnp.full(size, 1 / size))


def _loss(population: Population, state: Matrices, variance: Float[Numbers, " in"]) -> Scalar:
    seen, noise = _attention(population.toy, state.logits)
    missing = seen * state.values - population.target
    power = jnp.sum(state.values**2) * noise / population.toy.dimension
    return 0.5 * (jnp.sum(missing**2 * variance) + power)


def flow(population: Population, state: Matrices) -> Matrices:
    """-grad L."""
    return jax.tree.map(jnp.negative, jax.grad(loss, argnums=1)(population, state))


def measure(population: Population, state: Matrices) -> dict[str, Scalar]:
    """The loss without cross-sample repetition, attention on the copies, and W along W*, as a share of the whole."""
    seen, _ = _attention(population.toy, state.logits)
    along = jnp.sum(state.values * population.target, axis=0)
    return {
        "loss": tested(population, state),
        "attention_relevant": seen,
        "gain": jnp.sum(along) / population.toy.dimension,
        "gain_repeated": along[0],
    }


def _attention(toy: Toy, logits: Float[Numbers, " time"]) -> tuple[Scalar, Scalar]:
    """Attention on the copies, and the sum of squares of that on the others."""
    s = jax.nn.softmax(logits)
    copy = jnp.arange(logits.shape[0]) >= toy.others
    return jnp.sum(jnp.where(copy, s, 0)), jnp.sum(jnp.where(copy, 0, s) ** 2)
