"""The rows of all positions, behind dropout: looked up by (position, token); and their slopes, added up."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Float16, Int, UInt32

from headway.kernels.cuda.halves import HALF
from headway.kernels.cuda.launch import call, multiprocessors
from headway.kernels.cuda.members import over_members
from headway.kernels.cuda.sizes import array, dropped

SOURCE = "token_rows.cu"
WIDTH = 256
WARPS, WAVES = 8, 8
"""Of a block, and blocks for each multiprocessor."""

Places = Int[Array, "member batch length"]
"""In the table."""
Words = UInt32[Array, "member batch 2"]
"""What dropout's bits are made from."""


class TokenRows(NamedTuple):
    """What a kernel is compiled for, besides the number of sequences."""

    width: int
    """Of a row before it was filled up: dropout counts by it."""
    last: int
    """Positions whose rows are wanted as float32, too."""
    rate: float
    lift: float = 1.0
    """Of the slopes of what is float16, over those of what is float32."""


def rows_of(
    own: TokenRows,
    table: Float[Array, "row filled"],
    places: Int[Array, "batch length"],
    words: UInt32[Array, "batch 2"],
) -> tuple[Float[Array, "batch {own.last} filled"], Float[Array, "batch length filled"]]:
    """The rows of the last positions, and those of all as factors of products."""
    return _rows_of(own, len(table))(table, places, words)


@functools.cache
def _rows_of(own: TokenRows, count: int):
    forward, backward = (
        over_members(functools.partial(look_up, own)),
        over_members(functools.partial(add_up, own, count)),
    )

    @jax.custom_vjp
    def looked_up(table, places, words):
        return forward(table, places, words)

    def back(kept, slopes):
        return backward(*slopes, *kept) / own.lift, None, None

    looked_up.defvjp(lambda table, *kept: (forward(table, *kept), kept), back)
    return looked_up


def look_up(
    own: TokenRows, table: Float[Array, "member row filled"], places: Places, words: Words
) -> tuple[Float[Array, "member batch last filled"], Float16[Array, "member batch length filled"]]:
    """The rows of the last positions in float32, and those of all as factors of products."""
    shape = places.shape
    results = array(*shape[:2], own.last, WIDTH), array(*shape, WIDTH, dtype=HALF)
    last, rows = _launch(own, "token_rows", (table, places, words), results, table.shape[1], shape)
    return last, rows


def add_up(
    own: TokenRows,
    count: int,
    d_last: Float[Array, "member batch last filled"],
    d_rows: Float16[Array, "member batch length filled"],
    places: Places,
    words: Words,
) -> Float[Array, "member row filled"]:
    """The lifted slopes of a table of so many rows."""
    start = jnp.zeros((len(d_rows), count, WIDTH), jnp.float32)
    operands = d_rows, d_last, places, words, start
    (d_table,) = _launch(own, "token_rows_backward", operands, (array(*start.shape),), count, places.shape, {4: 0})
    return d_table


def _launch(own: TokenRows, function: str, operands, results, count: int, shape: tuple[int, ...], in_place=None):
    members, batch, length = shape
    blocks = max(1, WAVES * multiprocessors() // members)
    sizes = {"WIDTH": own.width, "BATCH": batch, "LENGTH": length, "QUERIES": own.last, "ROWS": count}
    macros = {**sizes, "LIFT": f"{own.lift:.1f}f", "BLOCKS": blocks, **dropped(own.rate)}
    return call(
        SOURCE, function, macros, operands, results, blocks=members * blocks, threads=32 * WARPS, in_place=in_place
    )
