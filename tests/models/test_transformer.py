"""The transformer, whatever its switches, against the same mathematics written out in NumPy."""

from collections.abc import Callable
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from tests.models import plain_transformer as plain
from tests.models.switches import LENGTH, TOKENS, chosen_settings, name, stirred

from headway.models.transformer import Reading, Transformer
from headway.presets import MINIMAL
from headway.settings import ModelSettings

pytestmark = pytest.mark.usefixtures("double")

SENTENCE = [2, 0, 3, 2]


def along(loss: Callable[[Transformer], Array], model: Transformer, direction: Transformer, step: float) -> float:
    """The loss a step away."""
    return float(loss(jax.tree.map(lambda p, v: p + step * v, model, direction)))


@pytest.fixture(scope="module", params=chosen_settings(), ids=name)
def model(request, double) -> Transformer:
    return stirred(request.param)


@pytest.fixture(scope="module")
def reading(model) -> Reading:
    """At every position."""
    return model.read(jnp.asarray(SENTENCE), LENGTH)


def test_every_switch_does_what_its_formula_says(model, reading):
    wanted = plain.read(model, SENTENCE)
    np.testing.assert_allclose(reading.logits, wanted.logits, rtol=1e-9, atol=1e-11)
    for found, pattern, written in zip(reading.heads, wanted.patterns, wanted.written, strict=True):
        np.testing.assert_allclose(found.pattern, pattern, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.written, written[..., : found.written.shape[-1]], rtol=1e-9, atol=1e-11)


def test_attention_is_a_distribution_over_the_past(reading):
    for found in reading.heads:
        np.testing.assert_allclose(found.pattern.sum(axis=-1), 1, rtol=1e-12)
        np.testing.assert_array_equal(found.pattern, np.tril(found.pattern))


@pytest.mark.parametrize("place", [1, 3])
def test_a_token_changes_nothing_before_it_and_something_at_it(model, reading, place):
    other = list(SENTENCE)
    other[place] = 1
    changed = model.read(jnp.asarray(other), LENGTH)
    np.testing.assert_allclose(changed.logits[:place], reading.logits[:place], rtol=1e-12, atol=1e-13)
    for before, after in zip(reading.heads, changed.heads, strict=True):
        np.testing.assert_allclose(after.pattern[:, :place], before.pattern[:, :place], rtol=1e-12)
    assert np.abs(changed.logits[place] - reading.logits[place]).max() > 1e-4


@pytest.mark.parametrize("predicted", [1, 3])
def test_predicting_fewer_positions_gives_the_end_of_predicting_all(model, reading, predicted):
    tail = model.read(jnp.asarray(SENTENCE), predicted)
    np.testing.assert_allclose(tail.logits, reading.logits[-predicted:], rtol=1e-9, atol=1e-12)
    last, wanted = tail.heads[-1], reading.heads[-1]
    np.testing.assert_allclose(last.pattern, wanted.pattern[:, -predicted:], rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(last.written, wanted.written[:, -predicted:], rtol=1e-9, atol=1e-12)


def test_the_gradient_is_the_slope_of_the_loss(model):
    """(L(p + e v) - L(p - e v)) / 2e = <grad L(p), v> for random directions v: all parameters, only the scores."""

    def loss(model):
        guess = jax.nn.log_softmax(model(jnp.asarray(SENTENCE), LENGTH))
        return -jnp.mean(guess[jnp.arange(LENGTH), jnp.asarray([1, 2, 0, 3])])

    gradient = jax.tree.map(np.asarray, jax.grad(loss)(model))
    assert all(np.abs(leaf).max() > 1e-6 for leaf in jax.tree.leaves(gradient))
    rng, step = np.random.default_rng(0), 1e-5
    everywhere = jax.tree.map(lambda leaf: rng.normal(size=leaf.shape), model)
    in_scores = jax.tree_util.tree_map_with_path(
        lambda path, v: v * any(getattr(part, "name", "") in ("query", "key") for part in path), everywhere
    )
    for direction in (everywhere, in_scores):
        slope = sum(map(np.vdot, jax.tree.leaves(gradient), jax.tree.leaves(direction)))
        rise = along(loss, model, direction, step) - along(loss, model, direction, -step)
        assert slope == pytest.approx(rise / (2 * step), rel=1e-5, abs=1e-9)
        assert abs(slope) > 1e-5


def test_a_model_reads_one_sequence_of_its_own_length():
    model = stirred(replace(MINIMAL, heads=2))
    for wrong in (LENGTH - 1, LENGTH + 1):
        with pytest.raises(ValueError) as caught:
            model.read(jnp.zeros(wrong, int), 1)
        assert str(caught.value) == (
            f"got tokens of shape ({wrong},), but this model reads 4 tokens at once. "
            "It is written for one sequence: use jax.vmap for more."
        )


@pytest.mark.parametrize("heads", [1, 2, 3, 8])
def test_the_minimal_model_is_a_sum_over_heads_of_dense_products_with_one_hot_vectors(heads):
    """logits = first d coordinates of sum_k softmax(X A_k X^T, causal) X V_k, the rows of X (one-hot, one-hot)."""
    model = stirred(replace(MINIMAL, heads=heads))
    X = np.concatenate([np.eye(TOKENS)[SENTENCE], np.eye(LENGTH)], axis=1)
    attention = model.layers[0].attention
    logits = np.zeros((LENGTH, X.shape[1]))
    for A, V in zip(np.asarray(attention.query), np.asarray(attention.value), strict=True):
        weight = np.exp(X @ A @ X.T) * np.tri(LENGTH)
        logits += weight / weight.sum(axis=1, keepdims=True) @ X @ V
    np.testing.assert_allclose(model(jnp.asarray(SENTENCE), LENGTH), logits[:, :TOKENS], rtol=1e-9)


@pytest.mark.parametrize("heads", [1, 4, 8])
def test_the_full_model_is_post_norm_attention_and_post_norm_mlp(heads):
    """x = LN(x + attn(x)), x = LN(x + mlp(x)); no biases in attention, embedding and readout."""
    model = stirred(ModelSettings(heads=heads, width=8, mlp=5))
    leaves = jax.tree.map(np.asarray, model)
    (layer,), attention = leaves.layers, leaves.layers[0].attention

    def normalised(x, norm):
        x = x - x.mean(axis=1, keepdims=True)
        return x / np.sqrt((x**2).mean(axis=1, keepdims=True) + 1e-5) * norm.scale + norm.shift

    x = leaves.embedding[SENTENCE] + leaves.positions
    attended = []
    for k in range(heads):
        scores = (x @ attention.query[k]) @ (x @ attention.key[k]).T / np.sqrt(8 / heads)
        weight = np.exp(scores) * np.tri(LENGTH)
        attended.append(weight / weight.sum(axis=1, keepdims=True) @ (x @ attention.value[k]))
    # The heads side by side, times one output matrix, is what textbooks write.
    x = normalised(x + np.concatenate(attended, axis=1) @ attention.output.reshape(8, 8), layer.norms[0])
    hidden = np.maximum(x @ layer.mlp.inner + layer.mlp.inner_bias, 0)
    x = normalised(x + hidden @ layer.mlp.outer + layer.mlp.outer_bias, layer.norms[1])
    np.testing.assert_allclose(model(jnp.asarray(SENTENCE), LENGTH), x @ leaves.readout, rtol=1e-9)


def test_vmap_over_sequences_and_over_models_gives_what_each_gives_alone():
    settings = replace(MINIMAL, heads=2)
    models = [stirred(settings, seed) for seed in (0, 5)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)
    sequences = jnp.asarray([SENTENCE, [0, 0, 1, 3], [3, 2, 1, 0]])
    together = eqx.filter_vmap(lambda m: jax.vmap(lambda s: m(s, 2))(sequences))(stacked)
    for found, model in zip(together, models, strict=True):
        for logits, sequence in zip(found, sequences, strict=True):
            np.testing.assert_allclose(logits, model(sequence, 2), rtol=1e-10)
