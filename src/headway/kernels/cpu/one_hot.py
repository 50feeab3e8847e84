"""The minimal model on the CPU: loss and gradient of a batch in one pass over its sequences.

The same numbers as `batch_gradient` of the cross-entropy gives, to float32 accuracy, from the fused
kernels in the files beside this one. A batch is cut into slices by its size alone and their sums are added in order:
neither the number of cores nor who took which slice changes a bit.
"""

import functools
import math
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Int32

from headway.kernels.cpu import room
from headway.kernels.cpu.one_hot_shape import BLOCK, Shape
from headway.kernels.cpu.register import register
from headway.kernels.windows import contexts_of, shares_of
from headway.models.attention import Attention
from headway.models.rows import Rows
from headway.models.transformer import Transformer

SLICE = 2500
"""Queries of a slice: enough for its own sums to cost little, few enough for threads to end together."""
SLICES = 16
"""At most: each has gradients of its own."""


def gradient(
    model: Transformer, task: Rows, sequences: Int[Array, "batch time"], weights: Float[Array, " batch"]
) -> tuple[Float[Array, ""], Transformer]:
    """sum_b w_b loss_b / sum_b w_b and its gradient, loss_b = mean over the predicted tokens of -log p(token)."""
    attention = model.layers[0].attention
    contexts, shape = _contexts(model, task, sequences)
    shares = shares_of(weights, task, len(contexts))
    tables = _score_table(attention, shape), _value_table(attention, shape)
    slices = _slices(len(contexts), shape)
    losses, scores, values, *_ = jax.ffi.ffi_call(
        _target("gradient", shape),
        (room(slices), *(room(slices, *table.shape) for table in tables), *_working_room(slices, shape)),
        vmap_method="sequential",
    )(contexts, shares.astype(jnp.float32), *tables)
    d, begin = shape.tokens, shape.token_room
    scores = _in_order(scores) * _scale(attention)
    query = jnp.concatenate([scores[..., :d], scores[..., begin : begin + shape.length]], axis=-1)
    value = _widened(_in_order(values)[..., :d], shape.width)
    parts = lambda tree: (tree.layers[0].attention.query, tree.layers[0].attention.value)  # noqa: E731
    return _in_order(losses), eqx.tree_at(parts, model, (query, value))


def read(
    model: Transformer, task: Rows, sequences: Int[Array, "batch time"]
) -> tuple[Float[Array, "batch predicted token"], Float[Array, "head query key"]]:
    """Logits of every predicted token, and the patterns' mean over the batch (of an n-gram model, over windows too)."""
    attention = model.layers[0].attention
    contexts, shape = _contexts(model, task, sequences)
    slices = _slices(len(contexts), shape)
    logits = jax.ShapeDtypeStruct((len(contexts), shape.queries, shape.tokens), jnp.float32)
    sums, logits, *_ = jax.ffi.ffi_call(
        _target("read", shape),
        (room(slices, shape.heads, shape.query_room, shape.key_room), logits, *_working_room(slices, shape)),
        vmap_method="sequential",
    )(contexts, _score_table(attention, shape), _value_table(attention, shape))
    pattern = _in_order(sums)[:, : shape.queries, : shape.length] / len(contexts)
    return logits.reshape(len(sequences), task.horizon, shape.tokens), pattern


def _contexts(
    model: Transformer, task: Rows, sequences: Int[Array, "batch time"]
) -> tuple[Int32[Array, "contexts tokens"], Shape]:
    contexts, queries = contexts_of(model.length, task, sequences)
    heads = model.layers[0].attention.query.shape[0]
    return contexts.astype(jnp.int32), Shape(heads, model.vocab, model.length, queries)


def _score_table(attention: Attention, shape: Shape) -> Float[Array, "head row column"]:
    """Scaled scores, with those of the positions on vectors of their own."""
    table, d = attention.query * _scale(attention), shape.tokens
    return jnp.concatenate(
        [_widened(table[..., :d], shape.token_room), _widened(table[..., d:], shape.key_room)], axis=-1
    )


def _value_table(attention: Attention, shape: Shape) -> Float[Array, "head row column"]:
    """The columns that reach the logits."""
    return _widened(attention.value[..., : shape.tokens], shape.token_room)


def _scale(attention: Attention) -> float:
    return 1 / math.sqrt(attention.query.shape[-1]) if attention.scaled else 1.0


def _widened(table: Float[Array, "head row column"], width: int) -> Float[Array, "head row {width}"]:
    """Zeros to the right."""
    return jnp.pad(table, [(0, 0), (0, 0), (0, width - table.shape[-1])])


def _slices(contexts: int, shape: Shape) -> int:
    return max(1, min(SLICES, contexts * shape.queries // SLICE))


def _in_order(parts: Float[Array, "slices *more"]) -> Float[Array, "*more"]:
    """The sum over slices, first to last: XLA's own sum takes another order when it has another number of cores."""
    return functools.reduce(jnp.add, parts)


def _working_room(slices: int, shape: Shape) -> tuple[jax.ShapeDtypeStruct, jax.ShapeDtypeStruct]:
    """What slices write and nobody reads; taking it from XLA costs nothing and cannot fail in the middle of a call."""
    places = jax.ShapeDtypeStruct((slices, BLOCK, shape.place_room), jnp.int32)
    return room(slices, shape.scratch), places


def _target(what: str, shape: Shape) -> str:
    """The name of the custom call, compiled when it is first wanted."""
    register(shape.name(what), lambda: work_of(what)(shape))
    return shape.name(what)


def work_of(what: str) -> Callable:
    """Makes what is asked for, for a shape."""
    # Late: numba takes a while to import, and a kernel that was kept needs none.
    from headway.kernels.cpu.one_hot_backward import gradient_work
    from headway.kernels.cpu.one_hot_forward import read_work

    return {"gradient": gradient_work, "read": read_work}[what]
