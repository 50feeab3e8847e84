"""Associative recall: what is drawn follows its law, with and without repetition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from headway.tasks.recall import Recall, RecallExample, associative_recall

N, P, MANY = 8, 5, 8000
SETTINGS = Recall(vocab=N, pairs=P)
TASK = associative_recall(SETTINGS)


@jax.jit
def _drawn(copies, favoured):
    return jax.vmap(lambda key: TASK.sample(key, copies, favoured))(jax.random.split(jax.random.key(1), MANY))


def drawn(copies: float = 1.0, favoured: float = 0.0) -> RecallExample:
    """Many sequences; B and p are traced, so that all of them share one compilation."""
    return RecallExample(*map(np.asarray, _drawn(jnp.float32(copies), jnp.float32(favoured))))


@pytest.fixture(scope="module")
def plain() -> RecallExample:
    return drawn()


def parts(examples: RecallExample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keys and values, (sequence, pair), and queries."""
    pairs = examples.inputs[:, :-1].reshape(MANY, P, 2)
    return pairs[..., 0], pairs[..., 1], examples.inputs[:, -1]


def even(counts: np.ndarray) -> bool:
    """Whether everything comes about as often."""
    return stats.chisquare(counts).pvalue > 1e-3


def test_the_query_stands_in_exactly_one_slot_which_holds_the_answer(plain):
    keys, values, query = parts(plain)
    hits = keys == query[:, None]
    assert (hits.sum(axis=1) == 1).all() and (hits == plain.relevant).all()
    assert (values[hits] == plain.target).all()


def test_slots_queries_answers_and_other_keys_are_uniform(plain):
    keys, values, query = parts(plain)
    assert even(plain.relevant.sum(axis=0))
    assert even(np.bincount(query, minlength=N))
    assert even(np.bincount(plain.target, minlength=N))
    distance = (keys - query[:, None])[~plain.relevant] % N
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
    count = found.relevant.sum(axis=1)
    assert count.min() >= 1 and abs(count.mean() - copies) <= 4 * count.std() / np.sqrt(MANY)
    assert ((keys == query[:, None]) == found.relevant).all()
    assert (values[found.relevant] == np.repeat(found.target, count)).all()
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
    assert even(np.bincount(found.target, minlength=N)) and (found.relevant.sum(axis=1) == 1).all()


def test_chance_and_guessing_a_value_that_was_seen(plain):
    _, values, _ = parts(plain)
    for accuracy, guess in ((SETTINGS.chance, np.zeros(MANY, int)), (SETTINGS.naming, values[:, 2])):
        right = guess == plain.target
        assert abs(right.mean() - accuracy) < 4 * right.std() / np.sqrt(MANY)
