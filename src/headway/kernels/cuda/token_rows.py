"""The rows of all positions, behind dropout: looked up by (position, token); and their slopes, added up."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Float16, Int, UInt32

from headway.kernels.cuda.halves import HALF
from headway.kernels.cuda.launch import call, multiprocessors
from headway.kernels.cuda.sizes import array, dropped

SOURCE = "token_rows.cu"
WIDTH = 256
WARPS, WAVES = 8, 8
"""Of a block, and blocks for each multiprocessor."""


class TokenRows(NamedTuple):
    """Where the rows lie, and what falls of them."""

    places: Int[Array, "member batch length"]
    """In the table."""
    words: UInt32[Array, "member batch 2"]
    """What dropout's bits are made from."""
    rate: float
    width: int
    """Of a row before it was filled up: dropout counts by it."""
    queries: int
    """Of the last positions, whose rows pass by the heads, too."""

    def look_up(
        self, table: Float[Array, "member row 256"]
    ) -> tuple[Float[Array, "member batch query 256"], Float16[Array, "member batch length 256"]]:
        """The rows of the last positions in float32, and those of all as factors of products."""
        shape = self.places.shape
        stream = array(*shape[:2], self.queries, WIDTH), array(*shape, WIDTH, dtype=HALF)
        last, rows = self._launch("token_rows", (table, self.places, self.words), stream, table.shape[1])
        return last, rows

    def add_up(
        self,
        count: int,
        d_rows: Float16[Array, "member batch length 256"],
        d_last: Float[Array, "member batch query 256"],
    ) -> Float[Array, "member row 256"]:
        """The slopes of a table of so many rows."""
        start = jnp.zeros((len(d_rows), count, WIDTH), jnp.float32)
        operands = d_rows, d_last, self.places, self.words, start
        (d_table,) = self._launch("token_rows_backward", operands, (array(*start.shape),), count, in_place={4: 0})
        return d_table

    def _launch(self, function: str, operands, results, count: int, in_place=None):
        members, batch, length = self.places.shape
        blocks = max(1, WAVES * multiprocessors() // members)
        sizes = {"WIDTH": self.width, "BATCH": batch, "LENGTH": length, "QUERIES": self.queries, "ROWS": count}
        macros = {**sizes, "BLOCKS": blocks, **dropped(self.rate)}
        return call(
            SOURCE, function, macros, operands, results, blocks=members * blocks, threads=32 * WARPS, in_place=in_place
        )
