"""Single-location regression: what is drawn follows its law, with and without repetition."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from headway.tasks.single_location import LocationExample, SingleLocation, single_location

T, D, MANY = 6, 3, 6000
SETTINGS = SingleLocation(length=T, dimension=D)
TASK = single_location(SETTINGS, jax.random.key(3))


@partial(jax.jit, static_argnums=0)
def _drawn(random, task, copies, repeated):
    task = type(task)(task.matrix, task.favourite, task.length, random, task.mark)
    keys = jax.random.split(jax.random.key(4), MANY)
    return jax.vmap(lambda key: task.sample(key, copies, repeated))(keys)


def drawn(copies: float = 1, repeated: float = 0.0, random: bool = True) -> LocationExample:
    """Many sequences; B and p are traced, so that all of them share one compilation."""
    found = _drawn(random, TASK, jnp.float32(copies), jnp.float32(repeated))
    return LocationExample(*map(np.asarray, found))


@pytest.fixture(scope="module")
def plain() -> LocationExample:
    return drawn()


def relevant_vectors(examples: LocationExample) -> np.ndarray:
    """The vector at the first relevant position of each sequence."""
    first = examples.relevant.argmax(axis=1)
    return examples.inputs[np.arange(MANY), first, :D]


def test_one_vector_is_marked_anywhere_and_mapped(plain):
    assert (plain.relevant.sum(axis=1) == 1).all()
    assert (plain.inputs[..., D] == plain.relevant).all()
    np.testing.assert_allclose(plain.target, relevant_vectors(plain) @ np.asarray(TASK.matrix).T, atol=1e-5)
    places = plain.relevant[:, :T].sum(axis=0)
    assert stats.chisquare(places).pvalue > 1e-3


def test_the_position_behind_the_vectors_is_empty(plain):
    assert plain.inputs.shape == (MANY, T + 1, D + 1)
    assert not plain.inputs[:, T].any() and not plain.relevant[:, T].any()


def test_vectors_are_white_and_silence_costs_one_half(plain):
    vectors = plain.inputs[:, :T, :D].reshape(MANY, -1)
    covariance = np.cov(vectors.T)
    np.testing.assert_allclose(covariance, np.eye(T * D) / D, atol=5 / np.sqrt(MANY) / D)
    cost = 0.5 * np.sum(plain.target**2, axis=1)
    assert abs(cost.mean() - 0.5) < 4 * cost.std() / np.sqrt(MANY)


@pytest.mark.parametrize("copies", [2, T])
def test_copies_stand_at_as_many_positions_all_marked_and_any_set_is_as_likely(copies):
    found = drawn(copies)
    assert (found.relevant.sum(axis=1) == copies).all()
    assert (found.inputs[..., D] == found.relevant).all()
    same = found.inputs[..., :D] == relevant_vectors(found)[:, None]
    assert (same.all(axis=2) == found.relevant).all()
    sets = np.unique(found.relevant, axis=0, return_counts=True)[1]
    assert len(sets) == {2: 15, T: 1}[copies]
    assert copies == T or stats.chisquare(sets).pvalue > 1e-3


@pytest.mark.parametrize("repeated", [0.0, 0.3, 1.0])
def test_the_favourite_comes_with_its_probability(repeated):
    found = drawn(repeated=repeated)
    favourite = np.all(relevant_vectors(found) == np.asarray(TASK.favourite), axis=1)
    assert abs(favourite.mean() - repeated) <= 4 * np.sqrt(repeated * (1 - repeated) / MANY)
    others = found.inputs[:, :T, :D][~found.relevant[:, :T]]
    assert not np.all(others == np.asarray(TASK.favourite), axis=1).any()


def test_the_favourite_is_a_unit_vector_and_the_map_is_orthogonal():
    assert np.linalg.norm(TASK.favourite) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(np.asarray(TASK.matrix) @ np.asarray(TASK.matrix).T, np.eye(D), atol=1e-5)


def test_a_fixed_position_is_the_last_one():
    found = drawn(2, random=False)
    assert (found.relevant == np.array([False] * (T - 2) + [True, True, False])).all()


def test_without_a_mark_nothing_tells_the_position_and_the_mean_of_all_is_the_best_guess(plain):
    """Its loss is (1 - 1/T)/2; with a mark, or at a known position, there is a solution without any loss."""
    unmarked = single_location(SingleLocation(length=T, dimension=D, mark=False), jax.random.key(3))
    example = unmarked.sample(jax.random.key(0), 1, 0.0)
    assert not np.asarray(example.inputs)[:, D].any() and np.asarray(example.relevant).sum() == 1
    guess = plain.inputs[:, :T, :D].mean(axis=1) @ np.asarray(TASK.matrix).T
    cost = 0.5 * np.sum((guess - plain.target) ** 2, axis=1)
    assert abs(cost.mean() - unmarked.optimum) < 4 * cost.std() / np.sqrt(MANY)
    fixed = SingleLocation(length=T, dimension=D, mark=False, position="fixed")
    assert TASK.optimum == single_location(fixed, jax.random.key(3)).optimum == 0
