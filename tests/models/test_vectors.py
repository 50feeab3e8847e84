"""A transformer that reads vectors: tokens are a special case of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.models.initialisation import transformer
from headway.settings import ModelSettings

SETTINGS = ModelSettings(heads=2, width=8, mlp=6, positions="sinusoidal", norm="none", dropout=0.0)
TOKENS, LENGTH = 5, 4


@pytest.fixture(scope="module")
def model(double):
    return transformer(SETTINGS, TOKENS, LENGTH, jax.random.key(0))


def test_one_hot_vectors_are_tokens(model):
    tokens = jnp.array([3, 0, 0, 4])
    by_token, by_vector = (model.read(each, 2) for each in (tokens, jax.nn.one_hot(tokens, TOKENS)))
    np.testing.assert_allclose(by_vector.logits, by_token.logits, rtol=1e-9)
    np.testing.assert_allclose(by_vector.heads[0].pattern, by_token.heads[0].pattern, rtol=1e-9)


def test_a_vector_is_embedded_as_the_mixture_of_its_tokens(model):
    mixed = np.zeros((LENGTH, TOKENS))
    mixed[:, 1], mixed[:, 2] = 0.25, 0.75
    one, two = (model.embed(jnp.full(LENGTH, token)) for token in (1, 2))
    np.testing.assert_allclose(model.embed(jnp.asarray(mixed)), 0.25 * one + 0.75 * two, rtol=1e-9)


def test_answers_may_be_of_another_size_and_leave_all_other_weights_as_they_are(model, double):
    other = transformer(SETTINGS, TOKENS, LENGTH, jax.random.key(0), outputs=2)
    assert other(jnp.ones((LENGTH, TOKENS)), 1).shape == (1, 2)
    same = jax.tree.map(
        lambda a, b: bool(jnp.array_equal(a, b)), (other.embedding, other.layers), (model.embedding, model.layers)
    )
    assert all(jax.tree.leaves(same))


def test_vectors_of_another_size_are_refused(model):
    with pytest.raises(ValueError, match="this model reads 4 tokens at once"):
        model.read(jnp.ones((LENGTH, TOKENS + 1)), 1)
