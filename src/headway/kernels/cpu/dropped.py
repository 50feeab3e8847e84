"""x', x' W_key, x' W_value, x' W_query for x' = keep x / (1 - rate), x = A[token] + B[position], as rows of tables.

A dropped row differs from a table's row in a few coordinates, so what fell is taken off the table's product.
A kernel on the CPU, in float32. The noise is that of `models.dropout`.
"""

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from headway.kernels.cpu import room, usable
from headway.kernels.cpu.dropped_shape import COLUMNS, Shape
from headway.models.dropout import words_of
from headway.models.positions import is_additive
from headway.models.transformer import Transformer

SLICES = 16
"""Pieces of a batch on the way forward."""
MOST = 0.3
"""Where more falls, a dense product is as quick, and taking off what fell would cancel digits."""
LEAST_WIDTH = 32
"""Where vectors are shorter, dense products are as quick."""


class Projected(NamedTuple):
    """The stream of the positions that predict, and every head's columns side by side."""

    stream: Float[Array, "example query width"]
    key: Float[Array, "example key _"]
    value: Float[Array, "example key _"]
    query: Float[Array, "example query _"]


def serves(model: Transformer) -> bool:
    """Whether this machine, this precision and the rate suit the kernel."""
    settings = model.settings
    return (
        jax.devices()[0].platform == "cpu"
        and model.layers[0].attention.value.dtype == jnp.float32
        and 0 < settings.dropout <= MOST
        and settings.norm != "pre"
        and settings.embedding == "learned"
        and is_additive(settings)
        and settings.width >= LEAST_WIDTH
        and usable()
    )


def project(
    rate: float,
    token_rows: Float[Array, "token width"],
    position_rows: Float[Array, "length width"],
    matrices: Sequence[Float[Array, "width _"]],
    tokens: Int[Array, "example length"],
    keys: Key[Array, " example"],
    queries: int,
) -> Projected:
    """The projections by (key, value, query) matrices; `queries` positions at the end have queries and a stream."""
    width, columns = len(matrices[0]), [matrix.shape[1] for matrix in matrices]
    shape = Shape(width, tokens.shape[1], queries, len(token_rows), round(rate * 2**32), *columns)
    words = jax.vmap(words_of)(keys)
    tiled = jnp.concatenate([_tiled(matrix) for matrix in matrices])
    # A token outside of the vocabulary would be an address outside of the tables.
    inside = jnp.clip(tokens, 0, len(token_rows) - 1).astype(jnp.int32)
    words = jax.lax.bitcast_convert_type(words, jnp.int32)
    return Projected(*_project(shape, token_rows, position_rows, tiled, inside, words))


def _tiled(matrix: Float[Array, "width columns"]) -> Float[Array, "tile width 64"]:
    padded = jnp.pad(matrix, ((0, 0), (0, -matrix.shape[1] % COLUMNS)))
    return jnp.swapaxes(padded.reshape(len(matrix), -1, COLUMNS), 0, 1)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _project(shape, token_rows, position_rows, tiled, tokens, words):
    return _forward(shape, token_rows, position_rows, tiled, tokens, words)[0]


def _forward(shape, token_rows, position_rows, tiled, tokens, words):
    width, length, queries, _, _, *columns = shape
    batch, slices = len(tokens), min(SLICES, len(tokens))
    _, counts, places, values, *out = jax.ffi.ffi_call(
        _call(shape, "forward"),
        (
            room(slices, tiled.shape[-1]),
            jax.ShapeDtypeStruct((batch, length), jnp.int32),
            jax.ShapeDtypeStruct((batch, length, width), jnp.int32),
            room(batch, length, width),
            room(batch, queries, width),
            room(batch, length, columns[0]),
            room(batch, length, columns[1]),
            room(batch, queries, columns[2]),
        ),
        vmap_method="sequential",
    )(
        tokens,
        words,
        token_rows,
        position_rows,
        jnp.einsum("te,nec->ntc", token_rows, tiled),
        jnp.einsum("le,nec->nlc", position_rows, tiled),
        tiled,
    )
    return tuple(out), (token_rows, position_rows, tiled, tokens, counts, places, values)


def _pull(shape, kept, changes):
    token_rows, position_rows, tiled, tokens, counts, places, values = kept
    width, length = shape[:2]
    tiles, _, across = tiled.shape
    _, of_tiled, of_token_table, of_position_table, of_tokens, of_positions = jax.ffi.ffi_call(
        _call(shape, "backward"),
        (
            room(tiles + 1, max(width, across)),
            room(tiles, width, across),
            room(tiles, len(token_rows), across),
            room(tiles, length, across),
            room(tiles + 1, len(token_rows), width),
            room(tiles + 1, length, width),
        ),
        vmap_method="sequential",
    )(tokens, counts, places, values, tiled, *changes)
    of_tiled += jnp.einsum("te,ntc->nec", token_rows, of_token_table)
    of_tiled += jnp.einsum("le,nlc->nec", position_rows, of_position_table)
    return (
        jnp.sum(of_tokens, axis=0) + jnp.einsum("ntc,nec->te", of_token_table, tiled),
        jnp.sum(of_positions, axis=0) + jnp.einsum("nlc,nec->le", of_position_table, tiled),
        of_tiled,
        None,
        None,
    )


_project.defvjp(_forward, _pull)


def _call(shape: Shape, part: str) -> str:
    """The name of a compiled part."""
    from headway.kernels.cpu.register import register  # late: llvmlite need not be there where nothing is compiled

    register(shape.name(part), lambda: work_of(part)(shape))
    return shape.name(part)


def work_of(part: str) -> Callable:
    """Makes a part for a shape."""
    # Late: numba takes a while to import, and a kernel that was kept needs none.
    from headway.kernels.cpu.dropped_backward import backward_work
    from headway.kernels.cpu.dropped_forward import forward_work

    return {"forward": forward_work, "backward": backward_work}[part]
