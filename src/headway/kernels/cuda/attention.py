"""What heads mix, and how a slope behind them reaches queries, keys and values, for up to 32 positions."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float16, Int, UInt32

from headway.kernels.cuda.halves import HALF, added
from headway.kernels.cuda.launch import call, shared_limit
from headway.kernels.cuda.sizes import Sizes, dropped, spread

SOURCE = "attention.cu"
MOST_LENGTH, MOST_COLUMNS = 32, 256
MOST_PAIRS = 13, 11
"""Of warps in a block, forward and backward: as many as the registers suffice for."""

Projected = Float16[Array, "member row columns"]
"""[query][head][score], [key][head][score] and [value][head][value] side by side; a key of all heads is apart."""
Keys = Float16[Array, "member row score"]
"""Those that all heads ask."""
Places = Int[Array, "member batch length"]
Words = UInt32[Array, "member sequence 2"]
"""What the attention's dropout is made from; at a rate of 0 anything."""


class Columns(NamedTuple):
    """Of a head; multiples of eight."""

    score: int
    """Of a query and a key."""
    value: int
    one_key: bool = False
    """Whether all heads ask the same key."""
    summed: bool = False
    """Whether what the heads find is added up, so that one slope is that of all."""

    @property
    def macros(self) -> dict[str, int | str]:
        return {name.upper(): int(number) for name, number in self._asdict().items()}


class Heads(NamedTuple):
    """What they are given."""

    sizes: Sizes
    columns: Columns
    projected: Projected
    places: Places
    """The row of each position."""
    words: Words
    rate: float
    """The share of their attention that falls."""
    keys: Keys | None = None
    """Where all heads ask the same."""

    def launch(
        self,
        function: str,
        most: int,
        shared: int,
        more: Sequence[Array],
        results: Sequence[jax.ShapeDtypeStruct],
        in_place: Mapping[int, int] | None = None,
    ) -> Sequence[Array]:
        """With at most so many pairs of warps a block, each of which has `shared` bytes there; `more` comes last."""
        pairs = min(most, shared_limit() // shared)
        own = () if self.keys is None else (self.keys,)
        return call(
            SOURCE,
            function,
            {
                **self.sizes.macros,
                **self.columns.macros,
                **dropped(self.rate),
                "HEADS": self.sizes.heads,
                "PAIRS": pairs,
            },
            (self.projected, *own, self.places, self.words, *more),
            results,
            blocks=self.sizes.members * self.sizes.blocks,
            threads=64 * pairs,
            shared_bytes=pairs * shared,
            in_place=in_place,
        )


class Slopes(NamedTuple):
    """Where rows are shared, in float32."""

    projected: Array
    keys: Array | None
    """Of what all heads ask: the sum over them."""


def attend(heads: Heads) -> tuple[Array, Array]:
    """What the heads mix, one beside the other, and the normalisers of their scores."""
    sizes, columns = heads.sizes, heads.columns
    shared = 2 * ((sizes.queries + 32) * spread(columns.score) + 32 * spread(columns.value)) + 4 * 32
    results = (
        sizes.array(sizes.batch, sizes.queries, sizes.heads * columns.value, dtype=HALF),
        sizes.array(sizes.batch, sizes.heads, 32),
    )
    mixed, normaliser = heads.launch("attention_forward", MOST_PAIRS[0], shared, (), results)
    return mixed, normaliser


def attend_backward(heads: Heads, slope: Array, normaliser: Array) -> Slopes:
    """How a slope behind the heads reaches the rows of queries, keys and values."""
    sizes, columns = heads.sizes, heads.columns
    asked, slopes = (24, 24) if sizes.queries <= 24 else (32, 40)
    score, value = spread(columns.score), spread(columns.value)
    shared = 2 * (asked * (score + value) + 32 * (score + max(value, slopes))) + 4 * (32 + 2 * asked)
    dtype = jnp.float32 if sizes.shared_rows else HALF
    start = (jnp.zeros(heads.projected.shape, dtype),) if sizes.shared_rows else ()
    of_keys = () if heads.keys is None else (sizes.array(sizes.rows, sizes.heads, columns.score, dtype=dtype),)
    d_projected, *d_keys = heads.launch(
        "attention_backward",
        MOST_PAIRS[1],
        shared,
        (slope, normaliser, *start),
        (sizes.array(*heads.projected.shape[1:], dtype=dtype), *of_keys),
        in_place={5: 0} if start else {},
    )
    return Slopes(d_projected, added(d_keys[0], 2) if d_keys else None)
