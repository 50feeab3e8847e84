"""The heads of the full model: what they mix, and how a slope behind them reaches queries, keys and values."""

import jax.numpy as jnp
from jaxtyping import Array, Int

from headway.kernels.cuda.front import Front
from headway.kernels.cuda.launch import call, shared_limit
from headway.kernels.cuda.sizes import Sizes

SOURCE = "attention.cu"
MOST_LENGTH, MOST_QUERIES, MOST_PART = 32, 24, 96
MOST_PAIRS = 7

Places = Int[Array, "member batch length"]


def attend(sizes: Sizes, front: Front, places: Places):
    floats = (sizes.queries + 64) * (sizes.part + 4) + 32
    pairs = min(MOST_PAIRS, shared_limit() // (4 * floats))
    return call(
        SOURCE,
        "attention_forward",
        {**sizes.macros, "HEADS": sizes.heads, "PART": sizes.part, "PAIRS": pairs},
        (front.projected, places),
        (
            sizes.array(sizes.batch, sizes.queries, sizes.heads * sizes.part),
            sizes.array(sizes.batch, sizes.heads, 32),
        ),
        blocks=sizes.members * sizes.blocks,
        threads=64 * pairs,
        shared_bytes=4 * pairs * floats,
    )


def attend_backward(sizes: Sizes, front: Front, places, slope, normaliser):
    stride = sizes.part + 4
    floats = 80 * stride + max(32 * stride, 24 * 36) + 32 + 48
    pairs = min(MOST_PAIRS, shared_limit() // (4 * floats))
    start = (jnp.zeros_like(front.projected),) if sizes.shared_rows else ()
    (gradient,) = call(
        SOURCE,
        "attention_backward",
        {**sizes.macros, "HEADS": sizes.heads, "PART": sizes.part, "PAIRS": pairs},
        (front.projected, places, slope, normaliser, *start),
        (sizes.array(*front.projected.shape[1:]),),
        blocks=sizes.members * sizes.blocks,
        threads=64 * pairs,
        shared_bytes=4 * pairs * floats,
        in_place={4: 0} if start else {},
    )
    return gradient
