"""Where a fresh model starts."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from headway.models.initialisation import transformer
from headway.models.transformer import Transformer
from headway.presets import MINIMAL
from headway.settings import ModelSettings, SettingsError
from headway.training.checkpoint import flatten

TOKENS, LENGTH, WIDTH, HIDDEN, HEADS = 10, 9, 24, 20, 3
FULL = ModelSettings(width=WIDTH, mlp=HIDDEN, heads=HEADS, layers=2)
KEY = 7


@pytest.fixture(scope="module")
def full() -> Transformer:
    return transformer(FULL, TOKENS, LENGTH, jax.random.key(KEY))


@pytest.fixture(scope="module")
def minimal() -> Transformer:
    return transformer(MINIMAL, TOKENS, LENGTH, jax.random.key(KEY))


def fill(matrix, limit: float) -> None:
    """Uniform on [-limit, limit]: nothing outside, and as much in every part."""
    entries = np.asarray(matrix, np.float64).ravel()
    assert np.abs(entries).max() <= limit * (1 + 1e-6)
    assert stats.kstest(entries, stats.uniform(-limit, 2 * limit).cdf).pvalue > 0.01


def test_matrices_of_the_full_model_fill_xavier_s_limits(full):
    """sqrt(6 / (fan in + fan out)); the heads' matrices side by side are one width x width matrix."""
    square = np.sqrt(6 / (WIDTH + WIDTH))
    for layer in full.layers:
        attention = layer.attention
        for matrix in (attention.query, attention.key, attention.value, attention.output):
            assert matrix.size == WIDTH * WIDTH
            fill(matrix, square)
        fill(layer.mlp.inner, np.sqrt(6 / (WIDTH + HIDDEN)))
        fill(layer.mlp.outer, np.sqrt(6 / (WIDTH + HIDDEN)))
    fill(full.positions, np.sqrt(6 / (LENGTH + WIDTH)))
    fill(full.readout, np.sqrt(6 / (WIDTH + TOKENS)))


def test_fan_in_gives_every_matrix_a_variance_of_one_over_what_enters_it():
    model = transformer(replace(FULL, initialisation="fan-in", scale=2.0), TOKENS, LENGTH, jax.random.key(KEY))
    layer = model.layers[0]
    fans = {
        TOKENS: [model.embedding],
        WIDTH: [*jax.tree.leaves(layer.attention), layer.mlp.inner, model.readout],
        HIDDEN: [layer.mlp.outer],
    }
    assert len(fans[WIDTH]) == 6
    for fan_in, matrices in fans.items():
        for matrix in matrices:
            fill(matrix, 2 * np.sqrt(3 / fan_in))


def test_pytorch_starts_weights_and_biases_within_one_over_the_root_of_what_enters_them():
    """As torch.nn.Linear does; what joins heads of 5 coordinates reads 5 of each."""
    settings = replace(FULL, initialisation="pytorch", biases=True, edge_biases=True, head_width=5, scale=2.0)
    model = transformer(settings, TOKENS, LENGTH, jax.random.key(KEY))
    layer, biases = model.layers[0], model.layers[0].attention.biases
    fans = {
        TOKENS: [model.embedding, model.embedding_bias],
        WIDTH: [
            *(layer.attention.query, layer.attention.key, layer.attention.value, layer.mlp.inner, model.readout),
            *(biases.query, biases.key, biases.value, layer.mlp.inner_bias, model.readout_bias),
        ],
        5 * HEADS: [layer.attention.output, biases.output],
        HIDDEN: [layer.mlp.outer, layer.mlp.outer_bias],
    }
    for fan_in, arrays in fans.items():
        for array in arrays:
            fill(array, 2 / np.sqrt(fan_in))


@pytest.mark.bits
def test_a_silent_start_answers_nothing_and_is_pytorch_s_in_all_else():
    settings = replace(FULL, initialisation="silent-pytorch", biases=True, edge_biases=True, norm="none")
    silent = transformer(settings, TOKENS, LENGTH, jax.random.key(KEY))
    usual = transformer(replace(settings, initialisation="pytorch"), TOKENS, LENGTH, jax.random.key(KEY))
    assert not np.asarray(silent(jnp.arange(LENGTH), 3)).any()
    assert np.asarray(usual(jnp.arange(LENGTH), 3)).any()
    for ours, theirs in zip(*(jax.tree.leaves(each.layers) for each in (silent, usual)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", ["xavier", "pytorch"])
def test_the_scale_of_the_embedding_is_a_factor_on_it_and_on_nothing_else(name):
    settings = replace(FULL, initialisation=name)
    usual = transformer(settings, TOKENS, LENGTH, jax.random.key(KEY))
    scaled = transformer(replace(settings, embedding_scale=3.0), TOKENS, LENGTH, jax.random.key(KEY))
    np.testing.assert_allclose(scaled.embedding, 3 * np.asarray(usual.embedding), rtol=1e-6)
    for part in ("positions", "layers", "readout"):
        for ours, theirs in zip(*(jax.tree.leaves(getattr(each, part)) for each in (scaled, usual)), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_other_starts_leave_biases_at_zero():
    model = transformer(replace(FULL, biases=True, edge_biases=True), TOKENS, LENGTH, jax.random.key(KEY))
    assert not any(np.asarray(each).any() for each in (model.embedding_bias, model.readout_bias))
    assert not any(np.asarray(each).any() for each in jax.tree.leaves(model.layers[0].attention.biases))


@pytest.mark.bits
def test_as_run_the_ends_are_orthogonal_with_norm_one_and_positions_are_rows_of_a_table_of_fifty():
    model = transformer(replace(FULL, initialisation="orthogonal"), TOKENS, LENGTH, jax.random.key(KEY))
    usual = transformer(FULL, TOKENS, LENGTH, jax.random.key(KEY))
    readout = np.asarray(model.readout)
    assert readout.shape == (FULL.width, TOKENS)
    np.testing.assert_allclose(readout.T @ readout, np.eye(TOKENS), atol=1e-5)
    np.testing.assert_allclose(model.embedding @ model.embedding.T, np.eye(TOKENS), atol=1e-5)
    assert np.linalg.norm(readout, 2) == pytest.approx(1, abs=1e-5)
    limit = np.sqrt(6 / (50 + FULL.width))
    assert 0.99 * limit < np.abs(model.positions).max() <= limit
    for ours, theirs in zip(*(jax.tree.leaves(each.layers) for each in (model, usual)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("head_width", [7, 300])
def test_heads_have_the_width_that_is_asked_for(head_width):
    settings = replace(FULL, embedding="one-hot", positions="one-hot", head_width=head_width)
    attention = transformer(settings, TOKENS, LENGTH, jax.random.key(KEY)).layers[0].attention
    stream = TOKENS + LENGTH
    assert attention.query.shape == attention.key.shape == attention.value.shape == (3, stream, head_width)
    assert attention.output.shape == (3, head_width, stream)


def test_the_minimal_model_starts_with_xavier_s_scores_and_values(minimal):
    stream = TOKENS + LENGTH
    attention = minimal.layers[0].attention
    assert attention.query.shape == attention.value.shape == (MINIMAL.heads, stream, stream)
    fill(attention.query, np.sqrt(6 / (2 * stream)))
    fill(attention.value, np.sqrt(6 / (2 * stream)))
    assert len(jax.tree.leaves(minimal)) == 2


def test_biases_start_at_zero_and_norms_change_nothing(full):
    for layer in full.layers:
        assert not np.any(layer.mlp.inner_bias) and not np.any(layer.mlp.outer_bias)
        for norm in layer.norms:
            assert np.all(np.asarray(norm.scale) == 1) and not np.any(norm.shift)


def test_embeddings_of_different_tokens_are_orthonormal(full):
    np.testing.assert_allclose(full.embedding @ full.embedding.T, np.eye(TOKENS), atol=1e-5)


def test_no_two_matrices_start_alike(full):
    """Every matrix, head and layer has random numbers of its own."""
    rows = [np.asarray(leaf).reshape(-1) for leaf in jax.tree.leaves(full) if leaf.ndim > 1]
    heads = [head for row in rows for head in row[: len(row) // HEADS * HEADS].reshape(HEADS, -1)]
    begins = np.array([head[:24] / np.abs(head[:24]).max() for head in heads])
    distance = np.abs(begins[:, None] - begins).max(axis=-1)
    assert distance[np.triu_indices(len(begins), 1)].min() > 0.1


@pytest.mark.bits
def test_another_key_gives_another_model_and_the_same_key_the_same(full):
    same, other = (transformer(FULL, TOKENS, LENGTH, jax.random.key(seed)) for seed in (KEY, KEY + 1))
    for a, b, c in zip(*map(jax.tree.leaves, (full, same, other)), strict=True):
        np.testing.assert_array_equal(a, b)
        assert a.ndim == 1 or np.abs(a - c).max() > 0.01


def test_the_scale_multiplies_every_random_number(full):
    small = transformer(replace(FULL, scale=0.1), TOKENS, LENGTH, jax.random.key(KEY))
    for wanted, found in zip(*map(jax.tree.leaves, (full, small)), strict=True):
        np.testing.assert_allclose(found, wanted * (0.1 if wanted.ndim > 1 else 1), rtol=1e-5)


@pytest.mark.parametrize("initialisation", ["xavier", "uniform"])
def test_a_scale_given_at_run_time_acts_as_the_one_in_the_settings(initialisation):
    settings, key = replace(MINIMAL, initialisation=initialisation), jax.random.key(KEY)
    wanted = transformer(replace(settings, scale=0.01), TOKENS, LENGTH, key)
    found = jax.jit(lambda scale: transformer(settings, TOKENS, LENGTH, key, scale))(0.01)
    for a, b in zip(*map(jax.tree.leaves, (found, wanted)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("u", [1e-9, 1e-3, 2.0])
def test_the_uniform_start_has_scores_within_u_and_no_values(u):
    settings = replace(MINIMAL, initialisation="uniform", scale=u)
    attention = transformer(settings, TOKENS, LENGTH, jax.random.key(KEY)).layers[0].attention
    fill(attention.query, u)
    assert not np.any(attention.value)


def test_the_u_of_the_uniform_start_is_the_scores_alone(full):
    """A full model whose every matrix were 1e-9 could not learn at all."""
    settings = replace(FULL, initialisation="uniform", scale=1e-9)
    small = transformer(settings, TOKENS, LENGTH, jax.random.key(KEY))
    np.testing.assert_allclose(small.embedding, full.embedding, rtol=1e-6)
    np.testing.assert_allclose(small.positions, full.positions, rtol=1e-6)
    np.testing.assert_allclose(small.readout, full.readout, rtol=1e-6)
    for layer, wanted in zip(small.layers, full.layers, strict=True):
        assert np.abs(layer.attention.query).max() <= 1e-9
        assert not np.any(layer.attention.value)
        np.testing.assert_allclose(layer.attention.key, wanted.attention.key, rtol=1e-6)
        np.testing.assert_allclose(layer.attention.output, wanted.attention.output, rtol=1e-6)
        np.testing.assert_allclose(layer.mlp.inner, wanted.mlp.inner, rtol=1e-6)


def test_from_u_zero_the_heads_are_alike_look_everywhere_and_stay_alike():
    """Why u = 0 stops after one stage: nothing tells the heads apart, so gradients cannot either."""
    settings = replace(MINIMAL, initialisation="uniform", scale=0.0)
    model = transformer(settings, TOKENS, LENGTH, jax.random.key(KEY))
    tokens = jnp.asarray([3, 1, 4, 1, 5, 9, 2, 6, 5])

    @jax.value_and_grad
    def loss(model):
        guess = jax.nn.log_softmax(model(tokens, LENGTH))
        return -jnp.mean(guess[jnp.arange(LENGTH), (tokens + 3) % TOKENS])

    pattern = model.read(tokens, LENGTH).heads[0].pattern
    uniform = np.tri(LENGTH) / np.arange(1, LENGTH + 1)[:, None]
    np.testing.assert_allclose(pattern, np.broadcast_to(uniform, pattern.shape), rtol=1e-6)
    first, _ = loss(model)
    for _ in range(3):
        value, gradient = loss(model)
        model = jax.tree.map(lambda p, g: p - 0.5 * g, model, gradient)
    assert value < first - 0.1
    attention = model.layers[0].attention
    for matrix in (attention.query, attention.value):
        assert np.abs(matrix[0]).max() > 1e-4
        for head in matrix[1:]:
            np.testing.assert_allclose(head, matrix[0], atol=1e-6)


@pytest.mark.bits
@pytest.mark.parametrize("initialisation", ["xavier", "uniform"])
def test_relative_positions_start_as_none_at_all(initialisation):
    """A bias of zero for every head and distance, and every other number as without positions."""
    settings, key = replace(FULL, initialisation=initialisation, scale=0.5, positions="none"), jax.random.key(KEY)
    plain, relative = (
        transformer(replace(settings, positions=word), TOKENS, LENGTH, key) for word in ("none", "relative")
    )
    weights, others = flatten(plain), flatten(relative)
    for number in range(FULL.layers):
        bias = others.pop(f".layers[{number}].attention.bias")
        assert bias.shape == (HEADS, LENGTH) and not np.any(bias)
    assert others.keys() == weights.keys()
    for name, wanted in weights.items():
        np.testing.assert_array_equal(others[name], wanted)
    tokens = jnp.asarray([3, 1, 4, 1, 5, 9, 2, 6, 5])
    np.testing.assert_array_equal(relative(tokens, 4), plain(tokens, 4))


@pytest.mark.bits
@pytest.mark.parametrize("positions", ["rotary", "alibi"])
def test_rotations_and_slopes_have_no_numbers_of_their_own_and_still_tell_positions_apart(positions):
    key, tokens = jax.random.key(KEY), jnp.asarray([3, 1, 4, 1, 5, 9, 2, 6, 5])
    plain, other = (transformer(replace(FULL, positions=word), TOKENS, LENGTH, key) for word in ("none", positions))
    for wanted, found in zip(*map(jax.tree.leaves, (plain, other)), strict=True):
        np.testing.assert_array_equal(found, wanted)
    patterns = [model.read(tokens, 1).heads[0].pattern[:, -1] for model in (plain, other)]
    # The token 1 at two places, the token 5 at two: without positions the heads cannot know which.
    np.testing.assert_allclose(patterns[0][:, [1, 4]], patterns[0][:, [3, 8]], rtol=1e-5)
    assert np.abs(patterns[1][:, [1, 4]] / patterns[1][:, [3, 8]] - 1).min() > 1e-3


def test_switches_that_do_not_fit_are_refused_before_anything_is_made():
    with pytest.raises(SettingsError, match=r"5 heads do not divide the width 24\. Use model.width 20 or 25"):
        transformer(replace(FULL, heads=5), TOKENS, LENGTH, jax.random.key(0))


@pytest.mark.parametrize(("start", "variance"), [("fan-in", 1 / 40), ("unit-embedding", 1.0)])
def test_only_the_embedding_tells_a_table_of_symbols_from_a_linear_map(start, variance):
    settings = ModelSettings(initialisation=start, width=128, heads=4)
    model = transformer(settings, 40, 5, jax.random.key(0))
    assert np.var(model.embedding) == pytest.approx(variance, rel=0.05)
    assert np.var(model.readout) == pytest.approx(1 / 128, rel=0.05)
    assert np.var(model.layers[0].attention.query) == pytest.approx(1 / 128, rel=0.05)


def test_the_gpt_2_start_has_one_deviation_but_for_what_is_added_to_the_stream():
    """0.02 everywhere and 0.02 / sqrt(2 layers) for the output matrices, so that the stream's variance stays."""
    settings = ModelSettings(width=60, layers=3, mlp=64, positions="relative-keys", initialisation="gpt-2")
    model = transformer(settings, 60, 100, jax.random.key(0))
    for layer in model.layers:
        attention = layer.attention
        for matrix in (attention.query, attention.key, attention.value, attention.codes, layer.mlp.inner):
            assert np.std(matrix) == pytest.approx(0.02, rel=0.06)
        for matrix in (attention.output, layer.mlp.outer):
            assert np.std(matrix) == pytest.approx(0.02 / np.sqrt(6), rel=0.06)
    assert np.std(model.embedding) == pytest.approx(0.02, rel=0.06)
