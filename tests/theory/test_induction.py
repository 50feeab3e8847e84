"""First pushes on the minimal model of induction: moments known before, and the model's own first gradient."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.tasks.minimal_induction import MinimalInduction
from headway.tasks.walks import doubly_stochastic
from headway.theory.induction import codes_at_first, first_push_on_gains, gains_at_first, matrices, shape_of_codes


def test_with_three_states_the_diagonal_is_pushed_most():
    """0.0146 and 0.0057, to what 200 000 matrices leave open."""
    push = first_push_on_gains(matrices(3))
    diagonal, others = np.diagonal(push), push[~np.eye(3, dtype=bool)]
    np.testing.assert_allclose(diagonal, 0.0146, atol=0.0003)
    np.testing.assert_allclose(others, 0.0057, atol=0.0001)


def test_with_two_states_codes_are_pushed_most_at_odd_distances():
    shape = shape_of_codes(matrices(2), 6)
    np.testing.assert_allclose(shape, [0.102, 0.125, 0.089, 0.105, 0.090, 0.099], atol=0.0006)
    over_frequencies = shape_of_codes(matrices(2), 6, "unigram")
    assert over_frequencies[1] == over_frequencies.max() and over_frequencies[0] == over_frequencies.min() < 0
    assert over_frequencies[3] > max(over_frequencies[2], over_frequencies[4])


def test_doubly_stochastic_chains_push_no_gain():
    """<P_a, pi> = 1/k where pi is uniform."""
    drawn = jax.vmap(lambda key: doubly_stochastic(key, 3))(jax.random.split(jax.random.key(0), 500))
    np.testing.assert_allclose(first_push_on_gains(np.asarray(drawn, float)), 0, atol=1e-6)


@pytest.fixture(scope="module")
def first_gradient():
    """Mean gradient over sequences that are long enough for the moments, from W = w I or W = 0."""

    def of(states: int, gain: float, length: int, count: int = 4000):
        task = MinimalInduction(states=states, length=length)
        point = {"W": gain * jnp.eye(states), "v": jnp.zeros(length)}

        def loss(point, keys):
            def one(key):
                example = task.sample(key)
                return task.loss(task.answer(point, example).logits, example)

            return jnp.mean(jax.vmap(one)(keys))

        gradient = jax.jit(jax.grad(loss))
        parts = [gradient(point, keys) for keys in jax.random.split(jax.random.key(1), count).reshape(-1, 200)]
        return {name: np.mean([np.asarray(each[name]) for each in parts], axis=0) for name in point}

    return of


def test_the_model_is_pushed_as_the_moments_say(first_gradient):
    """From W = 0 by (T/2) times the moment, up to what the first tokens of a sequence differ by."""
    length, push = 100, first_push_on_gains(matrices(2, 20_000))
    found = -first_gradient(2, 0.0, length)["W"]
    wanted = gains_at_first(np.ones(1), push, 0.0, 1.0, length)[0]
    np.testing.assert_allclose(found, wanted, rtol=0.2)


def test_the_codes_of_a_model_with_small_gains_are_pushed_in_the_shape_of_theory(first_gradient):
    """W = w I with a w so small that predictions are uniform: distances 0 to 5 less their mean.

    Smaller by up to a half, because the first tokens of a sequence have few others behind them.
    """
    gain, length = 1e-3, 100
    found = -first_gradient(2, gain, length, 8000)["v"][:6]
    found = found - found.mean()
    wanted = codes_at_first(shape_of_codes(matrices(2, 50_000), 6), gain, 1.0, length)
    assert np.corrcoef(found, wanted)[0, 1] > 0.95
    assert 0.5 < np.linalg.norm(found) / np.linalg.norm(wanted) < 1.1
