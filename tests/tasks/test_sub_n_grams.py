"""Sub-n-grams: the rungs' losses, the best pseudo-counts, and points of the simple model that answer like k-grams."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special
from tests.compiling import MUCH

from headway.laboratory.k_gram_points import k_gram_points, mean_gradient
from headway.records import Cell
from headway.settings import SettingsError
from headway.tasks.k_gram_points import KGramPointSettings
from headway.tasks.sub_n_grams import SubNGrams, best_pseudo_counts
from headway.tasks.sub_n_grams_simple import SimpleSubNGrams, k_gram_point
from headway.tasks.walks import followers

MANY = 8000


def losses(tasks: list[SubNGrams]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of every rung and, last, of the truth: mean and standard error. The tasks draw alike: one draws for all."""

    def one(key):
        example = tasks[0].sample(key)
        truth = jnp.log(example.extra)[None, None]
        loss = jax.vmap(lambda each: tasks[0].loss(each, example))
        return [loss(jnp.concatenate([task.ladder(example), truth])) for task in tasks]

    keys = jax.random.split(jax.random.key(0), MANY)
    drawn = jax.jit(lambda keys: jax.lax.map(one, keys, batch_size=500), compiler_options=MUCH)
    found = [np.asarray(values, float) for values in drawn(keys)]
    return [(values.mean(axis=0), values.std(axis=0) / np.sqrt(MANY)) for values in found]


@pytest.mark.parametrize(
    ("symbols", "grams", "length", "at_alpha", "at_best", "entropy"),
    [
        # The other two have each of its sizes.
        pytest.param(5, 3, 128, (1.584, 1.519, 1.259), (1.580, 1.498, 1.259), 1.055, marks=pytest.mark.slow),
        (5, 3, 32, (1.628, 1.619, 1.439), (1.592, 1.548, 1.439), 1.055),
        (3, 4, 128, (1.056, 1.016, 0.929, 0.762), (1.056, 1.012, 0.921, 0.762), None),
    ],
)
def test_the_rungs_cost_what_was_computed_before(symbols, grams, length, at_alpha, at_best, entropy):
    """To 0.002, and what sampling adds; in order, the last the same with both."""
    with_alpha = SubNGrams(symbols, grams, length, 0.5, "alpha")
    both = losses([with_alpha, replace(with_alpha, pseudo_counts="best")])
    for pseudo_counts, wanted, (found, error) in zip(("alpha", "best"), (at_alpha, at_best), both, strict=True):
        assert found[0] == pytest.approx(np.log(symbols), rel=1e-5)
        np.testing.assert_array_less(np.abs(found[1:-1] - wanted), 0.002 + 3 * error[1:-1])
        assert entropy is None or abs(found[-1] - entropy) < 0.002 + 3 * error[-1]
        assert pseudo_counts == "alpha" or (np.diff(found) < 0).all()


def test_shorter_grams_are_best_with_larger_pseudo_counts_and_the_longest_with_alpha():
    """A k-gram below n mixes rows that differ, so that its counts are worth less."""
    found = best_pseudo_counts(3, 4, 128, 0.5)
    assert found[-1] == 0.5 and (np.diff(found) < 0).all()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_k_gram_point_answers_with_the_frequencies_behind_the_last_tokens(k):
    """With sharp scores f is the count of s behind the last k - 1 tokens over their count, without a pseudo-count; at
    the beginning, where a head has nothing to look back at, it takes what is there.
    """
    task = SimpleSubNGrams(symbols=3, grams=3, length=60, alpha=1.0)
    point, answer = k_gram_point(task, k, 60.0), jax.jit(lambda point, example: task.answer(point, example).logits[0])
    sample, counts = jax.jit(task.sample), jax.jit(lambda inputs: followers(inputs, 3, k - 1)[-1])
    for seed in range(20):
        example = sample(jax.random.key(seed))
        x = np.asarray(example.inputs)
        count = np.array(counts(example.inputs))
        for place in range(k - 1):
            count[x[place]] += len({*x[: place + 1].tolist(), *x[60 - k + 1 :].tolist()}) == 1
        if count.sum():
            np.testing.assert_allclose(special.softmax(answer(point, example)), count / count.sum(), atol=2e-3)


def test_attention_of_the_simple_model_is_causal_and_its_answer_a_distribution():
    task = SimpleSubNGrams(length=12)
    example = jax.jit(task.sample)(jax.random.key(1))
    answer = jax.jit(lambda key: task.answer(task.parameters(key), example))(jax.random.key(0))
    assert answer.logits.shape == (1, 5) and answer.attention.shape == (1, 2, 12, 12)
    np.testing.assert_allclose(np.exp(answer.logits).sum(), 1, rtol=1e-5)
    np.testing.assert_allclose(np.triu(answer.attention[0, 0], 1), 0)
    np.testing.assert_allclose(answer.attention[0, 0, -1], 1 / 12, rtol=1e-6)


def test_the_gradient_at_k_gram_points_is_as_small_as_was_computed_before():
    """With respect to QK: 0.045 and 0.025 at the unigram's, 0.107 and 0.043 at the bigram's, for T = 16 and 32."""
    cell = Cell(KGramPointSettings(lengths=(16, 32), samples=12_000), (0,))
    norms = k_gram_points(cell)["gradient_scores"][0]
    np.testing.assert_allclose(norms[:, 0], [0.045, 0.025], atol=0.006)
    np.testing.assert_allclose(norms[:, 1], [0.107, 0.043], atol=0.008)


def test_the_mean_gradient_is_that_of_the_mean_loss():
    task = SimpleSubNGrams(symbols=3, grams=2, length=8, alpha=1.0)
    point, keys = k_gram_point(task, 2, 3.0), jax.random.split(jax.random.key(0), 40)

    def loss(point, key):
        example = task.sample(key)
        return task.loss(task.answer(point, example).logits, example)

    _, found = mean_gradient(task, point, keys)
    each = jax.jit(jax.vmap(jax.grad(loss), (None, 0)))(point, keys)
    for name, leaf in each.items():
        np.testing.assert_allclose(found[name], np.mean(leaf, axis=0), atol=1e-6)


def test_samples_come_in_whole_chunks():
    with pytest.raises(SettingsError, match="250 at a time"):
        KGramPointSettings(samples=600)
    assert replace(KGramPointSettings(), samples=100).samples == 100
