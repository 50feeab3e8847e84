"""float64 is float64 from the features to the weights, and stays inside the run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.training.tiny import TINY, bits, changed

from headway.records import Cell
from headway.training.group import Group
from headway.training.problem import precision

SEEDS = (0, 1, 2)


@pytest.fixture(scope="module")
def group():
    return Group([Cell(changed(TINY, training={"precision": "float64", "schedule": "plateau", "patience": 0}), SEEDS)])


@pytest.fixture(scope="module")
def run(group):
    """A whole run, with the type that others get for a float while it goes on: ticks, checkpoints, weights, facts."""
    ticks, saved = [], []
    for tick in group.ticks(0, None):
        assert jnp.ones(()).dtype == jnp.float32
        ticks.append(tick)
        saved.append(group.checkpoints())
    return ticks, saved, group.weights()[0], group.facts()[0]


def needs_double(values: np.ndarray) -> bool:
    """Whether float32 could not hold them."""
    return values.dtype == np.float64 and bool((values.astype(np.float32) != values).any())


def test_weights_moments_and_measurements_have_the_digits_of_float64(group, run):
    ticks, saved, weights, facts = run
    assert all(map(needs_double, weights.values()))
    moments = {name: values for name, values in saved[-1][0].items() if ".mu" in name or ".nu" in name}
    assert len(moments) == 4
    assert all(map(needs_double, moments.values()))
    measured = group.part(ticks, 0)
    assert all(needs_double(measured[name]) for name in ("excess_loss", "kl_rungs", "attention_by_lag"))
    np.testing.assert_allclose(measured["attention_by_lag"].sum(axis=-1), 1, atol=1e-14)
    assert all(needs_double(facts[name]) for name in ("entropy", "rung_excess"))


def test_the_features_are_orthogonal_to_the_last_digits_of_float64(group):
    with precision(group.settings):
        _, data = group.program.problem.begin(jax.tree.map(lambda leaf: leaf[0], group.program.members))
        features = np.asarray(data.world.matrices)
    for strength, feature in zip((17.0, 10.0), features, strict=True):
        np.testing.assert_allclose(feature.T @ feature / strength**2, np.eye(5), atol=1e-14)


def test_nothing_of_it_is_left_behind_even_by_a_run_that_nobody_finishes(group):
    before = jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision
    running = group.ticks(0, None)
    next(running)
    assert (jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision) == before
    next(running)
    running.close()
    assert (jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision) == before
    assert jnp.ones(()).dtype == jnp.float32


def test_going_on_from_a_checkpoint_loses_no_digit(group, run):
    ticks, saved, weights, _ = run
    list(group.ticks(ticks[2].step, saved[2]))
    assert bits(group.weights()[0]) == bits(weights)
