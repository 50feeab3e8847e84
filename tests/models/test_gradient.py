"""The gradient of a batch does not depend on how it is cut."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.models.gradient import batch_gradient

pytestmark = pytest.mark.usefixtures("double")

BATCH = 7
CHUNKS = [1, 3, 4, 7, 11]
WEIGHTS = [(1, 1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 0, 0), (0.5, 2, 1, 0, 3, 1, 0.25)]
KEYS = {"silent": None, "noisy": 5}


def loss(model, example, key):
    """A curved loss; with a key, a random half of the weights does not count."""
    weights = model["weights"]
    if key is not None:
        weights = weights * jax.random.bernoulli(key, 0.5, weights.shape)
    x, y = example
    return (jnp.tanh(x @ weights) - y + model["shift"]) ** 2


@partial(jax.jit, static_argnames="chunk")
def in_chunks(model, examples, weights, key, chunk):
    return batch_gradient(loss, model, examples, weights, key, chunk)


@jax.jit
def at_once(model, examples, weights, key):
    """value_and_grad of the weighted mean."""

    def mean(model):
        keys = None if key is None else jax.vmap(lambda place: jax.random.fold_in(key, place))(jnp.arange(BATCH))
        losses = jax.vmap(loss, in_axes=(None, 0, None if key is None else 0))(model, examples, keys)
        return losses @ weights / jnp.sum(weights)

    return jax.value_and_grad(mean)(model)


@pytest.fixture(scope="module")
def model(double):
    random = np.random.default_rng(0)
    return {"weights": jnp.asarray(random.normal(size=3)), "shift": jnp.asarray(0.3)}


@pytest.fixture(scope="module")
def examples(double):
    random = np.random.default_rng(1)
    return jnp.asarray(random.normal(size=(BATCH, 3))), jnp.asarray(random.normal(size=BATCH))


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("weights", WEIGHTS, ids=["alike", "some-unreal", "unequal"])
def test_every_chunk_gives_the_gradient_of_the_weighted_mean(model, examples, weights, key):
    key = None if key is None else jax.random.key(key)
    weights = jnp.asarray(weights, float)
    wanted = at_once(model, examples, weights, key)
    assert np.abs(wanted[1]["weights"]).min() > 1e-3
    for chunk in CHUNKS:
        got = in_chunks(model, examples, weights, key, chunk)
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-15)


def test_every_example_of_a_batch_has_noise_of_its_own(model, examples):
    alike = jax.tree.map(lambda rows: jnp.broadcast_to(rows[:1], rows.shape), examples)
    apart = [
        float(in_chunks(model, alike, jnp.zeros(BATCH).at[place].set(1), jax.random.key(5), 3)[0])
        for place in range(BATCH)
    ]
    assert len(set(apart)) > 3


@pytest.mark.parametrize("chunk", CHUNKS)
def test_an_example_without_weight_leaves_no_trace_whatever_it_is(model, examples, chunk):
    weights = jnp.asarray([1, 1, 1, 1, 1, 0, 0], float)
    others = (examples[0].at[5:].set(1e6), examples[1].at[5:].set(-1e6))
    found = [in_chunks(model, rows, weights, None, chunk) for rows in (examples, others)]
    for a, b in zip(*map(jax.tree.leaves, found), strict=True):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()
