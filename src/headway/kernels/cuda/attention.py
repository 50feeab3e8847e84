"""The heads of the full model: what they mix, and how a slope behind them reaches queries, keys and values."""

import jax.numpy as jnp
from jaxtyping import Array, Float16, Int, UInt32

from headway.kernels.cuda.halves import HALF
from headway.kernels.cuda.launch import call, shared_limit
from headway.kernels.cuda.sizes import Sizes, dropped, spread

SOURCE = "attention.cu"
MOST_LENGTH, MOST_PART = 32, 96
MOST_PAIRS = 13, 11
"""Of warps in a block, forward and backward: as many as the registers suffice for."""

Projected = Float16[Array, "member row columns"]
"""[query, key, value][head][part] side by side."""
Places = Int[Array, "member batch length"]
Words = UInt32[Array, "member sequence 2"]
"""What the attention's dropout is made from; at a rate of 0 anything."""


def attend(sizes: Sizes, projected: Projected, places: Places, words: Words, rate: float):
    """What the heads mix, and the normalisers of their scores; `rate` is the share of their attention that falls."""
    shared = 2 * (sizes.queries + 64) * spread(sizes.part) + 4 * 32
    pairs = min(MOST_PAIRS[0], shared_limit() // shared)
    return call(
        SOURCE,
        "attention_forward",
        {**sizes.macros, **dropped(rate), "HEADS": sizes.heads, "PART": sizes.part, "PAIRS": pairs},
        (projected, places, words),
        (
            sizes.array(sizes.batch, sizes.queries, sizes.heads * sizes.part, dtype=HALF),
            sizes.array(sizes.batch, sizes.heads, 32),
        ),
        blocks=sizes.members * sizes.blocks,
        threads=64 * pairs,
        shared_bytes=pairs * shared,
    )


def attend_backward(sizes: Sizes, projected: Projected, places: Places, words: Words, rate: float, slope, normaliser):
    """How a slope behind the heads reaches the rows of queries, keys and values: where they are shared, in float32."""
    stride, (asked, slopes) = spread(sizes.part), (24, 24) if sizes.queries <= 24 else (32, 40)
    shared = 2 * ((2 * asked + 32) * stride + 32 * max(stride, slopes)) + 4 * (32 + 2 * asked)
    pairs = min(MOST_PAIRS[1], shared_limit() // shared)
    dtype = jnp.float32 if sizes.shared_rows else HALF
    start = (jnp.zeros(projected.shape, dtype),) if sizes.shared_rows else ()
    (gradient,) = call(
        SOURCE,
        "attention_backward",
        {**sizes.macros, **dropped(rate), "HEADS": sizes.heads, "PART": sizes.part, "PAIRS": pairs},
        (projected, places, words, slope, normaliser, *start),
        (sizes.array(*projected.shape[1:], dtype=dtype),),
        blocks=sizes.members * sizes.blocks,
        threads=64 * pairs,
        shared_bytes=pairs * shared,
        in_place={5: 0} if start else {},
    )
    return gradient
