"""The heads of an n-gram model: the last token of every window asks, and every head mixes the window's own rows."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Float16, Int, UInt8, UInt32

from headway.kernels.cuda.front import WIDTH
from headway.kernels.cuda.halves import HALF
from headway.kernels.cuda.launch import call
from headway.kernels.cuda.sizes import Sizes, dropped

SOURCE = "window.cu"
MOST_LENGTH = 32
WARPS = {1: 16, 2: 16, 3: 16, 4: 12, 5: 8, 6: 8}
"""In a block, by the number of heads: as many as the registers suffice for."""

Rows = Float16[Array, "member row width"]
Slopes = Float[Array, "member row width"]
"""Of rows that many windows share."""
Last = Float[Array, "member window width"]
Questions = Float16[Array, "member question columns"]
Mixtures = Float16[Array, "member window columns"]
"""[head][WIDTH] side by side."""
Pattern = Float[Array, "member window head position"]
Kept = UInt8[Array, "member #window #position lane"]
"""Bits, one for each coordinate of a row; without dropout there are none, and nobody reads what there is."""


class Dropout(NamedTuple):
    """At one place of every window."""

    words: UInt32[Array, "member window 2"]
    """What its bits are made from; at a rate of 0 anything."""
    rate: float


class Windows(NamedTuple):
    """What the windows of all members consist of."""

    sizes: Sizes
    """`rows` counts the questions: every window's own, or with `shared_rows` one for every last token."""
    stream: Rows
    """Every token at every position; row = position * tokens + token."""
    contexts: Int[Array, "member window time"]
    """The windows, each with the token behind it."""
    embedding: Dropout
    attention: Dropout
    width: int
    """Of the stream before it was filled up: dropout counts by it."""

    def launch(
        self,
        function: str,
        operands: Sequence[Array],
        results: Sequence[jax.ShapeDtypeStruct],
        in_place: Mapping[int, int] | None = None,
    ) -> Sequence[Array]:
        sizes, warps = self.sizes, WARPS[self.sizes.heads]
        own = {"LENGTH": self.contexts.shape[2] - 1, "TOKENS": sizes.tokens, "HEADS": sizes.heads, "WIDTH": self.width}
        dropout = dropped(self.embedding.rate) | {f"SHARES_{k}": v for k, v in dropped(self.attention.rate).items()}
        return call(
            SOURCE,
            function,
            {**sizes.macros, **own, **dropout, "WARPS": warps},
            operands,
            results,
            blocks=sizes.members * sizes.blocks,
            threads=32 * warps,
            in_place=in_place,
        )


def last_rows(windows: Windows) -> tuple[Last, Float16[Array, "member window width"]]:
    """What dropout leaves of every window's last token, and the same as factor of a product."""
    last, factor = windows.launch(
        "window_last",
        (windows.stream, windows.contexts, windows.embedding.words),
        tuple(windows.sizes.array(windows.sizes.batch, WIDTH, dtype=dtype) for dtype in (jnp.float32, HALF)),
    )
    return last, factor


def add_last(windows: Windows, d_stream: Slopes, d_last: Last) -> Slopes:
    """`d_stream` and what `last_rows` sends back to it."""
    (total,) = windows.launch(
        "window_last_backward",
        (d_last, windows.contexts, windows.embedding.words, d_stream),
        (windows.sizes.array(*d_stream.shape[1:]),),
        in_place={3: 0},
    )
    return total


def mix(windows: Windows, questions: Questions) -> tuple[Pattern, Mixtures, Kept]:
    """Where every head looks in every window, the mean of the rows that it finds, and what dropout kept of them."""
    sizes, length = windows.sizes, windows.contexts.shape[2] - 1
    bits = (sizes.batch, length, 32) if windows.embedding.rate else (1, 1, 32)
    pattern, mixed, kept = windows.launch(
        "window_forward",
        (windows.stream, windows.contexts, windows.embedding.words, windows.attention.words, questions),
        (
            sizes.array(sizes.batch, sizes.heads, length),
            sizes.array(sizes.batch, sizes.heads * WIDTH, dtype=HALF),
            sizes.array(*bits, dtype=jnp.uint8),
        ),
    )
    return pattern, mixed, kept


def mix_backward(
    windows: Windows, questions: Questions, pattern: Pattern, kept: Kept, slope: Mixtures
) -> tuple[Slopes, Float[Array, "member question columns"]]:
    """The gradients of the stream's rows and of the questions: where windows share them, in float32."""
    operands = (windows.stream, windows.contexts, kept, windows.attention.words, questions, pattern, slope)
    shared = windows.sizes.shared_rows
    shapes = windows.stream.shape[1:], questions.shape[1:]
    results = windows.sizes.array(*shapes[0]), windows.sizes.array(*shapes[1], dtype=jnp.float32 if shared else HALF)
    start = tuple(jnp.zeros(each.shape, each.dtype) for each in results[: 1 + shared])
    d_stream, d_questions = windows.launch(
        "window_backward",
        (*operands, *start),
        results,
        in_place={len(operands) + n: n for n in range(len(start))},
    )
    return d_stream, d_questions
