"""norm(x + drop branch) scale + shift of all rows, and its slopes, in one pass each; rows are filled up to 256."""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt32

from headway.kernels.cuda.launch import call, multiprocessors
from headway.kernels.cuda.members import over_members
from headway.kernels.cuda.sizes import array, dropped

SOURCE = "norm.cu"
WIDTH = 256
WARPS, WAVES = 8, 8
"""Of a block, and blocks for each multiprocessor."""


class Joining(NamedTuple):
    """What a kernel is compiled for, besides the number of sequences."""

    width: int
    length: int
    queries: int
    rate: float
    """Share of the branch that falls."""


def join(
    own: Joining,
    x: Float[Array, "sequence length width"],
    branch: Float[Array, "sequence query width"],
    scale: Float[Array, " width"],
    shift: Float[Array, " width"],
    words: UInt32[Array, "sequence 2"],
) -> Float[Array, "sequence query width"]:
    """The last positions of x with what joins them, normed; `words` are what dropout's bits are made from."""
    return _join(own)(x, branch, jnp.stack([scale, shift]), words)


@functools.cache
def _join(own: Joining):
    forward, backward = (over_members(functools.partial(launch, own)) for launch in (_forward, _backward))

    @jax.custom_vjp
    def joined(x, branch, vectors, words):
        return forward(x, branch, vectors, words)[0]

    def begin(x, branch, vectors, words):
        out, normed, inverse = forward(x, branch, vectors, words)
        return out, (normed, inverse, vectors, words)

    def back(kept, slope):
        return *backward(*kept, slope), None

    joined.defvjp(begin, back)
    return joined


def _forward(own: Joining, *arrays: Array):
    members, sequences = arrays[1].shape[:2]
    rows = members, sequences, own.queries
    results = array(*rows, WIDTH), array(*rows, WIDTH), array(*rows)
    return tuple(_launch(own, "norm_forward", members, sequences, arrays, results))


def _backward(own: Joining, *arrays: Array):
    members, sequences = arrays[0].shape[:2]
    results = (
        array(members, sequences, own.length, WIDTH),
        array(members, sequences, own.queries, WIDTH),
        array(members, _blocks(members) * WARPS, 2, WIDTH),
    )
    d_x, d_branch, sums = _launch(own, "norm_backward_of_rows", members, sequences, arrays, results)
    return d_x, d_branch, jnp.sum(sums, axis=1)


def _launch(own: Joining, function: str, members: int, sequences: int, arrays, results):
    sizes = {"WIDTH": own.width, "BATCH": sequences, "LENGTH": own.length, "QUERIES": own.queries}
    blocks = _blocks(members)
    macros = {**sizes, "BLOCKS": blocks, **dropped(own.rate)}
    return call(SOURCE, function, macros, arrays, results, blocks=members * blocks, threads=32 * WARPS)


def _blocks(members: int) -> int:
    return max(1, WAVES * multiprocessors() // members)
