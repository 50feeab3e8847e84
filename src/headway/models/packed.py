"""Attention in the form that suits a GPU: queries, keys and values by one product, positions in multiples of eight.

The same sums as in `attention.py`, which is the reference. Rows of 65 numbers are not aligned, so that the library
takes its slowest kernels for the products of scores and values; and three products of width 256 read the same inputs
three times.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

Heads = Any
"""An `Attention`, which imports this module."""
Drop = Callable[[Float[Array, "head query key"]], Float[Array, "head query key"]]
ALIGNED = 8
"""Float32 numbers in the 32 bytes that memory is read by."""


def wanted() -> bool:
    """Whether this device gains from it: a CPU pays for the padding, and its records keep their bits."""
    return jax.default_backend() != "cpu"


def written_once(rows: Float[Array, "*time width"]) -> Float[Array, "*time width"]:
    """As it is in memory: XLA would compute an activation, or a sum, again for each product that reads it.

    What holds for rows holds for their slopes.
    """
    return jax.lax.optimization_barrier(rows)


def stream_written_once(x: Float[Array, "*time width"]) -> Float[Array, "*time width"]:
    """On a CPU each product would add up the slopes of all branches behind it; on a GPU this has not been measured."""
    return x if wanted() else written_once(x)


def serves(attention: Heads) -> bool:
    """Softmax attention with keys and outputs of their own, between which nothing but biases comes."""
    plain = attention.positions.turn is None and attention.positions.face is None
    biased = attention.biases is None or attention.biases.key is not None
    whole = attention.key is not None and attention.output is not None
    return plain and biased and whole and not attention.linear and attention.emphasis is None


def mixed_values(
    attention: Heads, x: Float[Array, "key width"], queries: int, drop: Drop | None
) -> tuple[Float[Array, "head {queries} key"], Float[Array, "head {queries} inner"]]:
    """Where the last `queries` positions look, and the values that they find there."""
    keys = len(x)
    rows, columns = (queries if queries == 1 else _aligned(queries)), _aligned(keys)
    query, key, value = _projected(attention, x, queries)
    query, key, value = _padded(query, rows), _padded(key, columns), _padded(value, columns)
    scores = jnp.einsum("hqs,hks->hqk", query, key)
    if attention.scaled:
        scores = scores / math.sqrt(attention.query.shape[-1])
    around = (0, rows - queries), (0, columns - keys)
    shift = attention.shift(queries, keys)
    if shift is not None:
        scores = scores + jnp.pad(shift, ((0, 0), *around))
    # A row of the padding looks at the first key: softmax of nothing is no number.
    seen = jnp.pad(attention.seen(queries, keys), around).at[queries:, 0].set(True)
    pattern = jax.nn.softmax(jnp.where(seen, scores, -jnp.inf))
    exact = pattern[:, :queries, :keys]
    kept = pattern if drop is None else jnp.pad(drop(exact), ((0, 0), *around))
    return exact, jnp.einsum("hqk,hki->hqi", kept, value)[:, :queries]


def _projected(attention: Heads, x: Float[Array, "key width"], queries: int) -> list[Float[Array, "head _ _"]]:
    """Queries of the last positions, and keys and values of all: all at once where every position asks."""
    matrices = [attention.query, attention.key, attention.value]
    own = attention.biases
    biases = None if own is None else [own.query, own.key, own.value]
    if queries == len(x):
        return _together(x, matrices, biases)
    first = _together(x[-queries:], matrices[:1], biases and biases[:1])
    return [*first, *_together(x, matrices[1:], biases and biases[1:])]


def _together(x: Array, matrices: list[Array], biases: list[Array] | None) -> list[Float[Array, "head _ _"]]:
    """x W + b for each of the matrices, by one product."""
    out = jnp.einsum("ke,het->hkt", x, jnp.concatenate(matrices, axis=-1))
    out = out if biases is None else out + jnp.concatenate(biases, axis=-1)[:, None]
    ends = np.cumsum([each.shape[-1] for each in matrices])
    return jnp.split(out, ends[:-1].tolist(), axis=-1)


def _aligned(length: int) -> int:
    return -(-length // ALIGNED) * ALIGNED


def _padded(x: Float[Array, "head time _"], length: int) -> Float[Array, "head {length} _"]:
    return jnp.pad(x, ((0, 0), (0, length - x.shape[1]), (0, 0)))
