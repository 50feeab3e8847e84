"""Linear attention, biases, gelu, emphasis and no mask, held against a few lines of NumPy."""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.models.switches import stirred

from headway.models.attention import Emphasis, shares
from headway.models.attribution import attributed
from headway.settings import ModelSettings, SettingsError

pytestmark = pytest.mark.usefixtures("double")

SETTINGS = ModelSettings(
    heads=2,
    width=8,
    norm="none",
    mlp=5,
    residual=True,
    dropout=0.0,
    attention="linear",
    biases=True,
    activation="gelu",
)
TOKENS = jnp.array([1, 3, 0, 2])
PLACES = ((2, 0), (3, 1))


def by_hand(model, factor=1.0):
    """(logits, patterns) position by position."""
    attention, mlp = model.layers[0].attention, model.layers[0].mlp
    edges = [0.0 if each is None else np.asarray(each) for each in (model.embedding_bias, model.readout_bias)]
    x = np.asarray(model.embedding)[TOKENS] + edges[0] + np.asarray(model.positions)
    patterns, out = np.zeros((2, 4, 4)), x.copy()
    for head in range(2):
        query, key, value = (
            x @ np.asarray(matrix)[head] + np.asarray(bias)[head]
            for matrix, bias in zip(
                (attention.query, attention.key, attention.value), attention.biases[:3], strict=True
            )
        )
        for here in range(4):
            for there in range(here + 1 if attention.causal else 4):
                own = query[here] @ key[there] / math.sqrt(4) * (factor if (here, there) in PLACES else 1)
                patterns[head, here, there] = own
                out[here] += own * value[there] @ np.asarray(attention.output)[head]
    out += np.asarray(attention.biases.output)
    hidden = out @ np.asarray(mlp.inner) + np.asarray(mlp.inner_bias)
    curve = 0.5 * hidden * (1 + np.tanh(math.sqrt(2 / math.pi) * (hidden + 0.044715 * hidden**3)))
    out = out + curve @ np.asarray(mlp.outer) + np.asarray(mlp.outer_bias)
    return out @ np.asarray(model.readout) + edges[1], patterns


def test_linear_attention_with_biases_and_gelu_is_what_its_formula_says():
    """A = tril(Q K^T) / sqrt(score), y = A V, without softmax; gelu(x) in the form with tanh."""
    model = stirred(SETTINGS)
    reading = model.read(TOKENS, 4)
    logits, patterns = by_hand(model)
    np.testing.assert_allclose(reading.logits, logits, rtol=1e-10)
    np.testing.assert_allclose(reading.heads[0].pattern, patterns, rtol=1e-10, atol=1e-12)


def test_without_a_mask_every_position_sees_all_and_biases_of_the_edges_are_added():
    model = stirred(replace(SETTINGS, causal=False, edge_biases=True))
    reading = model.read(TOKENS, 4)
    logits, patterns = by_hand(model)
    assert patterns[:, 0, 1:].all()
    np.testing.assert_allclose(reading.logits, logits, rtol=1e-10)
    np.testing.assert_allclose(reading.heads[0].pattern, patterns, rtol=1e-10, atol=1e-12)
    taken_apart = attributed(model, TOKENS)
    np.testing.assert_allclose(taken_apart.logits, logits, rtol=1e-10)
    np.testing.assert_allclose(taken_apart.rest + sum(taken_apart.contributions).sum(axis=0), logits, rtol=1e-10)


def test_an_encoding_that_knows_the_past_alone_needs_a_mask():
    with pytest.raises(SettingsError, match="earlier tokens only"):
        replace(SETTINGS, causal=False, positions="alibi")


def test_emphasis_multiplies_attention_at_its_places_and_nowhere_else():
    model = stirred(SETTINGS)
    attention = replace(model.layers[0].attention, emphasis=Emphasis(2.5, PLACES))
    emphasised = replace(model, layers=(replace(model.layers[0], attention=attention),))
    logits, patterns = by_hand(model, 2.5)
    reading = emphasised.read(TOKENS, 4)
    np.testing.assert_allclose(reading.logits, logits, rtol=1e-10)
    np.testing.assert_allclose(reading.heads[0].pattern, patterns, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(emphasised.read(TOKENS, 2).logits, logits[-2:], rtol=1e-10)
    assert emphasised.layers[0].attention.emphasis not in jax.tree.leaves(emphasised), "it is no weight"


def test_where_a_head_without_softmax_looks_is_told_in_shares():
    """|A| / sum |A|, which add up to 1; softmax has shares already."""
    reading = stirred(SETTINGS).read(TOKENS, 4).heads[0]
    np.testing.assert_allclose(reading.looked.sum(axis=-1), 1, rtol=1e-12)
    assert float(reading.pattern.min()) < 0 <= float(reading.looked.min())
    usual = stirred(replace(SETTINGS, attention="softmax")).read(TOKENS, 4).heads[0]
    assert usual.looked is usual.pattern
    np.testing.assert_allclose(shares(usual.pattern), usual.pattern, rtol=1e-12)
