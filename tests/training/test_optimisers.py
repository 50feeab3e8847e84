"""Optimisers and clipping with PyTorch's conventions."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from tests.training import published

from headway.settings import SettingsError, TrainingSettings
from headway.training.optimisers import Rates, clipped, optimiser

pytestmark = pytest.mark.usefixtures("double")

STEPS = 200
RANDOM = np.random.default_rng(0)
START = RANDOM.normal(size=6)
GRADIENTS = RANDOM.normal(size=(STEPS, 6)) * np.exp(RANDOM.normal(size=(STEPS, 1))) * [1, 1, 1e-3, 1e3, 1, 0]
"""Of every size, and for one parameter always zero."""


def tree(values: jax.Array) -> dict[str, jax.Array]:
    return {"first": values[:2], "rest": values[2:].reshape(2, 2)}


def headway_path(settings: TrainingSettings, gradients: np.ndarray, rates: Rates) -> np.ndarray:
    """(step, parameter): the parameters after every step."""

    @jax.jit
    def run(rates, gradients):
        method = optimiser(settings, rates, 1)

        def step(carry, g):
            theta, state = carry
            updates, state = method.update(tree(g), state, theta, value=jnp.zeros(()))
            theta = optax.apply_updates(theta, updates)
            return (theta, state), jnp.concatenate([theta["first"], theta["rest"].ravel()])

        theta = tree(jnp.asarray(START))
        return jax.lax.scan(step, (theta, method.init(theta)), gradients)[1]

    return np.asarray(run(rates, jnp.asarray(gradients)))


ADAMW = TrainingSettings(optimiser="adamw", schedule="constant")
SGD = TrainingSettings(optimiser="sgd", schedule="constant")


@pytest.mark.parametrize("rule", published.ADAMW.values(), ids=published.ADAMW)
@pytest.mark.parametrize("decay", [0.0, 0.01, 0.9])
def test_adamw_follows_pytorch(rule, decay):
    rates = Rates(learning_rate=0.03, weight_decay=decay, momentum=0.9, clip=0.0)
    np.testing.assert_allclose(headway_path(ADAMW, GRADIENTS, rates), rule(START, GRADIENTS, rates), rtol=1e-11)


@pytest.mark.parametrize("rule", published.SGD.values(), ids=published.SGD)
@pytest.mark.parametrize(("decay", "momentum"), [(0.0, 0.0), (0.01, 0.9), (0.3, 0.99)])
def test_sgd_follows_pytorch_with_the_decay_in_the_momentum(rule, decay, momentum):
    rates = Rates(learning_rate=0.02, weight_decay=decay, momentum=momentum, clip=0.0)
    np.testing.assert_allclose(headway_path(SGD, GRADIENTS, rates), rule(START, GRADIENTS, rates), rtol=1e-10)


@pytest.mark.parametrize("rule", published.CLIP.values(), ids=published.CLIP)
@pytest.mark.parametrize("limit", [1e-2, 1.0, 500.0])
def test_clipping_follows_pytorch_to_the_millionth_by_which_it_avoids_zero(rule, limit):
    found = jax.vmap(lambda g: clipped(tree(g), limit))(jnp.asarray(GRADIENTS))
    found = np.concatenate([found["first"], found["rest"].reshape(STEPS, 4)], axis=1)
    shortened = np.linalg.norm(GRADIENTS, axis=1) > limit
    assert shortened.any()
    np.testing.assert_allclose(found, rule(GRADIENTS, limit), rtol=2e-6)
    np.testing.assert_allclose(np.linalg.norm(found[shortened], axis=1), limit, rtol=1e-12)
    assert (found[~shortened] == GRADIENTS[~shortened]).all()


def test_a_limit_of_zero_leaves_gradients_as_they_are():
    g = tree(jnp.asarray(GRADIENTS[3]))
    assert jax.tree.all(jax.tree.map(lambda a, b: (a == b).all(), clipped(g, 0.0), g))


def test_a_zero_gradient_stays_zero():
    nothing = tree(jnp.zeros(6))
    assert jax.tree.all(jax.tree.map(lambda a: (a == 0).all(), clipped(nothing, 1.0)))


@pytest.mark.parametrize(("settings", "rule"), [(ADAMW, published.adamw), (SGD, published.sgd)], ids=["adamw", "sgd"])
def test_the_raw_gradient_is_clipped_before_decay_and_momentum_see_it(settings, rule):
    rates = Rates(learning_rate=0.02, weight_decay=0.3, momentum=0.9, clip=1.0)
    wanted = rule(START, published.clip(GRADIENTS, 1.0), rates)
    np.testing.assert_allclose(headway_path(settings, GRADIENTS, rates), wanted, rtol=1e-4, atol=1e-6)
    assert not np.allclose(wanted, rule(START, GRADIENTS, rates), rtol=0.01)


def test_adamw_without_momentum_divides_every_gradient_by_its_own_running_size():
    """b1 = 0: theta -= rate (g / (sqrt(v) + eps) + decay theta), v the corrected mean of g^2 with the factor b2."""
    b2, rates = 0.95, Rates(learning_rate=0.03, weight_decay=0.1, momentum=0.9, clip=0.0)
    settings = TrainingSettings(arguments=(("b1", 0.0), ("b2", b2)), schedule="constant")
    theta, mean, wanted = START.copy(), np.zeros(6), []
    for step, g in enumerate(GRADIENTS, start=1):
        mean = b2 * mean + (1 - b2) * g**2
        theta = theta - 0.03 * (g / (np.sqrt(mean / (1 - b2**step)) + 1e-8) + 0.1 * theta)
        wanted.append(theta)
    np.testing.assert_allclose(headway_path(settings, GRADIENTS, rates), wanted, rtol=1e-9)


def test_an_argument_that_adamw_has_not_is_refused_with_those_that_it_has():
    with pytest.raises(SettingsError, match="the arguments b1, b2, eps"):
        TrainingSettings(arguments=(("beta", 0.9),))
