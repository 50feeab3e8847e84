"""What is measured on the test sequences: excess loss, KL to every rung and reference, attention."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from headway.models.transformer import Transformer
from headway.prediction import log_probabilities, predict
from headway.settings import TaskSettings
from headway.tasks.markov import MarkovChain


class Experience(NamedTuple):
    """What a member learns from and is measured on."""

    chain: MarkovChain
    training: Int[Array, "sample time"]
    test: Int[Array, "sample time"]
    references: tuple[Transformer, ...]


def divergence(reference: Float[Array, "*more token"], model: Float[Array, "*#more token"]) -> Float[Array, "*more"]:
    """KL(reference || model) of log-probabilities, in nats."""
    return jnp.sum(jnp.exp(reference) * (reference - model), axis=-1)


def measure(model: Transformer, task: TaskSettings, data: Experience, chunk: int) -> dict[str, Array]:
    """Means over the test sequences and the predicted positions."""

    def one(sequence: Int[Array, " time"]) -> dict[str, Array]:
        reading = predict(model, task, sequence)
        guess = jax.nn.log_softmax(reading.logits)
        rungs = data.chain.rungs(sequence)
        target = data.chain.targets(sequence)[:, None]
        surprise = jnp.take_along_axis(rungs[:, -1] - guess, target, axis=1)
        rows = reading.logits.shape[0] if model.length == task.length else 1
        measured = {
            "excess_loss": jnp.mean(surprise),
            "kl_rungs": jnp.mean(divergence(rungs, guess[:, None]), axis=0),
            "attention": jnp.stack([heads.pattern[:, -rows:] for heads in reading.heads]),
        }
        if data.references:
            known = [log_probabilities(reference, task, sequence) for reference in data.references]
            measured["kl_references"] = jnp.mean(divergence(jnp.stack(known, axis=1), guess[:, None]), axis=0)
        return measured

    means = mean_over(one, data.test, chunk)
    return {**means, "attention_by_lag": by_lag(means["attention"])}


def test_facts(data: Experience, task: TaskSettings) -> dict[str, Array]:
    """What the test sequences say about the truth: its entropy and the excess loss of every rung."""

    def one(sequence: Int[Array, " time"]) -> dict[str, Array]:
        rungs = data.chain.rungs(sequence)
        surprise = -jnp.take_along_axis(rungs, data.chain.targets(sequence)[:, None, None], axis=2)[..., 0]
        return {
            "entropy": data.chain.entropy(sequence),
            "rung_excess": jnp.mean(surprise - surprise[:, -1:], axis=0),
        }

    return mean_over(one, data.test, chunk=min(len(data.test), 256))


def by_lag(attention: Float[Array, "*layers query key"]) -> Float[Array, "*layers lag"]:
    """sum over keys at each lag, mean over queries; the queries are the last positions and lag 1 comes first."""
    queries, keys = attention.shape[-2:]
    key = (keys - queries + jnp.arange(queries))[:, None] - jnp.arange(keys)
    found = jnp.take_along_axis(attention, jnp.broadcast_to(jnp.maximum(key, 0), attention.shape), axis=-1)
    return jnp.mean(jnp.where(key >= 0, found, 0), axis=-2)


def mean_over(function, sequences: Int[Array, "sample time"], chunk: int):
    """Mean of `function` over the sequences, a chunk at a time."""
    chunk = min(chunk, len(sequences))
    chunks = -(-len(sequences) // chunk)
    missing = chunks * chunk - len(sequences)
    padded = jnp.concatenate([sequences, sequences[:missing]]) if missing else sequences
    real = jnp.arange(chunks * chunk) < len(sequences)

    def total(piece):
        rows, counted = piece
        values = jax.vmap(function)(rows)
        return jax.tree.map(lambda v: jnp.tensordot(counted.astype(v.dtype), v, axes=1), values)

    pieces = (padded.reshape(chunks, chunk, -1), real.reshape(chunks, chunk))
    sums = jax.lax.map(total, pieces)
    return jax.tree.map(lambda v: jnp.sum(v, axis=0) / len(sequences), sums)
