"""Proposition 1 by Monte Carlo: the flow is the mean gradient of the regression itself, on random sequences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.theory.flow import logits
from headway.theory.problem import State, full_problem, geometric

DIMENSION, LENGTH, HEADS, FEATURES = 3, 5, 4, 2
NOISE = 0.5
FEW, MANY = 2_000, 32_000


@pytest.fixture(scope="module")
def gradients():
    """Minus the gradient of 1/2 ||y - y*||^2 for each of many sequences, and the velocity of the flow: (n,), flat."""
    with jax.enable_x64(True):
        rng = np.random.default_rng(5)
        problem = full_problem(
            geometric(FEATURES, 1.7), length=LENGTH, dimension=DIMENSION, heads=HEADS, projections=2, seed=3
        )
        features = np.asarray(problem.features).reshape(FEATURES, DIMENSION, DIMENSION)
        state = State(rng.standard_normal((HEADS, DIMENSION**2)), rng.standard_normal((HEADS, LENGTH)))

        def loss(state, x, noise):
            """y* = sum_k m_k V_k* x_k + noise and y = sum_k V_k X softmax(q_k), x_1 .. x_T the columns of X."""
            values = state.values.reshape(HEADS, DIMENSION, DIMENSION)
            y = jnp.einsum("kab,bt,kt->a", values, x, jax.nn.softmax(state.attention))
            wanted = jnp.einsum("k,kab,bk->a", problem.strengths, features, x[:, :FEATURES]) + noise
            return 0.5 * jnp.sum((y - wanted) ** 2)

        x = rng.standard_normal((MANY, DIMENSION, LENGTH))
        noise = NOISE * rng.standard_normal((MANY, DIMENSION))
        slopes = jax.jit(jax.vmap(jax.grad(loss), in_axes=(None, 0, 0)))(state, x, noise)
        velocity = logits(problem, state)
        sampled = np.concatenate([-np.asarray(part).reshape(MANY, -1) for part in slopes], axis=1)
        return sampled, np.concatenate([np.ravel(part) for part in velocity])


def test_the_flow_is_the_mean_gradient_within_its_standard_error(gradients):
    """56 numbers, each as far from the mean over sequences as the standard error says, and none five times as far."""
    sampled, velocity = gradients
    scores = (sampled.mean(axis=0) - velocity) / (sampled.std(axis=0, ddof=1) / np.sqrt(len(sampled)))
    assert len(scores) == HEADS * (DIMENSION**2 + LENGTH)
    assert np.abs(scores).max() < 5
    assert 0.6 < np.sqrt(np.mean(scores**2)) < 1.5


def test_the_error_shrinks_like_one_over_the_root_of_the_sequences(gradients):
    """Sixteen times as many sequences, a quarter of the error: averaged over all ways to take the fewer."""
    sampled, velocity = gradients
    few = sampled.reshape(MANY // FEW, FEW, -1).mean(axis=1) - velocity
    many = sampled.mean(axis=0) - velocity
    ratio = np.sqrt(np.mean(few**2) / np.mean(many**2))
    assert ratio == pytest.approx(np.sqrt(MANY / FEW), rel=0.4)
    assert np.abs(velocity).max() > 20 * np.sqrt(np.mean(many**2))
