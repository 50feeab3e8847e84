"""Dropout by a counter-based hash: cheap random bits that are computed again instead of stored."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, UInt32


def _mixed(bits: UInt32[Array, "*shape"]) -> UInt32[Array, "*shape"]:
    """MurmurHash3's finaliser: every input bit flips every output bit half of the time."""
    bits = (bits ^ (bits >> 16)) * jnp.uint32(0x85EBCA6B)
    bits = (bits ^ (bits >> 13)) * jnp.uint32(0xC2B2AE35)
    return bits ^ (bits >> 16)


def words_of(key: PRNGKeyArray) -> UInt32[Array, " 2"]:
    """What the bits are made from, beside an element's number."""
    return jax.random.bits(key, (2,), jnp.uint32)


def dropout(x: Float[Array, "*shape"], rate: float, key: PRNGKeyArray | None) -> Float[Array, "*shape"]:
    """x * keep / (1 - rate), keep ~ Bernoulli(1 - rate); x itself without a key.

    Two words come from the key and the rest from hashing the element's number with them.
    A strong generator would cost more than the layer: these bits fuse into the product,
    so neither they nor the mask ever reach memory.
    """
    if key is None or rate == 0:
        return x
    first, second = words_of(key)
    number = jnp.arange(x.size, dtype=jnp.uint32).reshape(x.shape)
    bits = _mixed(_mixed(number ^ first) + second)
    keep = bits >= jnp.uint32(round(rate * 2**32))
    return jnp.where(keep, x / (1 - rate), 0)
