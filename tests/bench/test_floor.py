"""Operations of a step are counted from the program itself."""

import jax
import jax.numpy as jnp

from benchmarks.floor import of_step, operations
from headway.tasks.text import Text


def test_a_product_and_its_gradient_are_counted():
    one, other = jnp.ones((3, 5)), jnp.ones((5, 7))
    product = 2 * 3 * 5 * 7
    assert operations(jnp.matmul, one, other) == product
    assert operations(jax.grad(lambda left, right: jnp.sum(left @ right), (0, 1)), one, other) == 3 * product
    stacked = jax.vmap(jnp.matmul, in_axes=(0, None))
    assert operations(jax.jit(stacked), jnp.ones((4, 3, 5)), other) == 4 * product, "within a compiled function, too"


def test_the_products_of_a_step_are_those_of_the_formula():
    """A layer has 8 E^2 + 4 T E operations a token, the readout 2 E V; gradients make it three times as many."""
    settings = Text.usual().changed(
        task={"vocab": 20, "length": 16, "orders": 2, "probes": 2},
        model={"width": 8, "heads": 2},
        training={"batch": 3, "test_samples": 2},
    )
    width, length, vocab = 8, 16, 20
    forward = 2 * (8 * width**2 + 4 * length * width) + 2 * width * vocab
    tokens = 3 * length
    assert 3 * forward * tokens <= of_step(settings) <= 1.05 * 3 * forward * tokens
