"""What is drawn from the chain follows its law."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import Array
from scipy import stats
from tests.tasks.enumeration import TINY, exact_entropy, joint

from headway.tasks.chain import Chain, Features

MANY, SOME = 50_000, 1500


class Known(NamedTuple):
    """A task and what a seed has to learn of it."""

    task: Chain
    world: Features


def drawn(known: Known, key: Array, count: int) -> Array:
    """As training draws its sets."""
    return _drawn(known.task, known.world, key, count)


@partial(jax.jit, static_argnums=(0, 3))
def _drawn(task: Chain, world: Features, key: Array, count: int) -> Array:
    return jax.vmap(lambda i: task.sample(world, jax.random.fold_in(key, i)))(jnp.arange(count))


@partial(jax.jit, static_argnums=0)
def truth(task: Chain, world: Features, sequences: Array) -> tuple[Array, Array]:
    """log p(token | past) of all tokens at every predicted position, and the sequence's entropy."""

    def one(sequence):
        known = task.ladder(world, sequence)[-1]
        return known, -jnp.mean(jnp.sum(jnp.exp(known) * known, axis=-1))

    return jax.vmap(one)(sequences)


def surprise_and_entropy(known: Known, sequences: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean over the horizon of -log p(x_t | past) and of the conditional entropy, of every sequence."""
    said, entropy = (np.asarray(each, np.float64) for each in truth(*known, sequences))
    surprise = -np.take_along_axis(said, sequences[:, known.task.start :, None], axis=2)
    return surprise.mean(axis=(1, 2)), entropy


def within_its_error(values: np.ndarray, wanted: float) -> bool:
    """Whether a mean is at most four of its standard errors away."""
    return abs(values.mean() - wanted) < 4 * values.std() / np.sqrt(len(values))


@pytest.fixture(scope="module", params=["unequal, mean", "reversed, sum", "given"], ids=lambda name: name[:5])
def tiny(request) -> tuple[Known, np.ndarray]:
    """A chain of three tokens and many sequences of it."""
    task = TINY[request.param]
    known = Known(task, task.world(jax.random.key(11)))
    return known, np.asarray(drawn(known, jax.random.key(12), MANY))


@pytest.fixture(scope="module", params=["mean", "sum"])
def paper_scale(request) -> tuple[Known, np.ndarray]:
    """50 tokens, blocks of two, 20 predictions, and some sequences."""
    task = Chain(weighting=request.param)
    known = Known(task, task.world(jax.random.key(0)))
    return known, np.asarray(drawn(known, jax.random.key(1), SOME))


def test_whole_sequences_come_as_often_as_their_probability_says(tiny):
    """Chi-square over every possible sequence; the rare ones count together."""
    known, sequences = tiny
    number = sequences @ known.task.vocab ** np.arange(sequences.shape[1])[::-1]
    wanted = MANY * joint(*known)
    counts = np.bincount(number, minlength=len(wanted))
    group = np.where(wanted < 10, 0, np.arange(1, len(wanted) + 1))
    places, group = np.unique(group, return_inverse=True)
    assert len(places) > 60
    outcome = stats.chisquare(np.bincount(group, counts), np.bincount(group, wanted))
    assert outcome.pvalue > 0.01


def test_the_entropy_of_a_long_sample_is_the_exact_one(tiny):
    known, sequences = tiny
    _, entropy = surprise_and_entropy(known, sequences)
    assert within_its_error(entropy, exact_entropy(*known))


def test_the_cross_entropy_of_the_truth_is_the_exact_entropy(tiny):
    known, sequences = tiny
    surprise, _ = surprise_and_entropy(known, sequences)
    assert within_its_error(surprise, exact_entropy(*known))


def test_at_paper_scale_too_the_cross_entropy_of_the_truth_is_the_entropy(paper_scale):
    difference = np.subtract(*surprise_and_entropy(*paper_scale))
    assert within_its_error(difference, 0)
    assert difference.std() / np.sqrt(SOME) < 0.01


def test_what_the_truth_thinks_impossible_is_never_drawn(paper_scale):
    """At paper scale many tokens are rarer than one in a million; none of 30 000 draws is such a token."""
    known, sequences = paper_scale
    impossible = np.asarray(truth(*known, sequences)[0]) < np.log(1e-6)
    assert impossible.mean() > 0.09
    assert not np.take_along_axis(impossible, sequences[:, known.task.start :, None], axis=2).any()


def test_a_smaller_set_is_the_beginning_of_a_larger_one(paper_scale):
    known, sequences = paper_scale
    np.testing.assert_array_equal(drawn(known, jax.random.key(1), 100), sequences[:100])


def test_sets_of_different_keys_and_sequences_of_a_set_are_different(paper_scale):
    """With 50 tokens and 26 times, no two of a few hundred sequences agree by chance."""
    known, _ = paper_scale
    fresh = [drawn(known, jax.random.fold_in(jax.random.key(2), step), 100) for step in range(3)]
    assert len(np.unique(np.concatenate(fresh), axis=0)) == 300


def test_the_same_key_draws_the_same_set_again(paper_scale):
    known, sequences = paper_scale
    np.testing.assert_array_equal(drawn(known, jax.random.key(1), SOME), sequences)


@pytest.mark.parametrize(("level", "token"), [(0.0, 1), (1 - 2**-24, 2)], ids=["smallest", "largest"])
def test_the_extreme_random_numbers_draw_the_first_and_the_last_possible_token(monkeypatch, level, token):
    """Of four tokens the outer two have no probability."""
    matrices = jnp.zeros((1, 4, 4)).at[:, jnp.asarray([0, 3])].set(-1e4)
    task, world = Chain(vocab=4, blocks=((1,),), horizon=3), Features(matrices, jnp.ones((1, 1)))
    monkeypatch.setattr(jax.random, "uniform", lambda key, shape, dtype: jnp.full(shape, level, dtype))
    np.testing.assert_array_equal(task.sample(world, jax.random.key(0))[task.start :], token)
