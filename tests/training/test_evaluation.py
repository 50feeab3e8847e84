"""What is measured against the same numbers from loops, SciPy and the list of all sequences."""

import functools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, stats
from tests.models import plain_transformer as plain
from tests.models.switches import stirred
from tests.tasks.enumeration import TINY, all_sequences, combinations, exact_entropy, joint, partial, rung, truth

from headway.analysis import by_lag as by_lag_in_numpy
from headway.kernels.tables import form as tables
from headway.models.construction import construction
from headway.models.transformer import Transformer
from headway.presets import MINIMAL
from headway.settings import ModelSettings
from headway.tasks.chain import Features
from headway.training.evaluation import EvaluationData, Evaluator, by_lag, divergence, mean_over, references_of

TASK = TINY["unequal, mean"]
SEQUENCES = all_sequences(TASK)
CONTEXTS = (1, 2)
TWO_LAYERS = ModelSettings(width=6, heads=2, mlp=3, layers=2, norm="pre")
MODEL = replace(MINIMAL, heads=2)
WATCHED = range(0, len(SEQUENCES), 29)
"""Sequences for the slow loops."""


@pytest.fixture(scope="module", autouse=True)
def double() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="module")
def world(double) -> Features:
    return TASK.world(jax.random.key(11))


@pytest.fixture(scope="module")
def model(double) -> Transformer:
    return stirred(MODEL, vocab=3, length=TASK.length)


@pytest.fixture(scope="module")
def references(double) -> tuple[Transformer, ...]:
    return tuple(stirred(MODEL, seed=context, vocab=3, length=context) for context in CONTEXTS)


def reader(chunk: int):
    return lambda model, sequences: tables.read(model, TASK, sequences, chunk)


# One program for each: their operations alone would each be one.
@functools.partial(jax.jit, static_argnames=("comparisons",))
def seen(world: Features, sequences, references=(), comparisons=False) -> EvaluationData:
    said = references_of(TASK, reader(len(sequences)), world, sequences, references, comparisons)
    return EvaluationData(world, (), sequences, said)


def evaluator(count: int, chunk: int, models: int = 0, comparisons: bool = False) -> Evaluator:
    return Evaluator(TASK, reader(chunk), count, comparisons, models)


@functools.partial(jax.jit, static_argnums=(2, 3, 4))
def measured(
    model: Transformer, data: EvaluationData, chunk: int, models: int = 0, comparisons: bool = False
) -> dict[str, jax.Array]:
    return evaluator(len(data.test), chunk, models, comparisons).probe(model, TASK, jax.random.key(0), data)


@functools.partial(jax.jit, static_argnames=("models", "comparisons"))
def facts_of(data: EvaluationData, models: int = 0, comparisons: bool = False) -> dict[str, jax.Array]:
    count = len(data.test)
    return evaluator(count, count, models, comparisons).facts(TASK, jax.random.key(0), data)


@pytest.fixture(scope="module")
def each(model, world, references) -> dict[str, np.ndarray]:
    """The measurements of every possible sequence alone."""

    def alone(sequence):
        data = seen(world, sequence[None], references, comparisons=True)
        return measured(model, data, 1, 2, True) | facts_of(data, 2, True)

    return jax.tree.map(np.asarray, jax.jit(jax.vmap(alone))(jnp.asarray(SEQUENCES)))


@pytest.fixture(scope="module")
def law(world) -> np.ndarray:
    """The probability of every sequence."""
    return joint(TASK, world)


def guesses(model: Transformer, sequence: tuple[int, ...]) -> np.ndarray:
    """The model's probabilities at the predicted positions, in plain NumPy."""
    if model.length == TASK.length:
        logits = plain.read(model, list(sequence[:-1])).logits[-TASK.horizon :]
    else:
        ends = range(TASK.start, TASK.start + TASK.horizon)
        logits = [plain.read(model, list(sequence[end - model.length : end])).logits[-1] for end in ends]
    return np.array([plain.softmax(np.asarray(row)) for row in logits])


def known(world: Features, blocks: int, sequence: tuple[int, ...]) -> np.ndarray:
    """A rung's probabilities at the predicted positions."""
    return np.array([rung(TASK, world, blocks, sequence[: TASK.start + step]) for step in range(TASK.horizon)])


def test_the_excess_loss_is_the_surprise_beyond_the_truth_s(each, model, world):
    for number in WATCHED:
        sequence = SEQUENCES[number]
        wanted = 0.0
        for step, guess in enumerate(guesses(model, sequence)):
            past, token = sequence[: TASK.start + step], sequence[TASK.start + step]
            wanted += np.log(truth(TASK, world, past)[token] / guess[token]) / TASK.horizon
        assert each["excess_loss"][number] == pytest.approx(wanted, rel=1e-9)


def test_loss_and_accuracy_are_those_of_the_tokens_that_came(each, model):
    for number in WATCHED:
        sequence, guess = SEQUENCES[number], guesses(model, SEQUENCES[number])
        came = list(sequence[TASK.start :])
        assert each["loss"][number] == pytest.approx(-np.log(guess[range(TASK.horizon), came]).mean(), rel=1e-9)
        assert each["accuracy"][number] == np.mean(guess.argmax(axis=1) == came)


def test_kl_to_every_rung_is_scipy_s(each, model, world):
    for number in WATCHED:
        guess = guesses(model, SEQUENCES[number])
        wanted = [
            stats.entropy(known(world, blocks, SEQUENCES[number]), guess, axis=1).mean()
            for blocks in range(len(TASK.blocks) + 1)
        ]
        np.testing.assert_allclose(each["kl_rungs"][number], wanted, rtol=1e-9)


def test_kl_to_every_reference_is_scipy_s(each, model, references):
    for number in WATCHED:
        sequence = SEQUENCES[number]
        guess = guesses(model, sequence)
        wanted = [stats.entropy(guesses(other, sequence), guess, axis=1).mean() for other in references]
        np.testing.assert_allclose(each["kl_references"][number], wanted, rtol=1e-9)


def test_kl_to_every_combination_of_blocks_is_scipy_s(each, model, world):
    for number in WATCHED:
        sequence = SEQUENCES[number]
        guess = guesses(model, sequence)
        pasts = [sequence[: TASK.start + step] for step in range(TASK.horizon)]
        wanted = [
            stats.entropy(np.array([partial(TASK, world, blocks, past) for past in pasts]), guess, axis=1).mean()
            for blocks in combinations(TASK)
        ]
        np.testing.assert_allclose(each["kl_subsets"][number], wanted, rtol=1e-9)


def test_the_combinations_that_are_rungs_are_as_far_as_the_rungs(each):
    """None is rung 0, the first block alone rung 1, both are the truth; the second alone is no rung."""
    np.testing.assert_allclose(each["kl_subsets"][:, [0, 1, 3]], each["kl_rungs"], rtol=1e-9, atol=1e-13)
    assert np.abs(each["kl_subsets"][:, [2]] - each["kl_rungs"]).min(axis=0).max() > 1e-6


def test_attention_is_that_of_the_predicted_positions(each, model):
    for number in WATCHED:
        (pattern,) = plain.read(model, list(SEQUENCES[number][:-1])).patterns
        np.testing.assert_allclose(each["attention"][number], pattern[None, :, -TASK.horizon :], rtol=1e-9)


def test_over_all_sequences_the_excess_loss_is_the_divergence_from_the_truth(each, law):
    """sum_x p(x) excess(x) = sum_x p(x) KL(truth || model), exactly: why the two curves of a run agree."""
    assert law @ each["excess_loss"] == pytest.approx(law @ each["kl_rungs"][:, -1], rel=1e-9)
    assert np.abs(each["excess_loss"] - each["kl_rungs"][:, -1]).max() > 0.1


def test_over_all_sequences_the_entropy_is_the_chain_s(each, law, world):
    assert law @ each["entropy"] == pytest.approx(exact_entropy(TASK, world), rel=1e-9)


def test_over_all_sequences_a_rung_s_excess_is_its_divergence_from_the_truth_and_falls(each, law, world):
    """The ladder: log d - entropy at the bottom, then less with each block, and zero at the truth."""
    found = law @ each["rung_excess"]
    for blocks in range(len(TASK.blocks) + 1):
        divergences = [
            stats.entropy(known(world, len(TASK.blocks), s), known(world, blocks, s), axis=1).mean() for s in SEQUENCES
        ]
        assert found[blocks] == pytest.approx(law @ divergences, rel=1e-9, abs=1e-12)
    assert found[0] == pytest.approx(np.log(3) - exact_entropy(TASK, world), rel=1e-9)
    assert np.all(np.diff(found) < -0.01)


def test_the_truth_has_no_excess_loss_on_any_sequence(each):
    np.testing.assert_array_equal(each["rung_excess"][:, -1], 0)


def test_a_model_that_is_the_truth_has_no_excess_loss_and_stands_on_the_last_rung(world):
    model = construction(world.matrices, world.weights, TASK.horizon, 60.0)
    data = seen(world, jnp.asarray(SEQUENCES))
    found = measured(model, data, len(SEQUENCES))
    assert abs(float(found["excess_loss"])) < 1e-12
    assert abs(float(found["kl_rungs"][-1])) < 1e-12
    uniform = [stats.entropy(known(world, 0, s), known(world, len(TASK.blocks), s), axis=1).mean() for s in SEQUENCES]
    assert float(found["kl_rungs"][0]) == pytest.approx(np.mean(uniform), rel=1e-9)
    assert "kl_references" not in found


@pytest.mark.parametrize("chunk", [10, 1000])
def test_what_is_measured_on_many_sequences_is_the_mean_of_each_whatever_the_chunk(
    each, model, world, references, chunk
):
    data = seen(world, jnp.asarray(SEQUENCES), references, comparisons=True)
    found = measured(model, data, chunk, 2, True)
    means = {
        "loss",
        "accuracy",
        "excess_loss",
        "kl_rungs",
        "kl_references",
        "kl_subsets",
        "attention",
        "attention_by_lag",
    }
    assert set(found) == means | {"excess_halves", "value_alignment"}
    for name in means:
        np.testing.assert_allclose(found[name], each[name].mean(axis=0), rtol=1e-9, atol=1e-13)


def test_without_combinations_the_references_stay_what_they_are(model, world, references):
    """Both follow the rungs in one table."""
    both = measured(model, seen(world, jnp.asarray(SEQUENCES[:4]), references, comparisons=True), 4, 2, True)
    found = measured(model, seen(world, jnp.asarray(SEQUENCES[:4]), references), 4, 2)
    assert set(found) == set(both) - {"kl_subsets"}
    np.testing.assert_allclose(found["kl_references"], both["kl_references"], rtol=1e-12)


@pytest.mark.parametrize("count", [301, 2, 1])
def test_the_halves_are_the_even_and_the_odd_sequences_and_average_to_the_whole(each, model, world, count):
    """301 sequences are more than are compared at a time; one sequence leaves the odd half empty, whose mean is 0."""
    numbers = np.resize(np.arange(len(SEQUENCES)), count)
    found = measured(model, seen(world, jnp.asarray(SEQUENCES)[numbers]), count)
    losses = each["excess_loss"][numbers]
    even, odd = losses[::2], losses[1::2]
    wanted = [even.mean(), odd.mean() if len(odd) else 0]
    np.testing.assert_allclose(found["excess_halves"], wanted, rtol=1e-9, atol=1e-13)
    whole = (len(even) * found["excess_halves"][0] + len(odd) * found["excess_halves"][1]) / count
    assert float(found["excess_loss"]) == pytest.approx(float(whole), rel=1e-9)
    assert count == 1 or abs(wanted[0] - wanted[1]) > 1e-3


def test_how_near_confidence_alone_comes_is_the_smallest_divergence_of_the_truth_made_more_or_less_sure(world):
    """min over s of KL(f_{1:i} || softmax(s z)), over all sequences, by SciPy."""
    found = np.asarray(facts_of(seen(world, jnp.asarray(SEQUENCES)))["kl_stageless"])
    said = np.array([[known(world, blocks, s) for s in SEQUENCES] for blocks in range(len(TASK.blocks) + 1)])

    def distance(confidence: float, blocks: int) -> float:
        sure = said[-1] ** confidence
        return stats.entropy(said[blocks], sure / sure.sum(axis=-1, keepdims=True), axis=-1).mean()

    wanted = [
        optimize.minimize_scalar(distance, bounds=(0, 20), args=(blocks,), method="bounded").fun
        for blocks in range(len(TASK.blocks) + 1)
    ]
    assert wanted[1] > 0.03
    assert np.all(found >= np.array(wanted) - 1e-9), "nobody comes nearer"
    np.testing.assert_allclose(found, wanted, rtol=3e-4, atol=1e-9)


def test_confidence_alone_reaches_uniform_and_the_truth(world):
    found = np.asarray(facts_of(seen(world, jnp.asarray(SEQUENCES)))["kl_stageless"])
    np.testing.assert_allclose(found[[0, -1]], 0, atol=1e-12)


def test_facts_are_about_the_rungs_whatever_else_is_compared_with(world, references):
    plain_facts = facts_of(seen(world, jnp.asarray(SEQUENCES[:9])))
    compared = facts_of(seen(world, jnp.asarray(SEQUENCES[:9]), references, comparisons=True), 2, True)
    assert set(plain_facts) <= set(compared)
    for name, value in plain_facts.items():
        np.testing.assert_allclose(compared[name], value, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("chunk", [1, 2, 5, 6, 7, 13, 14, 400])
def test_a_mean_does_not_depend_on_how_the_sequences_are_cut(chunk):
    sequences = np.random.default_rng(0).integers(0, 9, (13, 4))

    def function(sequence) -> dict[str, Any]:
        return {"square": sequence[0] ** 2.0, "all": sequence * 1.0}

    found = mean_over(function, jnp.asarray(sequences), chunk)
    np.testing.assert_allclose(found["square"], (sequences[:, 0] ** 2).mean(), rtol=1e-12)
    np.testing.assert_allclose(found["all"], sequences.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("length", [2, TASK.length], ids=["window", "whole"])
def test_attention_of_every_layer_is_kept_with_the_rows_that_predict(world, length):
    model = stirred(TWO_LAYERS, vocab=3, length=length)
    data = seen(world, jnp.asarray(SEQUENCES[:4]))
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
