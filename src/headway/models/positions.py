"""Positional codes that are not learned."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def sinusoidal(length: int, width: int) -> Float[Array, "length width"]:
    """code[p, 2i] = sin(p / 10000^(2i/width)), code[p, 2i+1] = cos of the same."""
    position = np.arange(length)[:, None]
    angle = position / 10000 ** (2 * np.arange((width + 1) // 2) / width)
    code = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(length, -1)
    return jnp.asarray(code[:, :width])
