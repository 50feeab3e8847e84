"""Single-location regression: what is drawn follows its law, with and without repetition."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from headway.settings.checks import SettingsError
from headway.tasks.single_location import Map, SingleLocation
from headway.tasks.task import Example, with_numbers

T, D, MANY = 6, 3, 6000
TASK = SingleLocation(length=T, dimension=D)
WORLD = TASK.world(jax.random.key(3))


@partial(jax.jit, static_argnums=0)
def _drawn(task: SingleLocation, world: Map, copies, repeated) -> Example:
    own = with_numbers(task, {"copies": copies, "repeated": repeated})
    keys = jax.random.split(jax.random.key(4), MANY)
    return jax.vmap(lambda key: own.sample(world, key))(keys)


def drawn(copies: float = 1, repeated: float = 0.0, position: str = "random") -> Example:
    """Many sequences; B and p are traced, so that all of them share one compilation."""
    return drawn_of(replace(TASK, position=position), WORLD, copies, repeated)


def drawn_of(task: SingleLocation, world: Map, copies: float = 1, repeated: float = 0.0) -> Example:
    return jax.tree.map(np.asarray, _drawn(task, world, jnp.float32(copies), jnp.float32(repeated)))


@pytest.fixture(scope="module")
def plain() -> Example:
    return drawn()


def relevant_vectors(examples: Example) -> np.ndarray:
    """The vector at the first relevant position of each sequence."""
    first = examples.extra.argmax(axis=1)
    return examples.inputs[np.arange(MANY), first, :D]


def test_one_vector_is_marked_anywhere_and_mapped(plain):
    assert (plain.extra.sum(axis=1) == 1).all()
    assert (plain.inputs[..., D] == plain.extra).all()
    np.testing.assert_allclose(plain.targets[:, 0], relevant_vectors(plain) @ np.asarray(WORLD.matrix).T, atol=1e-5)
    places = plain.extra[:, :T].sum(axis=0)
    assert stats.chisquare(places).pvalue > 1e-3


def test_the_position_behind_the_vectors_is_empty(plain):
    assert plain.inputs.shape == (MANY, T + 1, D + 1)
    assert not plain.inputs[:, T].any() and not plain.extra[:, T].any()


def test_vectors_are_white_and_silence_costs_one_half(plain):
    vectors = plain.inputs[:, :T, :D].reshape(MANY, -1)
    covariance = np.cov(vectors.T)
    np.testing.assert_allclose(covariance, np.eye(T * D) / D, atol=5 / np.sqrt(MANY) / D)
    cost = 0.5 * np.sum(plain.targets[:, 0] ** 2, axis=1)
    assert abs(cost.mean() - 0.5) < 4 * cost.std() / np.sqrt(MANY)


@pytest.mark.parametrize("copies", [2, T])
def test_copies_stand_at_as_many_positions_all_marked_and_any_set_is_as_likely(copies):
    found = drawn(copies)
    assert (found.extra.sum(axis=1) == copies).all()
    assert (found.inputs[..., D] == found.extra).all()
    same = found.inputs[..., :D] == relevant_vectors(found)[:, None]
    assert (same.all(axis=2) == found.extra).all()
    sets = np.unique(found.extra, axis=0, return_counts=True)[1]
    assert len(sets) == {2: 15, T: 1}[copies]
    assert copies == T or stats.chisquare(sets).pvalue > 1e-3


@pytest.mark.parametrize("repeated", [0.0, 0.3, 1.0])
def test_the_favourite_comes_with_its_probability(repeated):
    found = drawn(repeated=repeated)
    favourite = np.all(relevant_vectors(found) == np.asarray(WORLD.favourite), axis=1)
    assert abs(favourite.mean() - repeated) <= 4 * np.sqrt(repeated * (1 - repeated) / MANY)
    others = found.inputs[:, :T, :D][~found.extra[:, :T]]
    assert not np.all(others == np.asarray(WORLD.favourite), axis=1).any()


def test_the_favourite_is_a_unit_vector_and_the_map_is_orthogonal():
    assert np.linalg.norm(WORLD.favourite) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(np.asarray(WORLD.matrix) @ np.asarray(WORLD.matrix).T, np.eye(D), atol=1e-5)


def test_a_fixed_position_is_the_last_one():
    found = drawn(2, position="fixed")
    assert (found.extra == np.array([False] * (T - 2) + [True, True, False])).all()


@pytest.mark.parametrize("read_at", ["behind", "last"])
def test_a_drawn_position_is_the_seed_s_own_and_never_where_the_answer_is_read(read_at):
    task = replace(TASK, position="drawn", read_at=read_at)
    worlds = jax.vmap(task.world)(jax.random.split(jax.random.key(5), 300))
    firsts = np.bincount(np.asarray(worlds.order)[:, 0], minlength=T)
    places = T if read_at == "behind" else T - 1
    assert stats.chisquare(firsts[:places]).pvalue > 1e-3 and not firsts[places:].any()
    world = task.world(jax.random.key(6))
    found = drawn_of(task, world, 2)
    wanted = np.isin(np.arange(task.reads), np.asarray(world.order)[:2])
    assert (found.extra == wanted).all() and (found.inputs[..., D] == wanted).all()
    assert task.optimum == replace(task, mark=False).optimum == 0


def test_the_answer_may_be_read_at_the_last_of_the_positions(plain):
    """The same vectors, without the empty position behind them."""
    found = drawn_of(replace(TASK, read_at="last"), WORLD)
    np.testing.assert_array_equal(found.inputs, plain.inputs[:, :T])
    np.testing.assert_array_equal(found.extra, plain.extra[:, :T])
    np.testing.assert_array_equal(found.targets, plain.targets)


def test_a_gaussian_map_has_entries_of_variance_one_over_d():
    worlds = jax.vmap(replace(TASK, matrix="gaussian").world)(jax.random.split(jax.random.key(7), 500))
    entries = np.asarray(worlds.matrix).ravel() * np.sqrt(D)
    assert stats.kstest(entries, stats.norm.cdf).pvalue > 1e-3


def test_a_fixed_position_at_which_the_answer_is_read_is_refused():
    with pytest.raises(SettingsError, match="drawn"):
        replace(TASK, position="fixed", read_at="last")


def test_without_a_mark_nothing_tells_the_position_and_the_mean_of_all_is_the_best_guess(plain):
    """Its loss is (1 - 1/T)/2; with a mark, or at a known position, there is a solution without any loss."""
    unmarked = replace(TASK, mark=False)
    example = unmarked.sample(WORLD, jax.random.key(0))
    assert not np.asarray(example.inputs)[:, D].any() and np.asarray(example.extra).sum() == 1
    guess = plain.inputs[:, :T, :D].mean(axis=1) @ np.asarray(WORLD.matrix).T
    cost = 0.5 * np.sum((guess - plain.targets[:, 0]) ** 2, axis=1)
    assert abs(cost.mean() - unmarked.optimum) < 4 * cost.std() / np.sqrt(MANY)
    assert TASK.optimum == replace(unmarked, position="fixed").optimum == 0


def rung_costs(examples: Example) -> np.ndarray:
    """1/2 |rung - y*|^2 of every rung for every sequence: (rung, sequence)."""
    ladders = jax.jit(jax.vmap(lambda example: TASK.ladder(WORLD, example)))(jax.tree.map(jnp.asarray, examples))
    return 0.5 * np.sum((np.asarray(ladders) - examples.targets[:, None]) ** 2, axis=(2, 3)).T


def test_silence_costs_a_half_the_mean_of_all_positions_less_by_its_share_and_the_relevant_one_nothing(plain):
    """E|y*|^2 / 2 = 1/2. The mean holds 1/T of the answer and 1/T^2 of the variance of T - 1 others: (1 - 1/T) / 2."""
    silence, mean, relevant = rung_costs(plain)
    for cost, wanted in ((silence, 0.5), (mean, 0.5 * (1 - 1 / T))):
        assert abs(cost.mean() - wanted) < 4 * cost.std() / np.sqrt(MANY)
    assert abs(mean.mean() - silence.mean()) > 4 * (mean - silence).std() / np.sqrt(MANY), "enough to tell them apart"
    np.testing.assert_array_equal(relevant, 0)


@pytest.mark.parametrize("copies", [2, T])
def test_copies_bring_the_mean_of_all_positions_nearer(copies):
    """With B copies it holds B/T of the answer: ((1 - B/T)^2 + (T - B)/T^2) / 2, nothing where all are copies."""
    _, mean, relevant = rung_costs(drawn(copies))
    wanted = 0.5 * ((1 - copies / T) ** 2 + (T - copies) / T**2)
    assert abs(mean.mean() - wanted) <= 4 * mean.std() / np.sqrt(MANY) + 1e-12
    np.testing.assert_array_equal(relevant, 0)
