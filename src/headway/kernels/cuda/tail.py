"""What follows the heads of the full model: norms, ReLU layer, readout and loss, forward and backward."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from headway.kernels.cuda.front import WIDTH, filled, summed
from headway.kernels.cuda.halves import HALF
from headway.kernels.cuda.launch import call
from headway.kernels.cuda.sizes import Sizes, dropped, spread
from headway.models.transformer import Transformer

SOURCE = "tail.cu"
HIDDEN, MOST_TOKENS = 64, 56
TILE, GROUPS, WARPS = 16, 3, 4
"""Positions and warps of a group, and groups of a block."""


class Tail(NamedTuple):
    """What the kernel behind the heads leaves, in the order of its results; positions are `batch query`.

    Slopes are those of the shares that it was given. What only products ask for is float16.
    """

    d_stream: Array
    d_attended: Array
    normed: Array
    hidden: Array
    d_hidden: Array
    d_outer: Array
    final: Array
    d_logits: Array
    row_sums: Array
    losses: Array


def tail(sizes: Sizes, model: Transformer, stream, places, attended, targets, shares, words) -> Tail:
    """From what the heads' output matrix gives to the loss, and back.

    Rows of the stream are those of the places, if sequences share them, and else of the positions that predict.
    """
    layer = model.layers[0]
    assert layer.mlp is not None
    positions = sizes.batch, sizes.queries
    answers = _answers(sizes.tokens)
    rate = 0.0 if sizes.shared_rows else model.settings.dropout
    macros = {"WIDTH": layer.mlp.inner.shape[1], "TOKENS": sizes.tokens, **dropped(rate)}
    start = (jnp.zeros_like(stream),) if sizes.shared_rows else ()
    places = (places,) if sizes.shared_rows else ()
    matrices = _matrices(model)
    results = (
        sizes.array(sizes.rows, WIDTH) if start else sizes.array(*positions, WIDTH),  # d_stream
        sizes.array(*positions, WIDTH, dtype=HALF),  # d_attended
        sizes.array(*positions, WIDTH, dtype=HALF),  # normed
        sizes.array(*positions, HIDDEN, dtype=HALF),  # hidden
        sizes.array(*positions, HIDDEN, dtype=HALF),  # d_hidden
        sizes.array(*positions, WIDTH, dtype=HALF),  # d_outer
        sizes.array(*positions, WIDTH, dtype=HALF),  # final
        sizes.array(*positions, answers, dtype=HALF),  # d_logits
        sizes.array(sizes.blocks, 3, WIDTH),  # row_sums
        sizes.array(sizes.blocks, GROUPS * WARPS),  # losses
    )
    return Tail(
        *call(
            SOURCE,
            "tail_gradient",
            {**sizes.macros, **macros},
            (attended, stream, *places, targets, shares, *matrices, _vectors(model), words, *start),
            results,
            blocks=sizes.members * sizes.blocks,
            threads=32 * GROUPS * WARPS,
            shared_bytes=tail_bytes(sizes.tokens),
            in_place={10: 0} if start else {},
        )
    )


def _matrices(model: Transformer) -> tuple[Array, Array, Array]:
    mlp, readout = model.layers[0].mlp, model.readout
    assert mlp is not None and readout is not None
    members = len(readout)
    return (
        filled(mlp.inner, members, WIDTH, HIDDEN),
        filled(mlp.outer, members, HIDDEN, WIDTH),
        filled(readout, members, WIDTH, _answers(model.vocab)),
    )


def _vectors(model: Transformer) -> Float[Array, "member 6 width"]:
    layer = model.layers[0]
    assert layer.mlp is not None
    first, second = layer.norms
    vectors = (first.scale, first.shift, second.scale, second.shift, layer.mlp.outer_bias, layer.mlp.inner_bias)
    return jnp.stack([filled(vector, len(vector), WIDTH) for vector in vectors], axis=1)


def tail_weights(model: Transformer, tail: Tail, lift: float) -> tuple[Array, ...]:
    """The gradients of the ReLU layer's matrices and biases in turn, of both norms' scale and shift, of the readout.

    `lift` is by how much the shares were lifted.

    A product n M with n = scale x + shift and slope g has dM = scale (x^T g) + shift (sum of g), and gives
    the norm d scale = sum over columns of M (x^T g), d shift = M (sum of g): no further pass over the positions.
    """
    inner, _, readout = _matrices(model)
    scale_1, shift_1, scale_2, shift_2 = (_vectors(model)[:, n, :, None] for n in range(4))
    products, slopes, branches = jnp.moveaxis(jnp.sum(tail.row_sums, axis=1), 1, 0)
    by_inner, by_readout = summed(tail.normed, tail.d_hidden), summed(tail.final, tail.d_logits)
    hidden_sum = jnp.sum(tail.d_hidden, axis=(1, 2), dtype=jnp.float32)[:, None]
    logit_sum = jnp.sum(tail.d_logits, axis=(1, 2), dtype=jnp.float32)[:, None]
    mlp = model.layers[0].mlp
    assert mlp is not None
    width, hidden = mlp.inner.shape[1:]
    found = (
        (scale_1 * by_inner + shift_1 * hidden_sum)[:, :width, :hidden],
        hidden_sum[:, 0, :hidden],
        summed(tail.hidden, tail.d_outer)[:, :hidden, :width],
        branches[:, :width],
        (products + jnp.sum(inner * by_inner, axis=2))[:, :width],
        (slopes + jnp.sum(inner * hidden_sum, axis=2))[:, :width],
        jnp.sum(readout * by_readout, axis=2)[:, :width],
        jnp.sum(readout * logit_sum, axis=2)[:, :width],
        (scale_2 * by_readout + shift_2 * logit_sum)[:, :width, : model.vocab],
    )
    return tuple(each / lift for each in found)


def _answers(tokens: int) -> int:
    return -(-tokens // 8) * 8


def tail_bytes(tokens: int) -> int:
    weights = WIDTH * spread(HIDDEN) + HIDDEN * spread(WIDTH) + WIDTH * spread(_answers(tokens))
    group = 4 * TILE * 260 + 2 * TILE * (spread(WIDTH) + spread(HIDDEN))
    return 2 * weights + 4 * 6 * WIDTH + GROUPS * group
