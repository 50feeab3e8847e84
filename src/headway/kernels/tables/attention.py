"""Attention of a whole batch: as rows of tables over (position, token), or dense."""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from headway.kernels.products import aligned, product
from headway.models.attention import Attention, causal_mask
from headway.models.dropout import dropout
from headway.models.packed import wanted


class Drop(NamedTuple):
    """What dropout leaves of the heads' attention."""

    rate: float = 0.0
    keys: Key[Array, " example"] | None = None
    """Without them all of it."""

    def __call__(self, pattern: Float[Array, "example head query key"]) -> Float[Array, "example head query key"]:
        if self.keys is None:
            return pattern
        return jax.vmap(lambda each, key: dropout(each, self.rate, key))(pattern, self.keys)


ALL = Drop()
"""Nothing falls."""
Heads = Callable[[Attention, Float[Array, "example key width"], int, int, Drop], Array | None]
"""(attention, vectors, queries, coordinates, drop) -> what kernels find that the heads write, if they serve them."""


class Tables(NamedTuple):
    """What a token at a position is, asks, answers and writes."""

    x: Float[Array, "query token width"]
    query: Float[Array, "query token head score"]
    key: Float[Array, "key token head score"]
    value: Float[Array, "key token head inner"]


def table_heads(
    attention: Attention,
    x: Float[Array, "key token width"],
    read: Float[Array, "key token width"],
    queries: int,
    coordinates: int,
) -> Tables:
    """The tables of the first block, in which `read` is what the heads see of `x`."""
    query = jnp.einsum("qte,hes->qths", read[-queries:], attention.query)
    if attention.scaled:
        query = query / math.sqrt(attention.query.shape[-1])
    if attention.key is None:
        key = read[:, :, None]
    else:
        key = attention.turned(jnp.einsum("kte,hes->kths", read, attention.key), len(read), axis=0)
        query = attention.turned(query, len(read), axis=0)
    value = jnp.einsum("kte,hei->kthi", read, written_by_value(attention, coordinates))
    return Tables(x[-queries:], query, key, value)


def looked_up_heads(
    tables: Tables, attention: Attention, tokens: Int[Array, "example key"], coordinates: int
) -> tuple[Float[Array, "example query coordinate"], Float[Array, "example head query key"]]:
    """What the heads write for every example, and their pattern."""
    queries, keys = len(tables.query), len(tables.key)
    query = tables.query[jnp.arange(queries), tokens[:, -queries:]]
    key, value = tables.key[jnp.arange(keys), tokens], tables.value[jnp.arange(keys), tokens]
    pattern = _softmax(attention, _faced(attention, query, _scores(query, key)))
    if attention.output is None:
        return jnp.einsum("bhqk,bkhi->bqi", pattern, value), pattern
    mixed = jnp.einsum("bhqk,bkhi->bqhi", pattern, value)
    return _written(mixed, attention.output[:, :, :coordinates]), pattern


def dense_heads(
    attention: Attention,
    x: Float[Array, "example key width"],
    queries: int,
    coordinates: int,
    drop: Drop = ALL,
    heads: Heads | None = None,
) -> tuple[Float[Array, "example query coordinate"], Float[Array, "example head query key"] | None]:
    """The same for vectors that no table knows: one product for all heads of all examples.

    Kernels, where there are some, leave no pattern.
    """
    if heads is not None and (received := heads(attention, x, queries, coordinates, drop)) is not None:
        return received, None
    if merging_pays(attention, queries, x.shape[1]):
        return _merged_heads(attention, x, queries, coordinates, drop)
    query = _projected(x[:, -queries:], attention.query)
    key = x[:, :, None] if attention.key is None else _projected(x, attention.key)
    value = _projected(x, written_by_value(attention, coordinates))
    return projected_heads(attention, query, key, value, coordinates, drop)


def merging_pays(attention: Attention, queries: int, keys: int) -> bool:
    """Whether it is cheaper to bring the few queries to the inputs than all inputs to the heads.

    With rotations between the matrices, or codes that meet the queries, there is no other way than the second.
    """
    return attention.can_merge and queries * attention.query.shape[0] <= keys


def written_by_value(attention: Attention, coordinates: int) -> Float[Array, "head width inner"]:
    """The value matrices, without columns that nobody reads."""
    return attention.value if attention.output is not None else attention.value[:, :, :coordinates]


def projected_heads(
    attention: Attention,
    query: Float[Array, "example query head score"],
    key: Float[Array, "example key #head score"],
    value: Float[Array, "example key head inner"],
    coordinates: int,
    drop: Drop = ALL,
) -> tuple[Float[Array, "example query coordinate"], Float[Array, "example head query key"]]:
    """The same for given queries, keys and values."""
    query, key = attention.turned(query, key.shape[1], axis=1), attention.turned(key, key.shape[1], axis=1)
    query = query / _scale(attention)
    keys, queries = key.shape[1], query.shape[1]
    filled = wanted() and queries > 1
    asking, answering = (_filled(query), _filled(key)) if filled else (query, key)
    scores = _scores(asking, answering)[:, :, :queries, :keys]
    pattern = _softmax(attention, _faced(attention, query, scores))
    kept = drop(pattern)
    if filled:
        kept, value = aligned(aligned(kept, -1), -2), aligned(value, 1)
    if attention.output is None:
        return jnp.einsum("bhqk,bkhi->bqi", kept, value)[:, :queries], pattern
    mixed = jnp.einsum("bhqk,bkhi->bqhi", kept, value)[:, :queries]
    return _written(mixed, attention.output[:, :, :coordinates]), pattern


def _filled(x: Float[Array, "example time head part"]) -> Float[Array, "example filled_time head filled_part"]:
    """Vectors and positions in multiples of eight, for products that are added up over them."""
    return aligned(aligned(x, 1), -1)


def _merged_heads(
    attention: Attention, x: Float[Array, "example key width"], queries: int, coordinates: int, drop: Drop
):
    merged = attention.query
    if attention.key is not None:
        merged = jnp.einsum("hes,hfs->hef", attention.query, attention.key)
    query = _projected(x[:, -queries:], merged)
    pattern = _softmax(attention, _scores(query / _scale(attention), x[:, :, None]))
    mixed = jnp.einsum("bhqk,bke->bqhe", drop(pattern), x)
    merged = attention.value
    if attention.output is not None:
        merged = jnp.einsum("hei,hio->heo", merged, attention.output[:, :, :coordinates])
    return _written(mixed, merged[:, :, :coordinates]), pattern


def score_table(tables: Tables, attention: Attention) -> Float[Array, "head query token key token"]:
    """The score of every token at every query's position for every token at every key's."""
    if tables.key.shape[2] == 1:
        scores = jnp.einsum("qths,kus->hqtku", tables.query, tables.key[:, :, 0])
    else:
        scores = jnp.einsum("qths,kuhs->hqtku", tables.query, tables.key)
    if attention.positions.face is not None:
        faced = jax.vmap(lambda query: attention.faced(query, len(tables.key)), 1)(tables.query)
        scores = scores + jnp.moveaxis(faced, 0, 2)[..., None]
    shift = attention.shift(len(tables.query), len(tables.key))
    return scores if shift is None else scores + shift[:, :, None, :, None]


def value_table(
    tables: Tables, output: Float[Array, "head inner width"] | None, coordinates: int
) -> Float[Array, "key token head {coordinates}"]:
    """What every head writes of every token at every position, behind the output matrix."""
    if output is None:
        return tables.value
    return jnp.einsum("kthi,hio->ktho", tables.value, output[:, :, :coordinates])


def _projected(
    x: Float[Array, "example time width"], matrices: Float[Array, "head width part"]
) -> Float[Array, "example time head part"]:
    """One product of all rows with all heads' matrices side by side."""
    heads, _, part = matrices.shape
    return product(x, side_by_side(matrices)).reshape(*x.shape[:2], heads, part)


def side_by_side(matrices: Float[Array, "head width part"]) -> Float[Array, "width columns"]:
    """All heads' columns in one matrix."""
    return jnp.swapaxes(matrices, 0, 1).reshape(matrices.shape[1], -1)


def _written(
    mixed: Float[Array, "example query head inner"], output: Float[Array, "head inner width"]
) -> Float[Array, "example query width"]:
    """One product of all heads' mixtures with all output matrices on top of each other."""
    rows = mixed.reshape(*mixed.shape[:2], -1)
    return product(rows, output.reshape(rows.shape[-1], -1))


def _scores(
    query: Float[Array, "example query head score"], key: Float[Array, "example key #head score"]
) -> Float[Array, "example head query key"]:
    """A key without heads of its own answers all of them."""
    if key.shape[2] == 1:
        return jnp.einsum("bqhs,bks->bhqk", query, key[:, :, 0])
    return jnp.einsum("bqhs,bkhs->bhqk", query, key)


def _faced(
    attention: Attention,
    query: Float[Array, "example query head score"],
    scores: Float[Array, "example head query key"],
) -> Float[Array, "example head query key"]:
    """The scores with what the queries, scaled already, make of distances."""
    if attention.positions.face is None:
        return scores
    return scores + jax.vmap(lambda each: attention.faced(each, scores.shape[-1]))(query)


def _scale(attention: Attention) -> float:
    return math.sqrt(attention.query.shape[-1]) if attention.scaled else 1.0


def _softmax(
    attention: Attention, scores: Float[Array, "example head query key"]
) -> Float[Array, "example head query key"]:
    """The pattern of scores to which their distances are still to be added."""
    shift = attention.shift(*scores.shape[-2:])
    scores = scores if shift is None else scores + shift
    return jax.nn.softmax(jnp.where(causal_mask(*scores.shape[-2:]), scores, -jnp.inf))
