"""Positional codes that are not learned: added to the stream, or acting where scores are made."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

IN_THE_STREAM = ("learned", "one-hot", "sinusoidal", "none")
"""The words of `ModelSettings.positions` that ask nothing of the scores: what they say, the embedding says."""


def sinusoidal(length: int, width: int) -> Float[Array, "length width"]:
    """code[p, 2i] = sin(p / 10000^(2i/width)), code[p, 2i+1] = cos of the same."""
    angle = _angles(length, width)
    code = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(length, -1)
    return jnp.asarray(code[:, :width])


def rotated(x: Float[Array, "*shape"], length: int, axis: int) -> Float[Array, "*shape"]:
    """(x_2i, x_2i+1) turned by the angle p / 10000^(2i/size), for vectors of `size` at the positions p.

    Along `axis` lie the last of `length` positions, along the last axis the vectors. The product of two
    turned vectors depends on their positions through the distance alone.
    """
    angle = _angles(length, x.shape[-1])[-x.shape[axis] :]
    shape = [1] * x.ndim
    shape[axis], shape[-1] = angle.shape
    cosine, sine = (jnp.asarray(part.reshape(shape), x.dtype) for part in (np.cos(angle), np.sin(angle)))
    even, odd = x[..., 0::2], x[..., 1::2]
    return jnp.stack([even * cosine - odd * sine, even * sine + odd * cosine], axis=-1).reshape(x.shape)


def slopes(heads: int) -> Float[np.ndarray, " {heads}"]:
    """2^(-8h/heads) for h = 1, .., heads (ALiBi: Press et al. 2022)."""
    return 2.0 ** (-8 * np.arange(1, heads + 1) / heads)


def distances(queries: int, keys: int) -> Int[np.ndarray, "{queries} {keys}"]:
    """How many steps each key lies before each of the last `queries` positions; 0 for what comes after."""
    position = np.arange(keys - queries, keys)[:, None]
    return np.maximum(position - np.arange(keys), 0)


def _angles(length: int, width: int) -> Float[np.ndarray, "{length} _"]:
    """p / 10000^(2i/width) for every position p and every pair i of coordinates."""
    return np.arange(length)[:, None] / 10000 ** (2 * np.arange((width + 1) // 2) / width)
