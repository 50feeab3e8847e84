"""What is measured against the same numbers from loops, SciPy and the list of all sequences."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from tests.models import plain_transformer as plain
from tests.models.switches import stirred
from tests.tasks.enumeration import TINY, all_sequences, exact_entropy, joint, rung, truth

from headway.analysis import by_lag as by_lag_in_numpy
from headway.kernels.tables import form as tables
from headway.measurement import Experience, by_lag, divergence, experience, facts_of, mean_over, measure
from headway.models.construction import construction
from headway.models.transformer import Transformer
from headway.presets import MINIMAL
from headway.settings import ModelSettings
from headway.tasks.markov import MarkovChain, markov_chain

TASK = TINY["unequal, mean"]
SEQUENCES = all_sequences(TASK)
CONTEXTS = (1, 2)
TWO_BLOCKS = ModelSettings(width=6, heads=2, mlp=3, blocks=2, norm="pre")
MODEL = replace(MINIMAL, heads=2)
WATCHED = range(0, len(SEQUENCES), 29)
"""Sequences for the slow loops."""


@pytest.fixture(scope="module", autouse=True)
def double() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def chain(double) -> MarkovChain:
    return markov_chain(TASK, jax.random.key(11))


@pytest.fixture(scope="module")
def model(double) -> Transformer:
    return stirred(MODEL, tokens=3, length=TASK.length)


@pytest.fixture(scope="module")
def references(double) -> tuple[Transformer, ...]:
    return tuple(stirred(MODEL, seed=context, tokens=3, length=context) for context in CONTEXTS)


def reader(chunk: int):
    return lambda model, sequences: tables.read(model, TASK, sequences, chunk)


def seen(chain: MarkovChain, sequences, references=()) -> Experience:
    return experience(reader(len(sequences)), chain, sequences, sequences, references)


@partial(jax.jit, static_argnums=2)
def measured(model: Transformer, data: Experience, chunk: int) -> dict[str, jax.Array]:
    return measure(reader(chunk), model, data)


@pytest.fixture(scope="module")
def each(model, chain, references) -> dict[str, np.ndarray]:
    """The measurements of every possible sequence alone."""

    def alone(sequence):
        data = seen(chain, sequence[None], references)
        return measure(reader(1), model, data) | facts_of(data)

    return jax.tree.map(np.asarray, jax.jit(jax.vmap(alone))(jnp.asarray(SEQUENCES)))


@pytest.fixture(scope="module")
def law(chain) -> np.ndarray:
    """The probability of every sequence."""
    return joint(TASK, chain)


def guesses(model: Transformer, sequence: tuple[int, ...]) -> np.ndarray:
    """The model's probabilities at the predicted positions, in plain NumPy."""
    if model.length == TASK.length:
        logits = plain.read(model, list(sequence[:-1])).logits[-TASK.horizon :]
    else:
        ends = range(TASK.start, TASK.start + TASK.horizon)
        logits = [plain.read(model, list(sequence[end - model.length : end])).logits[-1] for end in ends]
    return np.array([plain.softmax(np.asarray(row)) for row in logits])


def known(chain: MarkovChain, blocks: int, sequence: tuple[int, ...]) -> np.ndarray:
    """A rung's probabilities at the predicted positions."""
    return np.array([rung(TASK, chain, blocks, sequence[: TASK.start + step]) for step in range(TASK.horizon)])


def test_the_excess_loss_is_the_surprise_beyond_the_truth_s(each, model, chain):
    for number in WATCHED:
        sequence = SEQUENCES[number]
        wanted = 0.0
        for step, guess in enumerate(guesses(model, sequence)):
            past, token = sequence[: TASK.start + step], sequence[TASK.start + step]
            wanted += np.log(truth(TASK, chain, past)[token] / guess[token]) / TASK.horizon
        assert each["excess_loss"][number] == pytest.approx(wanted, rel=1e-9)


def test_kl_to_every_rung_is_scipy_s(each, model, chain):
    for number in WATCHED:
        guess = guesses(model, SEQUENCES[number])
        wanted = [
            stats.entropy(known(chain, blocks, SEQUENCES[number]), guess, axis=1).mean()
            for blocks in range(len(TASK.blocks) + 1)
        ]
        np.testing.assert_allclose(each["kl_rungs"][number], wanted, rtol=1e-9)


def test_kl_to_every_reference_is_scipy_s(each, model, references):
    for number in WATCHED:
        sequence = SEQUENCES[number]
        guess = guesses(model, sequence)
        wanted = [stats.entropy(guesses(other, sequence), guess, axis=1).mean() for other in references]
        np.testing.assert_allclose(each["kl_references"][number], wanted, rtol=1e-9)


def test_attention_is_that_of_the_predicted_positions(each, model):
    for number in WATCHED:
        (pattern,) = plain.read(model, list(SEQUENCES[number][:-1])).patterns
        np.testing.assert_allclose(each["attention"][number], pattern[None, :, -TASK.horizon :], rtol=1e-9)


def test_over_all_sequences_the_excess_loss_is_the_divergence_from_the_truth(each, law):
    """sum_x p(x) excess(x) = sum_x p(x) KL(truth || model), exactly: why the two curves of a run agree."""
    assert law @ each["excess_loss"] == pytest.approx(law @ each["kl_rungs"][:, -1], rel=1e-9)
    assert np.abs(each["excess_loss"] - each["kl_rungs"][:, -1]).max() > 0.1


def test_over_all_sequences_the_entropy_is_the_chain_s(each, law, chain):
    assert law @ each["entropy"] == pytest.approx(exact_entropy(TASK, chain), rel=1e-9)


def test_over_all_sequences_a_rung_s_excess_is_its_divergence_from_the_truth_and_falls(each, law, chain):
    """The ladder: log d - entropy at the bottom, then less with each block, and zero at the truth."""
    found = law @ each["rung_excess"]
    for blocks in range(len(TASK.blocks) + 1):
        divergences = [
            stats.entropy(known(chain, len(TASK.blocks), s), known(chain, blocks, s), axis=1).mean() for s in SEQUENCES
        ]
        assert found[blocks] == pytest.approx(law @ divergences, rel=1e-9, abs=1e-12)
    assert found[0] == pytest.approx(np.log(3) - exact_entropy(TASK, chain), rel=1e-9)
    assert np.all(np.diff(found) < -0.01)


def test_the_truth_has_no_excess_loss_on_any_sequence(each):
    np.testing.assert_array_equal(each["rung_excess"][:, -1], 0)


def test_a_model_that_is_the_truth_has_no_excess_loss_and_stands_on_the_last_rung(chain):
    model = construction(chain.features, chain.weights, TASK.horizon, 60.0)
    data = seen(chain, jnp.asarray(SEQUENCES))
    found = measured(model, data, len(SEQUENCES))
    assert abs(float(found["excess_loss"])) < 1e-12
    assert abs(float(found["kl_rungs"][-1])) < 1e-12
    uniform = [stats.entropy(known(chain, 0, s), known(chain, len(TASK.blocks), s), axis=1).mean() for s in SEQUENCES]
    assert float(found["kl_rungs"][0]) == pytest.approx(np.mean(uniform), rel=1e-9)
    assert "kl_references" not in found


@pytest.mark.parametrize("chunk", [10, 1000])
def test_what_is_measured_on_many_sequences_is_the_mean_of_each_whatever_the_chunk(
    each, model, chain, references, chunk
):
    data = seen(chain, jnp.asarray(SEQUENCES), references)
    found = measured(model, data, chunk)
    assert set(found) == {"excess_loss", "kl_rungs", "kl_references", "attention", "attention_by_lag"}
    for name, value in found.items():
        np.testing.assert_allclose(value, each[name].mean(axis=0), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("chunk", [1, 2, 5, 6, 7, 13, 14, 400])
def test_a_mean_does_not_depend_on_how_the_sequences_are_cut(chunk):
    sequences = np.random.default_rng(0).integers(0, 9, (13, 4))

    def function(sequence) -> dict[str, Any]:
        return {"square": sequence[0] ** 2.0, "all": sequence * 1.0}

    found = mean_over(function, jnp.asarray(sequences), chunk)
    np.testing.assert_allclose(found["square"], (sequences[:, 0] ** 2).mean(), rtol=1e-12)
    np.testing.assert_allclose(found["all"], sequences.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("length", [2, TASK.length], ids=["window", "whole"])
def test_attention_of_every_layer_is_kept_with_the_rows_that_predict(chain, length):
    model = stirred(TWO_BLOCKS, tokens=3, length=length)
    data = seen(chain, jnp.asarray(SEQUENCES[:4]))
    found = measured(model, data, 4)
    rows = TASK.horizon if length == TASK.length else 1
    assert found["attention"].shape == (2, 2, rows, length)
    np.testing.assert_allclose(found["attention"].sum(axis=-1), 1, rtol=1e-12)
    np.testing.assert_allclose(found["attention_by_lag"].sum(axis=-1), 1, rtol=1e-12)
    if length == 2:
        wanted = np.zeros((2, 2, 2))
        for sequence in SEQUENCES[:4]:
            for end in range(TASK.start, TASK.start + TASK.horizon):
                patterns = plain.read(model, list(sequence[end - 2 : end])).patterns
                wanted += np.stack([pattern[:, -1] for pattern in patterns]) / (4 * TASK.horizon)
        np.testing.assert_allclose(found["attention_by_lag"], wanted[..., ::-1], rtol=1e-9)


def random_attention(layers: int, heads: int, queries: int, keys: int) -> np.ndarray:
    """Causal rows that sum to one; the queries are the last positions."""
    attention = np.random.default_rng(0).uniform(size=(layers, heads, queries, keys))
    attention *= np.tri(keys)[-queries:]
    return attention / attention.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(("queries", "keys"), [(3, 5), (4, 4), (1, 4), (2, 6)])
def test_attention_by_lag_is_what_a_slow_loop_finds(queries, keys):
    attention = random_attention(2, 3, queries, keys)
    wanted = np.zeros((2, 3, keys))
    for q in range(queries):
        position = keys - queries + q
        for key in range(position + 1):
            wanted[..., position - key] += attention[..., q, key] / queries
    found = by_lag(jnp.asarray(attention))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    np.testing.assert_allclose(found.sum(axis=-1), 1, rtol=1e-12)
    np.testing.assert_allclose(found, by_lag_in_numpy(attention, keys - queries + 1), rtol=1e-12)


def test_a_divergence_is_zero_from_itself_and_scipy_s_from_another():
    probabilities = np.random.default_rng(0).dirichlet(np.ones(5), size=(2, 4))
    first, second = jnp.log(probabilities)
    np.testing.assert_allclose(divergence(first, first), 0, atol=1e-15)
    np.testing.assert_allclose(divergence(first, second), stats.entropy(*probabilities, axis=1), rtol=1e-12)


def test_an_impossible_token_of_the_reference_adds_nothing_to_a_divergence():
    """0 log 0 = 0: a rung whose probability of a token underflows must not turn a curve into NaN."""
    reference = jax.nn.log_softmax(jnp.asarray([0.0, 0.0, -2000.0]))
    model = jnp.log(jnp.asarray([0.25, 0.25, 0.5]))
    assert float(divergence(reference, model)) == pytest.approx(np.log(2), rel=1e-12)
