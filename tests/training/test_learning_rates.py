"""Schedules: the rate that every update uses."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.training import published

from headway.settings import TrainingSettings
from headway.training.optimisers import Rates, current_rate, optimiser

pytestmark = pytest.mark.usefixtures("double")

RATE, STEPS = 0.25, 180


def with_plateau(patience: int, factor: float = 0.5) -> TrainingSettings:
    return TrainingSettings(optimiser="sgd", schedule="plateau", patience=patience, factor=factor)


@partial(jax.jit, static_argnames="settings")
def follow(settings: TrainingSettings, losses: jax.Array, steps_per_epoch: int) -> tuple[jax.Array, jax.Array]:
    """(sequence, step): the rate that each update used and what `current_rate` said after it."""
    rates = Rates(RATE, 0.0, 0.0, 0.0)

    def run(losses):
        method = optimiser(settings, rates, steps_per_epoch)

        def step(state, loss):
            # Plain SGD of a gradient of 1 moves by the rate.
            update, state = method.update(jnp.ones(()), state, jnp.zeros(()), value=loss)
            return state, (-update, current_rate(settings, rates, state))

        return jax.lax.scan(step, method.init(jnp.zeros(())), losses)[1]

    return jax.vmap(run)(losses)


def loss_curves(count: int) -> np.ndarray:
    """Random curves that fall, wait, rise and come within a hair of the threshold of 1e-4."""
    random = np.random.default_rng(7)
    pace = random.choice([0, 0, 1e-5, 0.9e-4, 1.1e-4, 2e-4, 1e-2], size=(count, STEPS))
    curves = 3 * np.cumprod(1 - pace * random.uniform(size=(count, 1)).round(), axis=1)
    return curves * (1 + random.choice([0, 1e-4, 1e-2], size=(count, 1)) * random.normal(size=(count, STEPS)))


CURVES = loss_curves(60)


@pytest.mark.parametrize("rule", published.PLATEAU.values(), ids=published.PLATEAU)
@pytest.mark.parametrize("patience", [0, 1, 10])
def test_after_every_epoch_the_plateau_schedule_has_the_rate_of_pytorch(rule, patience):
    for steps in (1, 3):
        rates = np.asarray(follow(with_plateau(patience), CURVES, steps)[1])[:, steps - 1 :: steps]
        epochs = CURVES.reshape(len(CURVES), -1, steps).mean(axis=2)
        wanted = np.array([rule(losses, patience, 0.5, RATE) for losses in epochs])
        np.testing.assert_allclose(rates, wanted, rtol=1e-12)
        assert len(np.unique(wanted[:, -1])) > 2, "the curves lower the rate differently often"


@pytest.mark.parametrize("patience", [0, 10])
def test_read_as_steps_the_plateau_schedule_looks_at_every_step_however_long_an_epoch_is(patience):
    epochs = with_plateau(patience)
    steps = replace(epochs, schedule="plateau-step")
    each_step = [np.asarray(rates) for rates in follow(epochs, CURVES, 1)]
    for rates, wanted in zip(follow(steps, CURVES, 3), each_step, strict=True):
        np.testing.assert_array_equal(rates, wanted)
    assert (np.asarray(follow(epochs, CURVES, 3)[1]) != each_step[1]).any(), "epochs of three steps make a difference"


def test_an_improvement_of_less_than_a_ten_thousandth_is_none():
    settled = np.full((1, STEPS), 2.0) * np.cumprod(np.full(STEPS, 1 - 0.99e-4 / STEPS))
    better = 2.0 * np.cumprod(np.full((1, STEPS), 1 - 1.01e-4), axis=1)
    rates = np.asarray(follow(with_plateau(10), np.concatenate([settled, better]), 1)[1])
    assert (rates[0, :11] == RATE).all()
    assert rates[0, 11] == RATE / 2, "the eleventh bad epoch is one more than the patience"
    assert (rates[1] == RATE).all()


@pytest.mark.parametrize("steps", [1, 3])
def test_the_update_that_ends_an_epoch_already_uses_the_rate_that_the_epoch_led_to(steps):
    """PyTorch lowers the rate behind that update: ours is one update earlier and otherwise the same."""
    used, told = map(np.asarray, follow(with_plateau(0), CURVES, steps))
    assert (used == told).all()
    lowered = np.argwhere(np.diff(used, axis=1) < 0)[:, 1] + 1
    assert len(lowered) > 100
    assert ((lowered + 1) % steps == 0).all()


def test_the_rate_that_is_told_is_used_next_unless_that_update_ends_a_fruitless_epoch():
    used, told = map(np.asarray, follow(with_plateau(1), CURVES, 3))
    within = np.arange(1, STEPS) % 3 != 2
    assert (used[:, 1:][:, within] == told[:, :-1][:, within]).all()


@pytest.mark.parametrize("schedule", ["constant", "cosine"])
def test_the_rate_that_is_told_is_the_one_that_the_next_update_uses(schedule):
    settings = TrainingSettings(optimiser="sgd", schedule=schedule, steps=STEPS)
    used, told = map(np.asarray, follow(settings, CURVES[:1], 1))
    assert (used[:, 1:] == told[:, :-1]).all()


def test_the_cosine_schedule_goes_from_the_whole_rate_to_nothing():
    """rate (1 + cos(pi t / steps)) / 2 at the t-th update, counted from 0."""
    settings = TrainingSettings(optimiser="sgd", schedule="cosine", steps=STEPS)
    used, told = map(np.asarray, follow(settings, CURVES[:1], 1))
    np.testing.assert_allclose(used[0], RATE * (1 + np.cos(np.pi * np.arange(STEPS) / STEPS)) / 2, rtol=1e-12)
    assert used[0, 0] == RATE
    assert used[0, -1] > 0
    assert told[0, -1] == pytest.approx(0, abs=1e-15)


def test_the_constant_schedule_never_changes_the_rate():
    used, _ = follow(TrainingSettings(optimiser="sgd", schedule="constant"), CURVES[:1], 1)
    assert (np.asarray(used) == RATE).all()
