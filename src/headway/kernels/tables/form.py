"""The transformer for a whole batch: the first block from tables over (position, token), the others dense.

Without dropout, what the first block's heads ask, answer and write is a function of a token and its position
alone: length x tokens rows instead of one for every token of the batch.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray, PyTree

from headway.kernels.cpu import attention as on_cpu
from headway.kernels.tables.attention import Heads
from headway.kernels.tables.layers import Keys, enter, enter_fused, keys_of, leave, queries_of, tables_of
from headway.kernels.windows import contexts_of
from headway.models.positions import encoding
from headway.models.rows import Rows
from headway.models.transformer import Transformer
from headway.settings import ModelSettings


class BatchReading(NamedTuple):
    """Logits of every sequence and, layer by layer, where the heads looked in the mean over the sequences."""

    logits: Float[Array, "batch predicted token"]
    pattern: Float[Array, "layer head query key"]


class DenseKernels(NamedTuple):
    """What a GPU has for dense rows; where they do not serve a model they say so by None."""

    heads: Heads
    logits: Callable[[Transformer, Int[Array, "example length"], int, Keys], Array | None]
    """(model, tokens, predicted, keys) -> logits of all layers together."""
    evening: Callable[[Float[Array, " batch"]], Float[Array, ""]]
    """By what a mean with these weights is multiplied before its slopes are computed, and divided behind them."""


def serves(settings: ModelSettings) -> bool:
    """Whether the tables know such heads: causal, softmax, no biases, nothing emphasised, no codes dropped."""
    codes_dropped = settings.attention_dropout and settings.dropout > 0 and encoding(settings).face is not None
    plain = settings.attention == "softmax" and settings.causal and settings.emphasis == 1
    return plain and not (settings.biases or settings.edge_biases or codes_dropped)


def gradient(
    model: Transformer,
    task: Rows,
    sequences: Int[Array, "batch time"],
    weights: Float[Array, " batch"],
    key: PRNGKeyArray | None,
    chunk: int,
    dense: bool = False,
    kernels: DenseKernels | None = None,
) -> tuple[Float[Array, ""], Transformer]:
    """sum_b w_b loss_b / sum_b w_b and its gradient, `chunk` sequences at a time.

    The noise is that of the simple form: the same key drops the same coordinates. `dense` makes no tables, which suits
    GPUs: their products cost less than looking rows up and adding to them. `kernels` are those for dense rows.
    """
    noisy = key is not None and model.settings.dropout > 0
    total, even = jnp.sum(weights), None if kernels is None else kernels.evening(weights)
    contexts, predicted = _shown(model, task, sequences)
    tables = entered = spread = None
    tabled = not (noisy or dense)
    if tabled and on_cpu.serves(model, len(contexts), queries_of(model, predicted)):
        entered, spread = jax.vjp(lambda model: enter_fused(model, contexts, predicted)[0], model)
        entered = entered.reshape(len(sequences), -1, *entered.shape[1:])
    elif tabled:
        tables, spread = jax.vjp(lambda model: tables_of(model, predicted), model)

    def loss(shared, entered, sequences, weights, places):
        model, tables = shared
        keys = keys_of(model, task, key, places) if noisy and key is not None else None
        logits = None if kernels is None else kernels.logits(model, _shown(model, task, sequences)[0], predicted, keys)
        if logits is None:
            heads = None if kernels is None else kernels.heads
            if entered is None:
                entered, _ = enter(model, tables, _shown(model, task, sequences)[0], predicted, keys, heads)
            logits, _ = leave(model, entered.reshape(-1, *entered.shape[-2:]), predicted, keys, heads)
        logits = logits.reshape(len(sequences), task.horizon, -1)
        targets = sequences[:, task.start :, None]
        # Not a look-up, whose gradient would be added number by number.
        own = jnp.sum(jnp.where(targets == jnp.arange(model.vocab), logits, 0), axis=-1)
        surprise = jax.nn.logsumexp(logits, axis=-1) - own
        value = jnp.sum(weights / total * jnp.mean(surprise, axis=1))
        return value if even is None else even * value

    def add(carry, piece):
        value, (shared, own) = jax.value_and_grad(loss, argnums=(0, 1))((model, tables), *piece)
        return jax.tree.map(jnp.add, carry, (value, shared)), own

    pieces = _pieces(chunk, (entered, sequences, weights, jnp.arange(len(weights))))
    nothing = (jnp.zeros((), weights.dtype), jax.tree.map(jnp.zeros_like, (model, tables)))
    (value, (grads, of_tables)), own = jax.lax.scan(add, nothing, pieces)
    if even is not None:
        value, grads = jax.tree.map(lambda each: each / even, (value, grads))
    if spread is None:
        return value, grads
    if tables is None:
        of_tables = own.reshape(-1, *own.shape[-2:])[: len(contexts)]
    return value, jax.tree.map(jnp.add, grads, spread(of_tables)[0])


def read(model: Transformer, task: Rows, sequences: Int[Array, "batch time"], chunk: int) -> BatchReading:
    """Logits at every predicted position and the mean pattern at the same positions, `chunk` sequences at a time.

    As in the simple form, an n-gram model's pattern is the mean over its windows, with one row.
    """
    real = jnp.ones(len(sequences), jax.tree.leaves(model)[0].dtype)
    contexts, predicted = _shown(model, task, sequences)
    tables = entered = pattern = None
    if on_cpu.serves(model, len(contexts), queries_of(model, predicted)):
        entered, pattern = enter_fused(model, contexts, predicted)
        entered = entered.reshape(len(sequences), -1, *entered.shape[1:])
    else:
        tables = tables_of(model, predicted)

    def piece(rows):
        entered, sequences, real = rows
        contexts, _ = _shown(model, task, sequences)
        first = []
        if entered is None:
            entered, pattern = enter(model, tables, contexts, predicted, None)
            first = [pattern]
        logits, patterns = leave(model, entered.reshape(-1, *entered.shape[-2:]), predicted, None)
        counted = jnp.repeat(real, len(contexts) // len(sequences))
        looked = [
            jnp.einsum("b,bhqk->hqk", counted, each[:, :, -predicted:]) for each in first + patterns if each is not None
        ]
        return logits.reshape(len(sequences), task.horizon, -1), looked

    logits, looked = jax.lax.map(piece, _pieces(chunk, (entered, sequences, real)))
    looked = [jnp.sum(each, axis=0) / len(contexts) for each in looked]
    if pattern is not None:
        looked = [jnp.mean(pattern, axis=0)[:, -predicted:], *looked]
    return BatchReading(logits.reshape(-1, *logits.shape[2:])[: len(sequences)], jnp.stack(looked))


def _shown(model: Transformer, task: Rows, sequences: Int[Array, "batch time"]):
    """What the model reads, and how many of its last positions predict."""
    contexts, predicted = contexts_of(model.length, task, sequences)
    return contexts[:, :-1], predicted


def _pieces(chunk: int, arrays: PyTree) -> PyTree:
    """Whole chunks, filled up with zeros: a sequence that only fills has the weight zero."""

    def cut(array):
        chunks = -(-len(array) // chunk)
        missing = jnp.zeros((chunks * chunk - len(array), *array.shape[1:]), array.dtype)
        return jnp.concatenate([array, missing]).reshape(chunks, chunk, *array.shape[1:])

    return jax.tree.map(cut, arrays)
