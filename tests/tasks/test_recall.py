"""Associative recall: what is drawn follows its law, with and without repetition."""

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from headway.settings.checks import SettingsError
from headway.tasks.recall import Recall
from headway.tasks.task import Example, with_numbers

N, P, MANY = 8, 5, 8000
TASK = Recall(vocab=N, pairs=P)


@jax.jit
def _drawn(copies, favoured) -> Example:
    own = with_numbers(TASK, {"copies": copies, "favoured": favoured})
    return jax.vmap(own.sample)(jax.random.split(jax.random.key(1), MANY))


def drawn(copies: float = 1.0, favoured: float = 0.0) -> Example:
    """Many sequences; B and p are traced, so that all of them share one compilation."""
    return jax.tree.map(np.asarray, _drawn(jnp.float32(copies), jnp.float32(favoured)))


@pytest.fixture(scope="module")
def plain() -> Example:
    return drawn()


def parts(examples: Example) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keys and values, (sequence, pair), and queries."""
    pairs = examples.inputs[:, :-1].reshape(MANY, P, 2)
    return pairs[..., 0], pairs[..., 1], examples.inputs[:, -1]


def even(counts: np.ndarray) -> bool:
    """Whether everything comes about as often."""
    return stats.chisquare(counts).pvalue > 1e-3


def test_the_query_stands_in_exactly_one_slot_which_holds_the_answer(plain):
    keys, values, query = parts(plain)
    hits = keys == query[:, None]
    assert (hits.sum(axis=1) == 1).all() and (hits == plain.extra).all()
    assert (values[hits] == plain.targets[:, 0]).all()


def test_slots_queries_answers_and_other_keys_are_uniform(plain):
    keys, values, query = parts(plain)
    assert even(plain.extra.sum(axis=0))
    assert even(np.bincount(query, minlength=N))
    assert even(np.bincount(plain.targets[:, 0], minlength=N))
    distance = (keys - query[:, None])[~plain.extra] % N
    assert even(np.bincount(distance, minlength=N)[1:]) and distance.min() == 1
    assert even(np.bincount((values[:, 0] - query) % N, minlength=N))


def test_equal_keys_have_equal_values_within_a_sequence_and_others_in_the_next(plain):
    keys, values, _ = parts(plain)
    alike = keys[:, :, None] == keys[:, None, :]
    assert (values[:, :, None] == values[:, None, :])[alike].all()
    there = (keys == 0).any(axis=1)
    first = (keys == 0).argmax(axis=1)[there]
    assert even(np.bincount(values[there, first], minlength=N))


@pytest.mark.parametrize("copies", [1.0, 2.5, float(P)])
def test_copies_are_that_many_on_average_one_at_least_and_all_the_same_pair(copies):
    found = drawn(copies)
    keys, values, query = parts(found)
    count = found.extra.sum(axis=1)
    assert count.min() >= 1 and abs(count.mean() - copies) <= 4 * count.std() / np.sqrt(MANY)
    assert ((keys == query[:, None]) == found.extra).all()
    assert (values[found.extra] == np.repeat(found.targets[:, 0], count)).all()
    assert copies not in (1.0, P) or (count == copies).all()
    if 1 < copies < P:  # One slot for sure and each other one by itself: a binomial number besides.
        share = (copies - 1) / (P - 1)
        assert count.var() == pytest.approx((P - 1) * share * (1 - share), rel=0.1)


@pytest.mark.parametrize("favoured", [0.0, 0.4, 1.0])
def test_favourites_are_asked_for_with_their_probability_and_else_everything_is(favoured):
    found = drawn(favoured=favoured)
    _, _, query = parts(found)
    share, wanted = np.mean(query < 2), favoured + (1 - favoured) * 2 / N
    assert abs(share - wanted) <= 4 * np.sqrt(wanted * (1 - wanted) / MANY)
    assert even(np.bincount(query[query < 2], minlength=2))
    assert favoured == 1 or even(np.bincount(query[query >= 2] - 2, minlength=N - 2))
    assert even(np.bincount(found.targets[:, 0], minlength=N)) and (found.extra.sum(axis=1) == 1).all()


def test_chance_and_guessing_a_value_that_was_seen(plain):
    _, values, _ = parts(plain)
    for accuracy, guess in ((TASK.chance, np.zeros(MANY, int)), (TASK.naming, values[:, 2])):
        right = guess == plain.targets[:, 0]
        assert abs(right.mean() - accuracy) < 4 * right.std() / np.sqrt(MANY)


def rung_costs(examples: Example) -> np.ndarray:
    """-log p(answer) of every rung for every sequence: (rung, sequence)."""
    ladders = np.asarray(jax.jit(jax.vmap(TASK.ladder))(jax.tree.map(jnp.asarray, examples)))
    np.testing.assert_allclose(np.exp(ladders).sum(axis=-1), 1, rtol=1e-5)
    return -np.take_along_axis(ladders[:, :, 0], examples.targets[:, None], axis=2)[..., 0].T


def test_uniform_costs_log_n_naming_a_value_what_its_share_says_and_matching_nothing(plain):
    """A value that k of the slots hold is named with k/P: its surprise is log(P/k), whoever counts."""
    uniform, naming, matching = rung_costs(plain)
    np.testing.assert_allclose(uniform, np.log(N), rtol=1e-6)
    _, values, _ = parts(plain)
    held = (values == plain.targets).sum(axis=1)
    np.testing.assert_allclose(naming, np.log(P / held), rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(matching, 0)


def test_naming_any_value_costs_what_is_known_exactly():
    """Of the P - 1 others each holds the answer with 1/N, but equal keys do so together: summed over all ways.

    Given that key k stands in n_k of the other slots, its value is the answer with 1/N: the answer is held 1 + sum of
    the n_k of those keys that map to it. The keys are N - 1, drawn with replacement.
    """
    n, p = 3, 3
    task, wanted = Recall(vocab=n, pairs=p), 0.0
    for keys in product(range(1, n), repeat=p - 1):
        for mapping in product(range(n), repeat=n):
            held = 1 + sum(mapping[key] == mapping[0] for key in keys)
            wanted += np.log(p / held) / (n - 1) ** (p - 1) / n**n
    found = jax.vmap(task.sample)(jax.random.split(jax.random.key(2), MANY))
    ladders = np.asarray(jax.vmap(task.ladder)(found))[:, 1, 0]
    cost = -np.take_along_axis(ladders, np.asarray(found.targets), axis=1)
    assert abs(cost.mean() - wanted) < 4 * cost.std() / np.sqrt(MANY)


APPENDIX = Recall(vocab=N, pairs=P, mapping="permutation", keys="distinct", slots="independent")


@jax.jit
def _drawn_as_appendix(copies) -> Example:
    own = with_numbers(APPENDIX, {"copies": copies})
    return jax.vmap(own.sample)(jax.random.split(jax.random.key(1), MANY))


def test_as_the_appendix_says_keys_and_values_are_distinct_and_as_likely_as_any():
    found = jax.tree.map(np.asarray, _drawn_as_appendix(1.0))
    keys, values, query = parts(found)
    assert (np.diff(np.sort(keys, axis=1)) > 0).all() and (np.diff(np.sort(values, axis=1)) > 0).all()
    hits = keys == query[:, None]
    assert (hits.sum(axis=1) == 1).all() and (hits == found.extra).all()
    assert (values[hits] == found.targets[:, 0]).all()
    assert even(found.extra.sum(axis=0)) and even(np.bincount(query, minlength=N))
    assert even(np.bincount((keys - query[:, None])[~found.extra] % N, minlength=N)[1:])
    right = values[:, 2] == found.targets[:, 0]
    assert APPENDIX.naming == 1 / P and abs(right.mean() - APPENDIX.naming) < 4 * right.std() / np.sqrt(MANY)


@pytest.mark.parametrize("copies", [2.0, float(P)])
def test_as_the_appendix_says_every_slot_holds_the_query_s_pair_by_itself(copies):
    found = jax.tree.map(np.asarray, _drawn_as_appendix(copies))
    keys, _, query = parts(found)
    assert ((keys == query[:, None]) == found.extra).all()
    count, share = found.extra.sum(axis=1), copies / P
    assert abs(count.mean() - copies) <= 4 * np.sqrt(P * share * (1 - share) / MANY)
    none = np.mean(count == 0)
    assert abs(none - (1 - share) ** P) <= 4 * np.sqrt(none * (1 - none) / MANY)


def test_as_many_distinct_keys_as_symbols_are_refused():
    with pytest.raises(SettingsError, match=r"task\.pairs < 8"):
        Recall(vocab=8, pairs=8, keys="distinct")
