"""float64 is float64 from the features to the weights, and stays inside the run."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.training.tiny import TINY, changed

from headway.laboratory import Group
from headway.records import Cell

SEEDS = (0, 1, 2)


pytestmark = pytest.mark.usefixtures("compilations")


@pytest.fixture(scope="module")
def group():
    return Group([Cell(changed(TINY, training={"precision": "float64", "schedule": "plateau", "patience": 0}), SEEDS)])


@pytest.fixture(scope="module")
def segments(group):
    """A whole run, with the type that others get for a float while it goes on."""
    found = []
    for segment in group.segments(0, None):
        assert jnp.ones(()).dtype == jnp.float32
        found.append(segment)
    return found


def needs_double(values: np.ndarray) -> bool:
    """Whether float32 could not hold them."""
    return values.dtype == np.float64 and bool((values.astype(np.float32) != values).any())


def test_weights_moments_and_measurements_have_the_digits_of_float64(group, segments):
    assert all(map(needs_double, group.weights(segments[-1])[0].values()))
    moments = {
        name: values for name, values in group.checkpoints(segments[-1])[0].items() if ".mu" in name or ".nu" in name
    }
    assert len(moments) == 4
    assert all(map(needs_double, moments.values()))
    measured = group.part(segments, 0)
    assert all(needs_double(measured[name]) for name in ("excess_loss", "kl_rungs", "attention_by_lag"))
    np.testing.assert_allclose(measured["attention_by_lag"].sum(axis=-1), 1, atol=1e-14)
    facts = group.facts(segments[-1])[0]
    assert all(needs_double(facts[name]) for name in ("entropy", "rung_excess"))


def test_the_features_are_orthogonal_to_the_last_digits_of_float64(group, segments):
    features = np.asarray(group.data.chain.features)[0]
    for strength, feature in zip((17.0, 10.0), features, strict=True):
        np.testing.assert_allclose(feature.T @ feature / strength**2, np.eye(5), atol=1e-14)


def test_nothing_of_it_is_left_behind_even_by_a_run_that_nobody_finishes(group):
    before = jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision
    running = group.segments(0, None)
    next(running)
    assert (jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision) == before
    next(running)
    running.close()
    assert (jax.config.jax_enable_x64, jax.config.jax_default_matmul_precision) == before
    assert jnp.ones(()).dtype == jnp.float32


def test_going_on_from_a_checkpoint_loses_no_digit(group, segments):
    state = group.checkpoints(segments[2])[0]
    *_, last = group.segments(segments[2].step, [state])
    for name, values in group.weights(segments[-1])[0].items():
        assert group.weights(last)[0][name].tobytes() == values.tobytes()
