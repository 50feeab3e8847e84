"""Epochs without replacement, for sets of any size in a table of any capacity."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.training.data import epoch_batch

SIZES = [(20, 5), (20, 8), (16, 8), (7, 8), (5, 5), (1, 8)]
AT_ONCE = 64


@partial(jax.jit, static_argnames=("capacity", "batch"))
def some_batches(seed: int, first: int, samples: int, capacity: int, batch: int) -> tuple[jax.Array, jax.Array]:
    key, steps = jax.random.key(seed), first + jnp.arange(AT_ONCE)
    return jax.vmap(lambda step: epoch_batch(key, step, samples, capacity, batch))(steps)


def batches(seed: int, samples: int, capacity: int, batch: int, epochs: int) -> tuple[np.ndarray, np.ndarray]:
    """(epoch, step, slot): the places of the first epochs' examples, and which of them are real."""
    steps = -(-samples // batch)
    found = [some_batches(seed, first, samples, capacity, batch) for first in range(0, epochs * steps, AT_ONCE)]
    places, real = (np.concatenate(part)[: epochs * steps] for part in zip(*found, strict=True))
    return places.reshape(epochs, steps, batch), real.reshape(epochs, steps, batch)


def orders(seed: int, samples: int, capacity: int, batch: int, epochs: int) -> np.ndarray:
    """(epoch, place): the samples in the order in which they are seen."""
    places, real = batches(seed, samples, capacity, batch, epochs)
    return places[real].reshape(epochs, -1)


@pytest.mark.parametrize("capacity", [20, 37])
@pytest.mark.parametrize(("samples", "batch"), SIZES)
def test_an_epoch_shows_every_sample_exactly_once(samples, batch, capacity):
    seen = orders(0, samples, capacity, batch, epochs=6)
    assert seen.shape == (6, samples)
    assert (np.sort(seen, axis=1) == np.arange(samples)).all()


@pytest.mark.parametrize(("samples", "batch"), SIZES)
def test_all_batches_are_full_but_the_last_which_has_what_is_left(samples, batch):
    places, real = batches(1, samples, 20, batch, epochs=6)
    assert real[:, :-1].all()
    left = samples - (real.shape[1] - 1) * batch
    assert (real[:, -1] == (np.arange(batch) < left)).all()
    assert (places < 20).all(), "what is not real lies in the table all the same"


def test_two_epochs_and_two_seeds_have_different_orders():
    seen = np.concatenate([orders(seed, 20, 20, 8, epochs=3) for seed in (0, 1)])
    assert len(np.unique(seen, axis=0)) == 6


def test_a_sample_comes_at_every_place_of_an_epoch_equally_often():
    """Of 2000 epochs each (sample, place) gets 400 on average, give or take 18."""
    seen = orders(3, 5, 20, 5, epochs=2000)
    counts = np.stack([(seen == sample).sum(axis=0) for sample in range(5)])
    assert np.abs(counts - 400).max() < 5 * np.sqrt(2000 * 0.2 * 0.8)


@pytest.mark.parametrize(("samples", "batch"), SIZES)
def test_the_order_does_not_depend_on_the_capacity(samples, batch):
    assert (orders(0, samples, 37, batch, epochs=6) == orders(0, samples, 20, batch, epochs=6)).all()
