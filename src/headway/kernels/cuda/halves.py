"""Products of numbers that are kept as float16, with sums in float32.

float16 has the ten bits of mantissa that TF32 leaves of a number, in half of the memory, and tensor cores multiply it
twice as fast. What it lacks is range: all bits are there from 6e-5 to 65 504 only. Slopes of a mean over very many
positions are smaller, so what is kept as float16 in their place is a multiple, lifted by a power of two; and a number
that is too large becomes the largest.
"""

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from headway.kernels.products import aligned, summed

HALF = jnp.float16
LARGEST = 65504.0
LIFTED = 16
"""What the slope of one position counts, up to a factor of two: far below the largest number."""


def halved(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """To the nearest."""
    return jnp.clip(x, -LARGEST, LARGEST).astype(HALF)


def lift_of(positions: int) -> float:
    """By how much the slopes of a mean over so many positions are lifted."""
    return LIFTED * 2.0 ** round(math.log2(positions))


def evening(weights: Float[Array, " batch"]) -> Float[Array, ""]:
    """A power of two: a mean with these weights, times it, counts no sequence twice as much as an even mean does.

    `lift_of` takes a mean for an even one. Where most sequences only fill the batch, each of the others counts more,
    and its lifted slopes would be too large for float16.
    """
    most = jnp.max(weights) * len(weights) / jnp.sum(weights)
    return jnp.ldexp(jnp.ones_like(most), 1 - jnp.frexp(most)[1])


def times(x: Float[Array, "*rows i"], matrix: Float[Array, "i o"], dtype: Any = None) -> Array:
    """Every row of x times the matrix; float16, if nothing else is wanted."""
    return jnp.matmul(x, matrix, preferred_element_type=dtype or HALF)


def product(
    x: Float[Array, "example row i"], matrix: Float[Array, "i o"], lift: float, dtype: Any = None
) -> Float[Array, "example row o"]:
    """Every row of x times the matrix; float16, if nothing else is wanted.

    The slope of what is float16, of x or of the result, is the lifted one.
    """
    outer = matrix.shape[1]
    return _product(lift, x.dtype, dtype or HALF)(aligned(x, -1), aligned(aligned(matrix, 0), 1))[..., :outer]


@functools.cache
def _product(lift: float, given: Any, wanted: Any):
    def forward(x, matrix):
        factors = halved(x), halved(matrix)
        return times(*factors, wanted), factors

    def backward(factors, slope):
        x, matrix = factors
        if wanted != HALF:
            slope = halved(slope * lift)
        d_x = times(slope, matrix.T, given)
        return d_x if given == HALF else d_x / lift, summed(x, slope) / lift

    @jax.custom_vjp
    def multiplied(x, matrix):
        return forward(x, matrix)[0]

    multiplied.defvjp(forward, backward)
    return multiplied


def added(x: Float[Array, "*shape"], axis: int) -> Float[Array, "*less"]:
    """The sum along an axis, in float32, as the same kind of numbers."""
    return jnp.sum(x, axis=axis, dtype=jnp.promote_types(x.dtype, jnp.float32)).astype(x.dtype)


def as_half(x: Float[Array, "*shape"], lift: float) -> Float[Array, "*shape"]:
    """The same as float16, of which the slope is the lifted one."""
    return x if x.dtype == HALF else _as_half(lift, x.dtype)(x)


@functools.cache
def _as_half(lift: float, given: Any):
    converted = jax.custom_vjp(halved)
    converted.defvjp(lambda x: (halved(x), None), lambda _, slope: (slope.astype(given) / lift,))
    return converted


def as_whole(x: Float[Array, "*shape"], lift: float, dtype: Any) -> Float[Array, "*shape"]:
    """What is float16 in a type that needs no lifted slopes; float16 itself stays as it is."""
    return x if dtype == HALF else _as_whole(lift, dtype)(x)


@functools.cache
def _as_whole(lift: float, dtype: Any):
    converted = jax.custom_vjp(lambda x: x.astype(dtype))
    converted.defvjp(lambda x: (x.astype(dtype), None), lambda _, slope: (halved(slope * lift),))
    return converted
