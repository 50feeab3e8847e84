"""The straightforward JAX version: one sequence, `vmap`, `value_and_grad`, optax, `jit`.

Dense one-hot vectors, plain products, all positions computed (of the minimal model's values the columns that become
logits), the last T logits taken for the loss; no chunks, no tables.
Dropout draws its masks with `jax.random.bernoulli`.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from benchmarks.bench.contestant import Contestant
from benchmarks.bench.rivals import HEAD, MLP, NORMS, Arrays, Rival
from headway.tasks.run import Settings

Weights = dict[str, Array]


def minimal_logits(
    weights: Weights, settings: Settings, tokens: Int[Array, " time"], key: PRNGKeyArray | None
) -> Float[Array, "time token"]:
    """x = (one-hot token, one-hot position); out = sum_h softmax(x A_h x^T) x V_h, of which the first d are logits."""
    d, length = settings.task.vocab, settings.task.reads
    x = jnp.concatenate([jax.nn.one_hot(tokens, d), jnp.eye(length)], axis=1)
    scores = jnp.einsum("qe,hef,kf->hqk", x, weights[f"{HEAD}query"], x)
    scores = scores / math.sqrt(x.shape[-1]) if settings.model.scaled_scores else scores
    values = jnp.einsum("ke,heo->hko", x, weights[f"{HEAD}value"][..., :d])
    return jnp.einsum("hqk,hko->qo", _attention(scores), values)


def full_logits(
    weights: Weights, settings: Settings, tokens: Int[Array, " time"], key: PRNGKeyArray | None
) -> Float[Array, "time token"]:
    """Embedding + positions, attention, add & norm, ReLU layer, add & norm, readout."""
    rate = settings.model.dropout
    keys = [None] * 3 if key is None else jax.random.split(key, 3)
    x = _dropout(weights[".embedding"][tokens] + weights[".positions"], rate, keys[0])
    queries, keys_, values = (jnp.einsum("te,hes->hts", x, weights[HEAD + n]) for n in ("query", "key", "value"))
    scores = jnp.einsum("hqs,hks->hqk", queries, keys_) / math.sqrt(queries.shape[-1])
    mixed = jnp.einsum("hqk,hki->hqi", _attention(scores), values)
    out = jnp.einsum("hqi,hio->qo", mixed, weights[f"{HEAD}output"])
    x = _norm(x + _dropout(out, rate, keys[1]), weights, NORMS[0])
    hidden = jax.nn.relu(x @ weights[f"{MLP}inner"] + weights[f"{MLP}inner_bias"])
    out = hidden @ weights[f"{MLP}outer"] + weights[f"{MLP}outer_bias"]
    x = _norm(x + _dropout(out, rate, keys[2]), weights, NORMS[1])
    return x @ weights[".readout"]


def _attention(scores: Float[Array, "head query key"]) -> Float[Array, "head query key"]:
    causal = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jax.nn.softmax(jnp.where(causal, scores, -jnp.inf))


def _norm(x: Float[Array, "time width"], weights: Weights, name: str) -> Float[Array, "time width"]:
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * weights[f"{name}scale"] + weights[f"{name}shift"]


def _dropout(x: Float[Array, "time width"], rate: float, key: PRNGKeyArray | None) -> Float[Array, "time width"]:
    if key is None or rate == 0:
        return x
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0)


def plain_jax(settings: Settings, weights: Arrays, sequences: np.ndarray, steps: int) -> Rival:
    """One compiled step, called in a loop; the epochs are shuffled on the host."""
    task, training = settings.task, settings.training
    logits = minimal_logits if settings.model.embedding == "one-hot" else full_logits
    method = optax.chain(
        optax.clip_by_global_norm(training.clip),
        optax.adamw(training.learning_rate, 0.9, 0.999, 1e-8, weight_decay=training.weight_decay),
    )
    matmul = "tensorfloat32" if training.precision == "tf32" else "highest"

    def loss(weights: Weights, batch: Int[Array, "batch time"], key: PRNGKeyArray | None) -> Float[Array, ""]:
        if key is None:
            out = jax.vmap(lambda x: logits(weights, settings, x, None))(batch[:, :-1])
        else:
            keys = jax.random.split(key, len(batch))
            out = jax.vmap(lambda x, k: logits(weights, settings, x, k))(batch[:, :-1], keys)
        last = out[:, -task.horizon :]
        return optax.softmax_cross_entropy_with_integer_labels(last, batch[:, -task.horizon :]).mean()

    @jax.jit
    def step(weights: Weights, state: optax.OptState, batch: Int[Array, "batch time"], key: PRNGKeyArray):
        noise, key = jax.random.split(key)
        value, grads = jax.value_and_grad(loss)(weights, batch, noise if settings.model.dropout else None)
        updates, state = method.update(grads, state, weights)
        return optax.apply_updates(weights, updates), state, key, value

    held: dict[str, Any] = {name: jnp.asarray(array) for name, array in weights.items()}
    carry = (held, method.init(held), jax.random.key(0))
    rows = jnp.asarray(sequences)
    generator = np.random.default_rng(0)
    waiting: list[np.ndarray] = []

    def advance() -> np.ndarray:
        nonlocal carry
        losses = []
        with jax.default_matmul_precision(matmul):
            for _ in range(steps):
                if not waiting:
                    order = generator.permutation(len(rows))
                    waiting.extend(order[i : i + training.batch] for i in range(0, len(order), training.batch))
                weights, state, key = carry
                weights, state, key, value = step(weights, state, rows[waiting.pop(0)], key)
                carry = (weights, state, key)
                losses.append(value)
            jax.block_until_ready(carry)
        return np.asarray(losses)[None]

    def gradient(batch: np.ndarray) -> tuple[float, dict[str, np.ndarray]]:
        with jax.default_matmul_precision("highest"):
            value, grads = jax.jit(jax.value_and_grad(loss))(carry[0], jnp.asarray(batch), None)
        return float(value), {name: np.asarray(array) for name, array in grads.items()}

    return Rival(Contestant("jax", 1, steps, advance), gradient, dict)
