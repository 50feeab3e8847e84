"""How a sequence is predicted: at once, or window by window."""

from collections.abc import Iterator
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.models.switches import stirred

from headway.models.transformer import Transformer
from headway.prediction import log_probabilities, predict
from headway.presets import MINIMAL
from headway.settings import ModelSettings
from headway.tasks.chain import Chain

TASK = Chain(vocab=4, blocks=((1,), (3,)), order=4, horizon=3)
SEQUENCE = [2, 0, 3, 1, 0, 2, 3]
"""Four to start with, then three that are predicted."""
MINIMAL_OF_TWO = replace(MINIMAL, heads=2)
TWO_LAYERS = ModelSettings(width=6, heads=2, mlp=3, layers=2, dropout=0.5)


@pytest.fixture(scope="module", autouse=True)
def double() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module", params=[MINIMAL_OF_TWO, TWO_LAYERS], ids=["minimal", "two-layers"])
def settings(request) -> ModelSettings:
    return request.param


@pytest.fixture(
    scope="module",
    params=[(MINIMAL_OF_TWO, 1), (MINIMAL_OF_TWO, 4), (TWO_LAYERS, 2)],
    ids=["minimal-1", "minimal-4", "two-layers-2"],
)
def ngram(request) -> Transformer:
    """A model that reads windows of 1, 2 or all 4 tokens."""
    settings, context = request.param
    return stirred(settings, vocab=4, length=context)


def logits(model: Transformer, sequence: list[int]) -> np.ndarray:
    return np.asarray(predict(model, TASK, jnp.asarray(sequence)).logits)


def test_a_model_of_the_whole_length_reads_all_but_the_last_token_at_once(settings):
    model = stirred(settings, vocab=4, length=TASK.length)
    found, wanted = predict(model, TASK, jnp.asarray(SEQUENCE)), model.read(jnp.asarray(SEQUENCE[:-1]), 3)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_ngram_model_predicts_each_token_from_the_window_before_it(ngram):
    windows = [SEQUENCE[4 + step - ngram.length : 4 + step] for step in range(3)]
    readings = [ngram.read(jnp.asarray(window), 1) for window in windows]
    found = predict(ngram, TASK, jnp.asarray(SEQUENCE))
    np.testing.assert_allclose(found.logits, [reading.logits[0] for reading in readings], rtol=1e-9)
    for layer, heads in enumerate(found.heads):
        for name in ("pattern", "written"):
            wanted = np.mean([getattr(reading.heads[layer], name) for reading in readings], axis=0)
            np.testing.assert_allclose(getattr(heads, name), wanted, rtol=1e-9, atol=1e-12)


def test_an_ngram_model_sees_its_window_and_nothing_older(ngram):
    """The prediction of token t moves with the tokens t-c .. t-1 and with no other."""
    before = logits(ngram, SEQUENCE)
    for place in range(len(SEQUENCE)):
        changed = list(SEQUENCE)
        changed[place] = (changed[place] + 1) % 4
        moved = np.abs(logits(ngram, changed) - before).max(axis=1) > 1e-6
        seen = [4 + step - ngram.length <= place < 4 + step for step in range(3)]
        np.testing.assert_array_equal(moved, seen)


def test_with_a_single_prediction_the_longest_window_is_the_whole_sequence():
    """The two ways meet: one window of all starting tokens."""
    task = replace(TASK, horizon=1)
    model = stirred(MINIMAL_OF_TWO, vocab=4, length=4)
    found = predict(model, task, jnp.asarray(SEQUENCE[:5]))
    np.testing.assert_allclose(found.logits, predict(model, TASK, jnp.asarray(SEQUENCE)).logits[:1], rtol=1e-12)


def test_probabilities_are_the_softmax_of_the_logits(ngram):
    found = np.exp(log_probabilities(ngram, TASK, jnp.asarray(SEQUENCE)))
    raised = np.exp(logits(ngram, SEQUENCE))
    np.testing.assert_allclose(found, raised / raised.sum(axis=1, keepdims=True), rtol=1e-9)


def test_with_a_key_every_window_has_dropout_of_its_own():
    """The same window three times over: alike without noise, different with it."""
    model = stirred(TWO_LAYERS, vocab=4, length=2)
    same = jnp.asarray([1, 1, 1, 1, 1, 1, 1])
    quiet = predict(model, TASK, same).logits
    noisy = predict(model, TASK, same, jax.random.key(0)).logits
    np.testing.assert_allclose(quiet, np.broadcast_to(quiet[0], quiet.shape), rtol=1e-12)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert np.abs(noisy[a] - noisy[b]).max() > 1e-3


def test_with_a_key_a_whole_sequence_has_dropout_too():
    model = stirred(TWO_LAYERS, vocab=4, length=TASK.length)
    key = jax.random.key(1)
    noisy = predict(model, TASK, jnp.asarray(SEQUENCE), key).logits
    np.testing.assert_array_equal(noisy, model(jnp.asarray(SEQUENCE[:-1]), 3, key))
    assert np.abs(noisy - logits(model, SEQUENCE)).max() > 1e-3


def test_a_model_that_fits_no_window_is_refused_instead_of_reading_from_the_end():
    model = stirred(MINIMAL_OF_TWO, vocab=4, length=5)
    with pytest.raises(ValueError) as caught:
        predict(model, TASK, jnp.asarray(SEQUENCE))
    assert str(caught.value) == (
        "this model reads 5 tokens at once, but the task shows it 6 of a whole sequence, "
        "or windows of at most 4. Make the model for a length that the task has."
    )
