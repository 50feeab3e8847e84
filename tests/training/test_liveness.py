"""How much of a traced function is alive at once."""

import jax
import jax.numpy as jnp

from headway.training.liveness import bytes_alive


def alive(function, *given):
    return bytes_alive(jax.make_jaxpr(function)(*given).jaxpr)


X = jnp.zeros(1000, jnp.float32)


def test_results_that_nobody_needs_any_more_are_gone():
    """Of a chain, a result and what it is made of; its argument belongs to the caller."""
    assert alive(lambda x: x + 1, X) == 4000
    assert alive(lambda x: jnp.sin(jnp.cos(jnp.sin(jnp.cos(x)))), X) == 8000


def test_what_is_needed_later_is_kept():
    def held(x):
        early = jnp.sin(x)
        return early + jnp.cos(jnp.cos(jnp.cos(x)))

    assert alive(held, X) == 12000


def test_what_a_loop_computes_inside_counts_once():
    def loop(x):
        return jax.lax.fori_loop(0, 10, lambda _, y: jnp.sum(y[:, None] + y[None, :], axis=1), x)

    assert 4_000_000 <= alive(loop, X) < 8_100_000
