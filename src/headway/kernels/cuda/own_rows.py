"""The heads of a layer in which every position of every sequence has a row of its own, on an NVIDIA GPU in TF32.

Rows hold queries, keys and values of a position, one head beside the other, as float16; the last positions ask. Where
scores have one matrix, the key of all heads is what they read; where there are no output matrices, values are as wide
as what the heads write, and added up. The kernels are those of the full model's only layer, where many sequences may
share a row.
"""

import functools
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt32

from headway.kernels.cuda.attention import MOST_COLUMNS, MOST_LENGTH, Columns, Heads, attend, attend_backward
from headway.kernels.cuda.front import columns_of, filled, projection
from headway.kernels.cuda.halves import added, as_half, as_whole, lift_of, product
from headway.kernels.cuda.launch import usable
from headway.kernels.cuda.members import over_members
from headway.kernels.cuda.sizes import Sizes
from headway.kernels.products import aligned
from headway.kernels.tables.attention import Drop, written_by_value
from headway.models.attention import Attention
from headway.models.dropout import words_of


class OwnRows(NamedTuple):
    """What a kernel is compiled for, besides the number of sequences."""

    length: int
    queries: int
    heads: int
    columns: Columns
    rate: float
    """Share of the attention that falls."""


def serves(attention: Attention, length: int) -> bool:
    """Softmax of products alone, and sizes that fit."""
    positions = attention.positions
    plain = positions.shift is None and positions.face is None and (positions.turn is None or attention.key is not None)
    widest = max(attention.query.shape[-1], attention.value.shape[-1])
    return plain and length <= MOST_LENGTH and widest <= MOST_COLUMNS and usable()


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
    (sequences, length, width), heads = x.shape, len(attention.query)
    if not serves(attention, length):
        return None
    lift = lift or lift_of(sequences * queries)
    attention = replace(attention, value=written_by_value(attention, coordinates))
    columns = columns_of(attention)
    rows = product(x, projection(attention, width), lift)
    if attention.positions.turn is not None:
        rows = _turned(attention, rows, columns)
    if drop.keys is None:
        rate, words = 0.0, jnp.zeros((sequences, 2), jnp.uint32)
    else:
        rate, words = drop.rate, jax.vmap(words_of)(drop.keys)
    own = OwnRows(length, queries, heads, columns, rate)
    mixed = mix(own, rows, words, aligned(as_half(x, lift), -1) if columns.one_key else None)
    if attention.output is None:
        return as_whole(mixed[..., :coordinates], lift, x.dtype)
    output = filled(attention.output[:, :, :coordinates], heads, columns.value, coordinates)
    return product(mixed, output.reshape(heads * columns.value, coordinates), lift, x.dtype)


def _turned(attention: Attention, rows: Float[Array, "sequence time columns"], columns: Columns) -> Array:
    """The rows with queries and keys as they meet each other."""
    length, heads, end = rows.shape[1], len(attention.query), 2 * len(attention.query) * columns.score
    asking = rows[:, :, :end].astype(jnp.promote_types(rows.dtype, jnp.float32))
    apart = asking.reshape(*rows.shape[:2], 2, heads, columns.score)
    turned = attention.turned(apart[..., : attention.query.shape[-1]], length, axis=1)
    both = filled(turned, *apart.shape).reshape(asking.shape).astype(rows.dtype)
    return jnp.concatenate([both, rows[:, :, end:]], axis=2)


def mix(
    own: OwnRows,
    rows: Float[Array, "sequence time columns"],
    words: UInt32[Array, "sequence 2"],
    keys: Float[Array, "sequence time score"] | None = None,
) -> Float[Array, "sequence query found"]:
    """What the last positions find, of each head or in sum; `words` are what dropout's bits are made from."""
    return _mix(own)(*((rows,) if keys is None else (rows, keys)), words)


@functools.cache
def _mix(own: OwnRows):
    forward, backward = (over_members(functools.partial(launch, own)) for launch in (_forward, _backward))

    @jax.custom_vjp
    def mixed(*arrays):
        return forward(*arrays)[0]

    def begin(*arrays):
        found, normaliser = forward(*arrays)
        return found, (arrays, normaliser)

    def back(kept, slope):
        arrays, normaliser = kept
        return *backward(slope, normaliser, *arrays), None

    mixed.defvjp(begin, back)
    return mixed


def _forward(own: OwnRows, *arrays: Array):
    heads = _heads(own, *arrays)
    mixed, normaliser = attend(heads)
    if own.columns.summed:
        mixed = added(mixed.reshape(*mixed.shape[:3], own.heads, -1), 3)
    return mixed, normaliser


def _backward(own: OwnRows, slope: Array, normaliser: Array, *arrays: Array):
    slopes = attend_backward(_heads(own, *arrays), slope, normaliser)
    given = arrays[:-1]
    found = (slopes.projected,) if slopes.keys is None else (slopes.projected, slopes.keys)
    return tuple(each.reshape(like.shape) for each, like in zip(found, given, strict=True))


def _heads(own: OwnRows, rows: Float[Array, "member sequence time columns"], *others: Array) -> Heads:
    """Those of all members; others are the keys, if they are apart, and words."""
    members, batch, length, _ = rows.shape
    *keys, words = others
    sizes = Sizes(members, batch, length, own.queries, 0, own.heads, batch * length, shared_rows=False)
    places = jnp.broadcast_to(jnp.arange(sizes.rows, dtype=jnp.int32).reshape(batch, length), (members, batch, length))
    return Heads(sizes, own.columns, _flat(rows), places, words, own.rate, _flat(keys[0]) if keys else None)


def _flat(rows: Array) -> Array:
    return rows.reshape(len(rows), -1, rows.shape[-1])
