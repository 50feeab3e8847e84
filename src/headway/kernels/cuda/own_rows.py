"""The heads of a layer in which every position of every sequence has a row of its own, on an NVIDIA GPU in TF32.

Rows hold [query, key, value][head][part] of a position, as float16; the last positions ask. The kernels are those of
the full model's only layer, where many sequences may share a row.
"""

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt32

from headway.kernels.cuda.attention import MOST_LENGTH, MOST_PART, attend, attend_backward
from headway.kernels.cuda.front import filled, part_of, projection
from headway.kernels.cuda.halves import lift_of, product
from headway.kernels.cuda.launch import usable
from headway.kernels.cuda.members import over_members
from headway.kernels.cuda.sizes import Sizes
from headway.kernels.tables.attention import Drop
from headway.models.attention import Attention
from headway.models.dropout import words_of


class OwnRows(NamedTuple):
    """What a kernel is compiled for, besides the number of sequences."""

    length: int
    queries: int
    heads: int
    part: int
    """Columns of a head, a multiple of eight."""
    rate: float
    """Share of the attention that falls."""


def serves(attention: Attention, length: int) -> bool:
    """Softmax of products alone, with keys and outputs of their own, and sizes that fit."""
    if attention.key is None or attention.output is None:
        return False
    positions, part = attention.positions, attention.query.shape[-1]
    plain = positions.shift is None and positions.face is None and attention.value.shape[-1] == part
    return plain and length <= MOST_LENGTH and part_of(attention) <= MOST_PART and usable()


def written(
    attention: Attention,
    x: Float[Array, "sequence time width"],
    queries: int,
    coordinates: int,
    drop: Drop,
    lift: float | None = None,
) -> Float[Array, "sequence {queries} {coordinates}"] | None:
    """What the heads write at the last positions, if the kernels serve them.

    It has the type of x; if that is float16, slopes are lifted by `lift`.
    """
    (sequences, length, width), heads, part = x.shape, len(attention.query), part_of(attention)
    if not serves(attention, length):
        return None
    assert attention.output is not None
    lift = lift or lift_of(sequences * queries)
    rows = product(x, projection(attention, width), lift)
    if attention.positions.turn is not None:
        rows = _turned(attention, rows, part)
    if drop.keys is None:
        rate, words = 0.0, jnp.zeros((sequences, 2), jnp.uint32)
    else:
        rate, words = drop.rate, jax.vmap(words_of)(drop.keys)
    mixed = mix(OwnRows(length, queries, heads, part, rate), rows, words)
    output = filled(attention.output[:, :, :coordinates], heads, part, coordinates)
    return product(mixed, output.reshape(heads * part, coordinates), lift, x.dtype)


def _turned(attention: Attention, rows: Float[Array, "sequence time columns"], part: int) -> Array:
    """The rows with queries and keys as they meet each other."""
    rows, dtype = rows.astype(jnp.promote_types(rows.dtype, jnp.float32)), rows.dtype
    length, heads = rows.shape[1], len(attention.query)
    apart = rows.reshape(*rows.shape[:2], 3, heads, part)
    turned = attention.turned(apart[:, :, :2, :, : attention.query.shape[-1]], length, axis=1)
    both = filled(turned, *apart[:, :, :2].shape)
    return jnp.concatenate([both, apart[:, :, 2:]], axis=2).reshape(rows.shape).astype(dtype)


def mix(
    own: OwnRows, rows: Float[Array, "sequence time columns"], words: UInt32[Array, "sequence 2"]
) -> Float[Array, "sequence query inner"]:
    """The values that the last positions find; `words` are what dropout's bits are made from."""
    return _mix(own)(rows, words)


@functools.cache
def _mix(own: OwnRows):
    forward, backward = (over_members(functools.partial(launch, own)) for launch in (_forward, _backward))

    @jax.custom_vjp
    def mixed(rows, words):
        return forward(rows, words)[0]

    def begin(rows, words):
        found, normaliser = forward(rows, words)
        return found, (rows, words, normaliser)

    mixed.defvjp(begin, lambda kept, slope: (backward(*kept, slope), None))
    return mixed


def _forward(own: OwnRows, rows: Array, words: Array):
    sizes = _sizes(own, rows)
    return tuple(attend(sizes, _flat(rows), _places(sizes), words, own.rate))


def _backward(own: OwnRows, rows: Array, words: Array, normaliser: Array, slope: Array):
    sizes = _sizes(own, rows)
    return attend_backward(sizes, _flat(rows), _places(sizes), words, own.rate, slope, normaliser).reshape(rows.shape)


def _sizes(own: OwnRows, rows: Float[Array, "member sequence time columns"]) -> Sizes:
    members, batch, length, _ = rows.shape
    return Sizes(members, batch, length, own.queries, 0, own.heads, own.part, batch * length, shared_rows=False)


def _flat(rows: Array) -> Array:
    return rows.reshape(len(rows), -1, rows.shape[-1])


def _places(sizes: Sizes) -> Array:
    own = jnp.arange(sizes.rows, dtype=jnp.int32).reshape(sizes.batch, sizes.length)
    return jnp.broadcast_to(own, (sizes.members, *own.shape))
