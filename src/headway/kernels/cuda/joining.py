"""norm(x + drop(branch + bias)) scale + shift of all rows, and its slopes, in one pass each; rows are filled up to 256.

The norm and x may be missing. The result is given as float16, for products, and as float32 to those that want it.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt32

from headway.kernels.cuda.halves import HALF
from headway.kernels.cuda.launch import call, multiprocessors
from headway.kernels.cuda.members import over_members
from headway.kernels.cuda.sizes import array, dropped

SOURCE = "joining.cu"
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
    lift: float
    """Of the slopes of what is float16."""
    residual: bool = True
    """Whether there is an x."""
    normed: bool = True
    passes: bool = True
    """Whether the result is wanted as float32, too."""


def join(
    own: Joining,
    x: Float[Array, "sequence length filled"] | None,
    branch: Float[Array, "sequence query filled"],
    vectors: Float[Array, "3 filled"],
    words: UInt32[Array, "sequence 2"],
) -> tuple[Float[Array, "sequence query filled"] | None, Float[Array, "sequence query filled"]]:
    """The last positions of x with what joins them, in float32 if that is wanted, and as factor of products.

    The vectors are scale, shift and the branch's bias; `words` are what dropout's bits are made from.
    """
    found = _join(own)(*((x,) if own.residual else ()), branch, vectors, words)
    return found[0] if own.passes else None, found[-1]


@functools.cache
def _join(own: Joining):
    forward, backward = (over_members(functools.partial(launch, own)) for launch in (_forward, _backward))

    def results(found):
        return (*found[: own.passes], found[-1])

    @jax.custom_vjp
    def joined(*arrays):
        return results(forward(*arrays))

    def begin(*arrays):
        found = forward(*arrays)
        return results(found), (*found[own.passes : -1], *arrays[-2:])

    def back(kept, slopes):
        return *backward(*kept, *slopes), None

    joined.defvjp(begin, back)
    return joined


def _forward(own: Joining, *arrays: Array):
    members, sequences = arrays[-1].shape[:2]
    rows = members, sequences, own.queries
    out, normed = [array(*rows, WIDTH)], [array(*rows, WIDTH, dtype=HALF), array(*rows)]
    results = *out[: own.passes], *(normed if own.normed else ()), array(*rows, WIDTH, dtype=HALF)
    return tuple(_launch(own, "joining_forward", members, sequences, arrays, results))


def _backward(own: Joining, *arrays: Array):
    members, sequences = arrays[-1].shape[:2]
    d_x = [array(members, sequences, own.length, WIDTH)]
    results = (
        *d_x[: own.residual],
        array(members, sequences, own.queries, WIDTH, dtype=HALF),
        array(members, _blocks(members) * WARPS, 3, WIDTH),
    )
    *slopes, sums = _launch(own, "joining_backward", members, sequences, arrays, results)
    return *slopes, jnp.sum(sums, axis=1) / own.lift


def _launch(own: Joining, function: str, members: int, sequences: int, arrays, results):
    sizes = {"WIDTH": own.width, "BATCH": sequences, "LENGTH": own.length, "QUERIES": own.queries}
    blocks = _blocks(members)
    parts = {"RESIDUAL": int(own.residual), "NORMED": int(own.normed), "PASSES": int(own.passes)}
    macros = {**sizes, **parts, "LIFT": f"{own.lift:.1f}f", "BLOCKS": blocks, **dropped(own.rate)}
    return call(SOURCE, function, macros, arrays, results, blocks=members * blocks, threads=32 * WARPS)


def _blocks(members: int) -> int:
    return max(1, WAVES * multiprocessors() // members)
