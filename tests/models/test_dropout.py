"""Dropout's cheap random bits are random enough."""

from dataclasses import replace
from itertools import combinations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from tests.models.switches import LENGTH, stirred

import headway.models.attention
import headway.models.transformer
from headway.kernels.tables import form as tables
from headway.models.dropout import dropout
from headway.settings import ModelSettings

SHAPE = (400, 50)
SIZE = 400 * 50


def kept(rate: float, key: jax.Array) -> np.ndarray:
    """Which entries stay."""
    return np.asarray(dropout(jnp.ones(SHAPE), rate, key)) > 0


def uncorrelated(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the correlation of two masks is within four standard errors of zero."""
    return bool(abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 4 / np.sqrt(a.size))


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_each_entry_stays_with_one_minus_the_rate_and_grows_to_keep_the_mean(rate):
    x = jnp.asarray(np.random.default_rng(0).normal(1, 1, SHAPE), jnp.float32)
    out = np.asarray(dropout(x, rate, jax.random.key(0)))
    stays = out != 0
    assert stats.binomtest(int(stays.sum()), SIZE, 1 - rate).pvalue > 0.01
    np.testing.assert_allclose(out[stays], np.asarray(x)[stays] / (1 - rate), rtol=1e-6)
    assert abs(out.mean() - x.mean()) < 4 * out.std() / np.sqrt(SIZE)


def test_without_a_key_or_a_rate_nothing_changes():
    x = jnp.asarray(np.random.default_rng(0).normal(size=SHAPE), jnp.float32)
    np.testing.assert_array_equal(dropout(x, 0.5, None), x)
    np.testing.assert_array_equal(dropout(x, 0.0, jax.random.key(0)), x)


def test_what_is_dropped_gets_no_gradient_and_what_stays_gets_its_share():
    key = jax.random.key(3)
    gradient = jax.grad(lambda x: jnp.sum(dropout(x, 0.25, key)))(jnp.ones(SHAPE))
    np.testing.assert_allclose(gradient, np.where(kept(0.25, key), 4 / 3, 0), rtol=1e-6)


@pytest.mark.parametrize("distance", [1, 2, 3, 7, 50, 64, 1024, 4096])
def test_neighbours_are_dropped_independently(distance):
    mask = kept(0.5, jax.random.key(1)).ravel()
    assert uncorrelated(mask[distance:], mask[:-distance])


def test_rows_and_columns_are_dropped_as_often_as_the_rate_says():
    """Chi-square of the counts in every row and in every column."""
    mask = kept(0.1, jax.random.key(2))
    for axis in (0, 1):
        counts = mask.sum(axis=axis)
        expected = 0.9 * mask.shape[axis]
        statistic = np.sum((counts - expected) ** 2 / (expected * 0.1))
        assert 0.005 < stats.chi2(len(counts)).cdf(statistic) < 0.995


def test_masks_of_different_keys_are_independent():
    """Keys as training makes them: folded with consecutive numbers, and split."""
    keys = [*jax.random.split(jax.random.key(0), 3), *(jax.random.fold_in(jax.random.key(1), i) for i in range(3))]
    masks = [kept(0.5, key) for key in keys]
    for a, b in combinations(masks, 2):
        assert uncorrelated(a, b)


def test_over_many_keys_every_single_entry_is_dropped_as_often_as_the_rate_says():
    keys = jax.random.split(jax.random.key(5), 4000)
    masks = np.asarray(jax.vmap(lambda key: dropout(jnp.ones(64), 0.1, key))(keys)) > 0
    deviations = (masks.mean(axis=0) - 0.9) / np.sqrt(0.9 * 0.1 / len(keys))
    assert stats.kstest(deviations, "norm").pvalue > 0.01
    correlations = np.corrcoef(masks.T)[np.triu_indices(64, 1)] * np.sqrt(len(keys))
    assert np.abs(correlations).max() < 5 and abs(correlations.std() - 1) < 0.1


def test_every_site_of_a_model_and_every_example_has_bits_of_its_own(monkeypatch):
    """The embedding and the two branches of each layer: five sites in two layers."""
    masks = []

    def recorded(x, rate, key):
        if key is not None:
            masks.append(np.asarray(dropout(jnp.ones(SHAPE), rate, key)) > 0)
        return dropout(x, rate, key)

    monkeypatch.setattr(headway.models.transformer, "dropout", recorded)
    model = stirred(ModelSettings(width=8, mlp=5, heads=2, layers=2, dropout=0.5))
    for seed in (0, 1):
        model.read(jnp.zeros(LENGTH, int), LENGTH, jax.random.key(seed))
    assert len(masks) == 10
    for a, b in combinations(masks, 2):
        assert uncorrelated(a, b)


def test_dropped_attention_is_a_site_of_its_own_a_layer_and_the_others_keep_their_bits(monkeypatch):
    """Five sites in two layers, and behind them the attention of each."""
    found: dict[bool, list[np.ndarray]] = {}
    for switched in (False, True):
        shapes, masks = [], found.setdefault(switched, [])

        def recorded(x, rate, key, shapes=shapes, masks=masks):
            if key is not None:
                shapes.append(x.shape)
                masks.append(np.asarray(dropout(jnp.ones(SHAPE), rate, key)) > 0)
            return dropout(x, rate, key)

        monkeypatch.setattr(headway.models.transformer, "dropout", recorded)
        settings = ModelSettings(width=8, mlp=5, heads=2, layers=2, dropout=0.5, attention_dropout=switched)
        stirred(settings).read(jnp.zeros(LENGTH, int), LENGTH, jax.random.key(0))
        assert shapes.count((2, LENGTH, LENGTH)) == (2 if switched else 0)
    assert [len(masks) for masks in found.values()] == [5, 7]
    for a, b in combinations(found[True], 2):
        assert uncorrelated(a, b)
    kept_by_both = [mask for mask in found[True] if any(np.array_equal(mask, other) for other in found[False])]
    assert len(kept_by_both) == 5


def test_dropped_attention_takes_whole_positions_from_what_a_head_writes_and_keeps_its_mean():
    """One head, one layer, no norm, residual, MLP or readout: written = sum_j keep_j p_j v_j / (1 - rate)."""
    plain = {"norm": "none", "residual": False, "mlp": 0, "readout": False, "positions": "none"}
    settings = ModelSettings(width=4, heads=1, dropout=0.5, attention_dropout=True, **plain)
    attention = stirred(settings).layers[0].attention
    x = jnp.asarray(np.random.default_rng(0).normal(size=(LENGTH, 4)))
    pattern = np.asarray(attention.pattern(x, LENGTH))
    values = np.asarray(x @ attention.value[0] @ attention.output[0])
    keys = jax.random.split(jax.random.key(0), 4000)

    def written(key):
        return attention(x, LENGTH, 4, lambda pattern: dropout(pattern, 0.5, key))[0]

    every = np.asarray(jax.vmap(written)(keys))
    keep = np.asarray(dropout(jnp.ones(pattern.shape), 0.5, keys[7]))
    np.testing.assert_allclose(every[7], (keep * pattern)[0] @ values, rtol=1e-5, atol=1e-6)
    error = every.std(axis=0) / np.sqrt(len(keys))
    assert np.all(np.abs(every.mean(axis=0) - pattern[0] @ values) < 5 * error + 1e-6)
    np.testing.assert_array_equal(attention(x, LENGTH, 4, lambda pattern: 0 * pattern)[1].pattern, pattern)


def test_dropout_acts_in_a_model_only_with_a_key_and_a_rate():
    tokens = jnp.asarray([0, 1, 2, 3])
    settings = ModelSettings(width=8, mlp=5, heads=2, dropout=0.5)
    noisy, quiet = stirred(settings), stirred(ModelSettings(width=8, mlp=5, heads=2, dropout=0.0))
    wanted = quiet(tokens, LENGTH)
    np.testing.assert_array_equal(noisy(tokens, LENGTH), wanted)
    np.testing.assert_array_equal(quiet(tokens, LENGTH, jax.random.key(0)), wanted)
    first, second, again = (noisy(tokens, LENGTH, jax.random.key(seed)) for seed in (0, 1, 0))
    assert np.abs(first - wanted).max() > 0.01 and np.abs(first - second).max() > 0.01
    np.testing.assert_array_equal(first, again)


def test_codes_of_distances_are_dropped_with_the_attention_and_the_tables_leave_that_to_the_simple_form():
    """With all attention on codes alone, a code that falls changes what every query makes of its distance."""
    settings = ModelSettings(width=8, mlp=0, heads=2, positions="relative-keys", dropout=0.5, attention_dropout=True)
    model, seen = stirred(settings), []
    original = headway.models.attention.Attention.pattern

    def recorded(attention, x, queries):
        seen.append(np.asarray(attention.codes))
        return original(attention, x, queries)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(headway.models.attention.Attention, "pattern", recorded)
        model.read(jnp.zeros(LENGTH, int), LENGTH, jax.random.key(0))
        model.read(jnp.zeros(LENGTH, int), LENGTH)
    dropped, whole = seen
    fell = dropped == 0
    assert 0 < fell.sum() < fell.size
    np.testing.assert_allclose(dropped[~fell], 2 * whole[~fell], rtol=1e-6)
    assert not tables.serves(settings) and tables.serves(replace(settings, attention_dropout=False))
