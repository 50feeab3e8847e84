"""What enters the full model's block: the stream and every head's queries, keys and values, in rows.

Without dropout a row belongs to a (position, token) and many sequences share it; with
dropout every position of every sequence has a row of its own.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Float16, Int, UInt32

from headway.kernels import products
from headway.kernels.cuda.attention import Columns
from headway.kernels.cuda.halves import halved, times
from headway.kernels.cuda.token_rows import TokenRows, add_up, look_up
from headway.kernels.tables.attention import side_by_side
from headway.models.attention import Attention
from headway.models.transformer import Transformer

WIDTH = 256
"""The stream, filled up with zeros: tensor cores want round numbers."""


class Front(NamedTuple):
    """What enters, and where each position finds it."""

    stream: Float[Array, "member row filled"]
    """Rows that many sequences share, or those of the positions that predict."""
    projected: Float16[Array, "member row columns"]
    """[query, key, value][head][column] side by side."""
    places: Int[Array, "member batch length"]
    """The projected row of each position."""
    back: Callable[[Array, Array], Transformer]
    """Lifted slopes of the stream and of the projected rows -> the gradient, lifted no more."""


def columns_of(attention: Attention) -> Columns:
    """Those of a head, filled up to a multiple of eight."""
    score, value = (-(-matrices.shape[-1] // 8) * 8 for matrices in (attention.query, attention.value))
    return Columns(score, value, one_key=attention.key is None, summed=attention.output is None)


def shared_front(model: Transformer, tokens: Int[Array, "member batch length"], lift: float) -> Front:
    """Every (position, token) once."""
    (stream, matrix), back = jax.vjp(jax.vmap(_entering), model)

    def whole(d_stream: Array, d_projected: Array) -> Transformer:
        # Sums over many sequences, too large for float16; and there are few of them.
        d_matrix = jnp.einsum("mri,mro->mio", stream, d_projected)
        d_entering = d_stream + jnp.einsum("mro,mio->mri", d_projected, matrix)
        return back((d_entering / lift, d_matrix / lift))[0]

    projected = halved(jnp.einsum("mri,mio->mro", stream, matrix))
    return Front(stream, projected, places_of(model, tokens), whole)


def own_front(
    model: Transformer,
    tokens: Int[Array, "member batch length"],
    words: UInt32[Array, "member batch 2"],
    queries: int,
    lift: float,
) -> Front:
    """Every position of every sequence, with dropout; row = sequence * length + position."""
    (table, matrix), back = jax.vjp(jax.vmap(_entering), model)
    settings = model.settings
    width = settings.stream(model.vocab, model.length)
    of_tokens, places = TokenRows(width, queries, settings.dropout), places_of(model, tokens)
    last, rows = look_up(of_tokens, table, places, words)
    factor = halved(matrix)

    def whole(d_last: Array, d_projected: Array) -> Transformer:
        d_projected = d_projected.reshape(*tokens.shape, -1)
        d_rows = jax.vmap(times)(d_projected, jnp.swapaxes(factor, 1, 2))
        d_table = add_up(of_tokens, table.shape[1], d_last.reshape(last.shape), d_rows, places, words)
        return back((d_table / lift, summed(rows, d_projected) / lift))[0]

    own = jnp.arange(math.prod(tokens.shape[1:]), dtype=jnp.int32).reshape(tokens.shape[1:])
    flat = rows.reshape(len(rows), -1, WIDTH)
    return Front(last, jax.vmap(times)(flat, factor), jnp.broadcast_to(own, tokens.shape), whole)


def _entering(model: Transformer) -> tuple[Float[Array, "row filled"], Float[Array, "filled columns"]]:
    return shared_stream(model), projection(model.layers[0].attention, WIDTH)


def shared_stream(model: Transformer) -> Float[Array, "row filled"]:
    """What every token is at every position; row = position * tokens + token."""
    constant = jnp.broadcast_to(jnp.arange(model.vocab)[:, None], (model.vocab, model.length))
    x = jnp.swapaxes(jax.vmap(model.embed)(constant), 0, 1)
    return filled(x.reshape(model.length * model.vocab, -1), model.length * model.vocab, WIDTH)


def places_of(model: Transformer, tokens: Int[Array, "*batch length"]) -> Int[Array, "*batch length"]:
    """Of every token, in `shared_stream`."""
    return (jnp.arange(model.length) * model.vocab + tokens).astype(jnp.int32)


def filled(x: Float[Array, "..."], *sizes: int) -> Float[Array, "..."]:
    """`x` with zeros behind it, up to these sizes."""
    return jnp.pad(x, [(0, size - have) for size, have in zip(sizes, x.shape, strict=True)])


def projection(attention: Attention, width: int) -> Float[Array, "{width} columns"]:
    """[query][head][score], [key][head][score] and [value][head][value] side by side, the queries scaled.

    For vectors that are filled up to `width`; where scores have one matrix there are no keys.
    """
    scale = 1 / math.sqrt(attention.query.shape[-1]) if attention.scaled else 1.0
    own, heads = columns_of(attention), len(attention.query)
    matrices = [(scale * attention.query, own.score), (attention.key, own.score), (attention.value, own.value)]
    wide = [filled(each, heads, width, columns) for each, columns in matrices if each is not None]
    return jnp.concatenate([side_by_side(each) for each in wide], axis=1)


summed = jax.vmap(products.summed)
"""(left (member batch query i), right (member batch query o)) -> sum over positions of left (x) right."""
