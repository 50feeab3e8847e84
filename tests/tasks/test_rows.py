"""Sequences drawn by rows of the features and by products with one-hot vectors: the same bits, or not by rows."""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as some

from headway.tasks.chain import Chain

ALIKE = {
    "two lags a block, as run": Chain(horizon=6),
    "one lag a block": Chain(vocab=7, blocks=((1,), (3,), (2,)), horizon=6),
    "whole weights": Chain(vocab=11, blocks=((1, 4), (2, 3)), weighting="sum", base=3.0, horizon=6),
    "weights given": Chain(
        vocab=9, blocks=((3,), (1, 2)), weighting="given", weights=((0.3,), (0.25, -2.0)), horizon=6
    ),
    "a weight of nothing": Chain(
        vocab=9, blocks=((1, 2, 3), (4,)), weighting="given", weights=((0.5, 0.0, 1.0), (0.7,)), horizon=6
    ),
}
OTHERWISE = {
    "three lags": Chain(blocks=((1, 2, 3), (4, 5))),
    "four lags": Chain(blocks=((1, 2, 3, 4), (5, 6))),
    "not powers of two": Chain(blocks=((1, 2), (3,)), weighting="given", weights=((0.3, 0.5), (1.0,))),
}


class ByProducts(Chain):
    """The chain by its formula, whatever rounds alike."""

    @property
    def rows_round_alike(self) -> bool:
        return False


def by_products(task: Chain) -> ByProducts:
    return ByProducts(**vars(task))


@pytest.mark.parametrize("task", ALIKE.values(), ids=ALIKE)
def test_rows_give_the_bits_of_the_products(task):
    assert task.rows_round_alike

    @jax.jit
    @jax.vmap
    def both(seed):
        world = task.world(jax.random.key(seed))
        windows = jax.random.randint(jax.random.key(seed), (400, task.start), 0, task.vocab)
        return tuple(
            jax.vmap(lambda window, form=form: form.conditional(world, window))(windows)
            for form in (task, by_products(task))
        )

    rows, products = both(jnp.arange(6, dtype=jnp.uint32))
    assert np.asarray(rows).tobytes() == np.asarray(products).tobytes()


@pytest.mark.parametrize("task", OTHERWISE.values(), ids=OTHERWISE)
def test_what_rounds_more_than_once_is_not_drawn_by_rows(task):
    """And rightly so: its sums differ in the last bits."""
    assert not task.rows_round_alike

    @jax.jit
    @jax.vmap
    def both(seed):
        world = task.world(jax.random.key(seed))
        windows = jax.random.randint(jax.random.key(seed), (400, task.start), 0, task.vocab)
        forms = (task.added_rows, task.one_hot_products)
        return tuple(jax.vmap(lambda window, form=form: form(world, window))(windows) for form in forms)

    rows, products = map(np.asarray, both(jnp.arange(6, dtype=jnp.uint32)))
    scale = np.abs(products).max()
    assert (rows != products).any()
    assert np.abs(rows - products).max() < 1e-5 * scale


@functools.cache
def drawing(task: Chain) -> Callable[[np.uint32], jax.Array]:
    """200 sequences of each of six seeds from `first` on, compiled as a run compiles its drawing."""

    def of_seed(seed: jax.Array) -> jax.Array:
        key = jax.random.key(seed)
        world = task.world(key)
        return jax.vmap(lambda number: task.sample(world, jax.random.fold_in(key, number)))(jnp.arange(200))

    def of_seeds(first: jax.Array) -> jax.Array:
        return jax.vmap(of_seed)(first + jnp.arange(6, dtype=jnp.uint32))

    return jax.jit(of_seeds, compiler_options={"xla_backend_optimization_level": 1})


@hypothesis_settings(max_examples=10)
@given(first=some.integers(0, 2**32 - 6))
def test_a_seed_draws_the_same_tokens_by_both(first):
    rows, products = (drawing(form)(np.uint32(first)) for form in (Chain(), by_products(Chain())))
    assert np.array_equal(rows, products)
