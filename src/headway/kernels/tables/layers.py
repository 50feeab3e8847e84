"""The transformer's layers for a batch: into the first layer, by tables or dense, and on to the logits."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PRNGKeyArray

from headway.kernels.cpu import attention as fused
from headway.kernels.cpu import dropped
from headway.kernels.products import embedded, product, through
from headway.kernels.tables.attention import (
    Drop,
    Heads,
    Tables,
    dense_heads,
    looked_up_heads,
    merging_pays,
    projected_heads,
    score_table,
    side_by_side,
    table_heads,
    value_table,
    written_by_value,
)
from headway.models.dropout import dropout
from headway.models.rows import Rows
from headway.models.transformer import Layer, Transformer

Keys = Key[Array, "example site"] | None
"""One key for every place of an example where dropout acts."""


def keys_of(model: Transformer, task: Rows, key: PRNGKeyArray, places: Int[Array, " batch"]) -> Keys:
    """The keys that the simple form would make, example by example and site by site."""

    keys = jax.vmap(lambda place: jax.random.fold_in(key, place))(places)
    if model.length != task.length:
        keys = jax.vmap(lambda key: jax.random.split(key, task.horizon))(keys).reshape(-1)
    return jax.vmap(lambda key: jax.random.split(key, model.sites))(keys)


def queries_of(model: Transformer, predicted: int) -> int:
    """How many of the first layer's positions are needed: those that predict, or all that a second block reads."""
    return predicted if len(model.layers) == 1 else model.length


def tables_of(model: Transformer, predicted: int) -> Tables:
    """Everything that enters and leaves the first layer's heads, for every token at every position."""
    every = jnp.broadcast_to(jnp.arange(model.vocab)[:, None], (model.vocab, model.length))
    x = jnp.swapaxes(jax.vmap(model.embed)(every), 0, 1)
    read = _before(model, model.layers[0], x)
    return table_heads(model.layers[0].attention, x, read, queries_of(model, predicted), _coordinates(model, 0))


def enter_fused(model: Transformer, tokens: Int[Array, "example length"], predicted: int):
    """As `enter` does, all examples in one call."""
    tables, attention = tables_of(model, predicted), model.layers[0].attention
    start = tables.x if model.settings.residual else jnp.zeros((*tables.x.shape[:2], _coordinates(model, 0)))
    values = value_table(tables, attention.output, _coordinates(model, 0))
    return fused.attend(score_table(tables, attention), values, start, tokens)


def enter(
    model: Transformer,
    tables: Tables | None,
    tokens: Int[Array, "example length"],
    predicted: int,
    keys: Keys,
    heads: Heads | None = None,
) -> tuple[Float[Array, "example query width"], Float[Array, "example head query key"] | None]:
    """What the first layer's heads write, on top of what they read if there is a residual; and their pattern."""
    attention, queries, coordinates = model.layers[0].attention, queries_of(model, predicted), _coordinates(model, 0)
    if tables is None and keys is not None and _sparse(model, queries):
        x, received, pattern = _sparse_heads(model, tokens, queries, keys)
    elif tables is None:
        x = _dropped(model, embedded(model, tokens), keys, 0)
        read, drop = _before(model, model.layers[0], x), drop_of(model, keys, 0)
        received, pattern = dense_heads(attention, read, queries, coordinates, drop, heads)
        x = x[:, -queries:]
    else:
        received, pattern = looked_up_heads(tables, attention, tokens, coordinates)
        x = tables.x[jnp.arange(queries), tokens[:, -queries:]]
    return _joined(model, x, received, keys, 1), pattern


def _sparse(model: Transformer, queries: int) -> bool:
    """Whether the heads' columns are taken from tables, less what fell."""
    attention = model.layers[0].attention
    merged = attention.key is None or merging_pays(attention, queries, model.length)
    return dropped.serves(model) and not merged


def _sparse_heads(model: Transformer, tokens: Int[Array, "example length"], queries: int, keys: Keys):
    """What the heads read at the queries, what they write, and their pattern."""
    attention, coordinates = model.layers[0].attention, _coordinates(model, 0)
    assert model.embedding is not None and attention.key is not None and keys is not None
    # What the encoding, which only adds, makes of nothing.
    places = model.placed(jnp.zeros((model.length, model.embedding.shape[1]), model.embedding.dtype))
    matrices = (attention.key, written_by_value(attention, coordinates), attention.query)
    rows = dropped.project(
        model.settings.dropout,
        model.embedding,
        places,
        [side_by_side(each) for each in matrices],
        tokens,
        keys[:, 0],
        queries,
    )
    key, value, query = (
        columns.reshape(*columns.shape[:2], len(matrix), -1)
        for columns, matrix in zip((rows.key, rows.value, rows.query), matrices, strict=True)
    )
    received, pattern = projected_heads(attention, query, key, value, coordinates, drop_of(model, keys, 0))
    return rows.stream, received, pattern


def leave(
    model: Transformer,
    x: Float[Array, "example query width"],
    predicted: int,
    keys: Keys,
    heads: Heads | None = None,
) -> tuple[Float[Array, "example {predicted} token"], list[Float[Array, "example head _ key"] | None]]:
    """From behind the first layer's heads to the logits, with the later layers' patterns."""
    patterns = []
    for number, layer in enumerate(model.layers):
        queries = predicted if number == len(model.layers) - 1 else model.length
        if number > 0:
            read, drop = _before(model, layer, x), drop_of(model, keys, number)
            received, pattern = dense_heads(layer.attention, read, queries, _coordinates(model, number), drop, heads)
            x = _joined(model, x[:, -queries:], received, keys, 2 * number + 1)
            patterns.append(pattern)
        x = layer.norms[0](x) if model.settings.norm == "post" else x
        if layer.mlp is not None:
            read = layer.norms[1](x) if model.settings.norm == "pre" else x
            out = through(layer.mlp, read)
            x = _joined(model, x, out, keys, 2 * number + 2)
            x = layer.norms[1](x) if model.settings.norm == "post" else x
    x = x if model.final_norm is None else model.final_norm(x)
    return (x[..., : model.vocab] if model.readout is None else product(x, model.readout)), patterns


def _coordinates(model: Transformer, number: int) -> int:
    """How much of the width is needed of what the heads write: the logits, if nothing comes after the heads."""
    settings, layer = model.settings, model.layers[number]
    plain = settings.norm == "none" and not settings.residual and layer.mlp is None and model.readout is None
    is_last = number == len(model.layers) - 1
    return model.vocab if plain and is_last else settings.stream(model.vocab, model.length)


def _dropped(model: Transformer, x: Float[Array, "example *shape"], keys: Keys, site: int):
    if keys is None:
        return x
    return jax.vmap(lambda x, key: dropout(x, model.settings.dropout, key))(x, keys[:, site])


def drop_of(model: Transformer, keys: Keys, number: int) -> Drop:
    """What dropout does to the attention of a layer, if it does."""
    if keys is None or not model.settings.attention_dropout:
        return Drop()
    return Drop(model.settings.dropout, keys[:, 2 * len(model.layers) + 1 + number])


def _before(model: Transformer, layer: Layer, x: Float[Array, "*rows width"]) -> Float[Array, "*rows width"]:
    """What the heads read."""
    return layer.norms[0](x) if model.settings.norm == "pre" else x


def _joined(
    model: Transformer, x: Float[Array, "example query width"], out: Float[Array, "..."], keys: Keys, site: int
) -> Float[Array, "..."]:
    """A branch with its dropout, on top of what it started from if there is a residual."""
    out = _dropped(model, out, keys, site)
    return x + out if model.settings.residual else out
