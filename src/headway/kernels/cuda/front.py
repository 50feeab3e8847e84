"""What enters the full model's block: the stream and every head's queries, keys and values, in rows.

Without dropout a row belongs to a (position, token) and many sequences share it; with
dropout every position of every sequence has a row of its own.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from headway.kernels.cuda.halves import product
from headway.kernels.products import embedded
from headway.models.attention import Attention
from headway.models.dropout import dropout
from headway.models.transformer import Transformer

WIDTH = 256
"""The stream, filled up with zeros: tensor cores want round numbers."""


class Front(NamedTuple):
    stream: Float[Array, "row width"]
    projected: Float[Array, "row columns"]
    """[query, key, value][head][part] side by side; of rows of their own float16, and the slope is the lifted one."""


def part_of(attention: Attention) -> int:
    """Columns of a head, filled up to a multiple of eight."""
    return -(-attention.query.shape[-1] // 8) * 8


def shared_front(model: Transformer) -> Front:
    """Every (position, token) once; row = position * tokens + token."""
    constant = jnp.broadcast_to(jnp.arange(model.vocab)[:, None], (model.vocab, model.length))
    x = jnp.swapaxes(jax.vmap(model.embed)(constant), 0, 1)
    stream = filled(x.reshape(model.length * model.vocab, -1), model.length * model.vocab, WIDTH)
    return Front(stream, stream @ projection(model.layers[0].attention, WIDTH))


def own_front(model: Transformer, tokens: Int[Array, "batch time"], keys: Key[Array, " batch"], lift: float) -> Front:
    """Every position of every sequence, with dropout; row = sequence * length + position."""
    x = jax.vmap(lambda x, key: dropout(x, model.settings.dropout, key))(embedded(model, tokens), keys)
    stream = filled(x, *tokens.shape, WIDTH)
    projected = product(stream, projection(model.layers[0].attention, WIDTH), lift)
    return Front(stream.reshape(tokens.size, WIDTH), projected.reshape(tokens.size, -1))


def filled(x: Float[Array, "..."], *sizes: int) -> Float[Array, "..."]:
    """`x` with zeros behind it, up to these sizes."""
    return jnp.pad(x, [(0, size - have) for size, have in zip(sizes, x.shape, strict=True)])


def projection(attention: Attention, width: int) -> Float[Array, "{width} columns"]:
    """[query, key, value][head][part] side by side, the queries scaled; for vectors that are filled up to `width`."""
    assert attention.key is not None
    scale = 1 / math.sqrt(attention.query.shape[-1]) if attention.scaled else 1.0
    matrices = jnp.stack([scale * attention.query, attention.key, attention.value])
    matrices = filled(matrices, 3, len(attention.query), width, part_of(attention))
    return jnp.moveaxis(matrices, 2, 0).reshape(width, -1)
