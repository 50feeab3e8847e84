"""Products of what is kept as float16: their errors are those of rounding factors once, however small a slope is."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.forms import SMALL, TASK, both, distance, simple_form
from tests.kernels.test_dense import HEADS, dense_form, plain_mix
from tests.models.switches import stirred

from headway.kernels import products, simple
from headway.kernels.cuda import halves, own_rows
from headway.kernels.tables import attention
from headway.kernels.tables import form as tables

EXAMPLES, ROWS = 6, 50
LIFT = halves.lift_of(EXAMPLES * ROWS)


def drawn(*shape, scale=1.0):
    return jnp.asarray(scale * np.random.default_rng(len(shape)).normal(size=shape), jnp.float32)


def relative(found, wanted):
    return float(jnp.linalg.norm(found - wanted) / jnp.linalg.norm(wanted))


def two_products(x, first, second):
    return halves.product(halves.product(x, first, LIFT), second, LIFT, x.dtype)


@pytest.mark.parametrize("small", [1.0, 1e-7])
def test_values_and_slopes_are_those_of_float32_up_to_eleven_bits(small):
    """Without what lifts them, slopes of 1e-7 / 300 would all be zero."""
    x, first, second = drawn(EXAMPLES, ROWS, 13), drawn(13, 16), drawn(16, 7)
    slope = drawn(EXAMPLES, ROWS, 7, scale=small) / (EXAMPLES * ROWS)
    wanted, back = jax.vjp(lambda *of: of[0] @ of[1] @ of[2], x, first, second)
    found, found_back = jax.vjp(two_products, x, first, second)
    assert found.dtype == x.dtype
    assert 1e-5 < relative(found, wanted) < 2e-3
    for ours, exact in zip(found_back(slope), back(slope), strict=True):
        assert ours.dtype == jnp.float32
        assert relative(ours, exact) < (2e-3 if small == 1 else 0.1)


def test_a_slope_that_is_too_small_for_float16_is_lost_unless_it_is_lifted():
    x, matrix, slope = drawn(2, 3, 8), drawn(8, 8), drawn(2, 3, 8, scale=1e-9)
    for lift, lost in ((1.0, True), (2.0**20, False)):
        (d_x,) = jax.vjp(lambda x, lift=lift: halves.product(x, matrix, lift, jnp.float32), x)[1](slope)
        assert (float(jnp.abs(d_x).max()) == 0) == lost


def test_what_is_too_large_becomes_the_largest_and_no_number_stays_none():
    found = halves.halved(jnp.array([1e6, -1e6, 1.0, jnp.nan]))
    np.testing.assert_array_equal(np.asarray(found, np.float32), [65504, -65504, 1, np.nan])


@pytest.mark.parametrize(("positions", "lift"), [(1, 16), (60_000, 2.0**20), (65_536, 2.0**20)])
def test_slopes_are_lifted_by_a_power_of_two_to_about_sixteen(positions, lift):
    assert halves.lift_of(positions) == lift


@pytest.mark.parametrize(
    ("weights", "even"), [([1] * 5, 1), ([1, 1, 0], 1), ([1, 0, 0], 0.5), ([1] + 8191 * [0], 2**-13)]
)
def test_a_sequence_counts_less_than_twice_what_it_does_in_an_even_mean(weights, even):
    assert halves.evening(jnp.array(weights, jnp.float32)) == even


@pytest.fixture
def heads_as_on_a_gpu(monkeypatch):
    for module, name in ((products, "wanted"), (attention, "wanted"), (own_rows, "usable")):
        monkeypatch.setattr(module, name, lambda: True)
    monkeypatch.setattr(own_rows, "mix", plain_mix)


@pytest.mark.usefixtures("heads_as_on_a_gpu")
def test_a_batch_that_is_filled_up_with_thousands_of_sequences_has_the_gradient_of_the_real_one():
    """Its slopes, lifted as those of a mean over all, would be too large for float16."""
    model, many = stirred(SMALL), 8192
    model = replace(model, readout=30 * model.readout)
    one = jax.random.randint(jax.random.key(1), (1, TASK.length + 1), 0, TASK.vocab, jnp.int32)
    sequences, weights = jnp.zeros((many, TASK.length + 1), jnp.int32).at[:1].set(one), jnp.zeros(many).at[0].set(3)
    wanted = simple.gradient(model, TASK, one, jnp.ones(1), None, 1)
    found = tables.gradient(model, TASK, sequences, weights, None, many, dense=True, kernels=HEADS)
    assert 1e-6 < distance(wanted, found) < 5e-3


@pytest.mark.usefixtures("heads_as_on_a_gpu")
def test_two_layers_whose_heads_read_float16_have_the_simple_forms_gradient_up_to_rounding():
    model = stirred(replace(SMALL, layers=2))
    exact, found = both(model, TASK, None, (simple_form, partial(dense_form, kernels=HEADS)))
    assert 1e-6 < distance(exact, found) < 2e-3
