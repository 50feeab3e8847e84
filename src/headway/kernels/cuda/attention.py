"""The heads of the full model: what they mix, and how a slope behind them reaches queries, keys and values."""

import jax.numpy as jnp
from jaxtyping import Array, Int, UInt32

from headway.kernels.cuda.front import Front
from headway.kernels.cuda.launch import call, shared_limit
from headway.kernels.cuda.sizes import Sizes, dropped

SOURCE = "attention.cu"
MOST_LENGTH, MOST_PART = 32, 96
MOST_PAIRS = 7

Places = Int[Array, "member batch length"]
Words = UInt32[Array, "member sequence 2"]
"""What the attention's dropout is made from; at a rate of 0 anything."""


def attend(sizes: Sizes, front: Front, places: Places, words: Words, rate: float):
    """What the heads mix, and the normalisers of their scores; `rate` is the share of their attention that falls."""
    floats = (sizes.queries + 64) * (sizes.part + 4) + 32
    pairs = min(MOST_PAIRS, shared_limit() // (4 * floats))
    return call(
        SOURCE,
        "attention_forward",
        {**sizes.macros, **dropped(rate), "HEADS": sizes.heads, "PART": sizes.part, "PAIRS": pairs},
        (front.projected, places, words),
        (
            sizes.array(sizes.batch, sizes.queries, sizes.heads * sizes.part),
            sizes.array(sizes.batch, sizes.heads, 32),
        ),
        blocks=sizes.members * sizes.blocks,
        threads=64 * pairs,
        shared_bytes=4 * pairs * floats,
    )


def attend_backward(sizes: Sizes, front: Front, places: Places, words: Words, rate: float, slope, normaliser):
    """How a slope behind the heads reaches the rows of queries, keys and values."""
    stride, asked = sizes.part + 4, 24 if sizes.queries <= 24 else 32
    floats = (2 * asked + 32) * stride + max(32 * stride, asked * 36) + 32 + 2 * asked
    pairs = min(MOST_PAIRS, shared_limit() // (4 * floats))
    start = (jnp.zeros_like(front.projected),) if sizes.shared_rows else ()
    (gradient,) = call(
        SOURCE,
        "attention_backward",
        {**sizes.macros, **dropped(rate), "HEADS": sizes.heads, "PART": sizes.part, "PAIRS": pairs},
        (front.projected, places, words, slope, normaliser, *start),
        (sizes.array(*front.projected.shape[1:]),),
        blocks=sizes.members * sizes.blocks,
        threads=64 * pairs,
        shared_bytes=4 * pairs * floats,
        in_place={5: 0} if start else {},
    )
    return gradient
