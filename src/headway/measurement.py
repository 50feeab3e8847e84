"""What is measured on the test sequences: excess loss, KL to every rung and reference, attention."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PyTree

from headway.kernels import Read
from headway.models.transformer import Transformer
from headway.tasks.markov import MarkovChain

CHUNK = 256
"""Sequences that are compared with the truth at a time: their distributions should stay in the cache."""


class Experience(NamedTuple):
    """What a member learns from and is measured on."""

    chain: MarkovChain
    training: Int[Array, "sample time"]
    test: Int[Array, "tested time"]
    opinions: Float[Array, "tested predicted opinion token"]
    """Log-probabilities of every rung, then of every reference; they stay the same while a model learns."""


def experience(
    read: Read,
    chain: MarkovChain,
    training: Int[Array, "sample time"],
    test: Int[Array, "tested time"],
    references: tuple[Transformer, ...],
) -> Experience:
    """The sequences, and what the rungs and the references say about those of the test."""
    said = [jax.nn.log_softmax(read(reference, test).logits)[:, :, None] for reference in references]
    opinions = jnp.concatenate([jax.vmap(chain.rungs)(test), *said], axis=2)
    return Experience(chain, training, test, opinions)


def divergence(reference: Float[Array, "*more token"], model: Float[Array, "*#more token"]) -> Float[Array, "*more"]:
    """KL(reference || model) of log-probabilities, in nats."""
    return jnp.sum(jnp.exp(reference) * (reference - model), axis=-1)


def measure(read: Read, model: Transformer, data: Experience) -> dict[str, Array]:
    """Means over the test sequences and the predicted positions."""
    reading = read(model, data.test)
    rungs = len(data.chain.features) + 1

    def one(example: tuple[Array, Array, Array]) -> dict[str, Array]:
        sequence, logits, opinions = example
        guess = jax.nn.log_softmax(logits)
        target = data.chain.targets(sequence)[:, None]
        surprise = jnp.take_along_axis(opinions[:, rungs - 1] - guess, target, axis=1)
        return {"excess_loss": jnp.mean(surprise), "kl": jnp.mean(divergence(opinions, guess[:, None]), axis=0)}

    means = mean_over(one, (data.test, reading.logits, data.opinions), CHUNK)
    measured = {
        "excess_loss": means["excess_loss"],
        "kl_rungs": means["kl"][:rungs],
        "attention": reading.pattern,
        "attention_by_lag": by_lag(reading.pattern),
    }
    return measured if len(means["kl"]) == rungs else {**measured, "kl_references": means["kl"][rungs:]}


def facts_of(data: Experience) -> dict[str, Array]:
    """What the test sequences say about the truth: its entropy and the excess loss of every rung."""
    rungs = len(data.chain.features) + 1

    def one(example: tuple[Array, Array]) -> dict[str, Array]:
        sequence, opinions = example
        said = jnp.take_along_axis(opinions[:, :rungs], data.chain.targets(sequence)[:, None, None], axis=2)[..., 0]
        return {
            "entropy": data.chain.entropy(sequence),
            "rung_excess": jnp.mean(said[:, -1:] - said, axis=0),
        }

    return mean_over(one, (data.test, data.opinions), CHUNK)


def by_lag(attention: Float[Array, "*layers query key"]) -> Float[Array, "*layers lag"]:
    """sum over keys at each lag, mean over queries; the queries are the last positions and lag 1 comes first."""
    queries, keys = attention.shape[-2:]
    key = (keys - queries + jnp.arange(queries))[:, None] - jnp.arange(keys)
    found = jnp.take_along_axis(attention, jnp.broadcast_to(jnp.maximum(key, 0), attention.shape), axis=-1)
    return jnp.mean(jnp.where(key >= 0, found, 0), axis=-2)


def mean_over(function, examples: PyTree, chunk: int):
    """Mean of `function` over the examples, a chunk at a time."""
    count = len(jax.tree.leaves(examples)[0])
    chunk = min(chunk, count)
    chunks = -(-count // chunk)
    missing = chunks * chunk - count

    def pieces(array):
        padded = jnp.concatenate([array, array[:missing]]) if missing else array
        return padded.reshape(chunks, chunk, *array.shape[1:])

    def total(piece):
        rows, counted = piece
        values = jax.vmap(function)(rows)
        return jax.tree.map(lambda v: jnp.tensordot(counted.astype(v.dtype), v, axes=1), values)

    real = (jnp.arange(chunks * chunk) < count).reshape(chunks, chunk)
    sums = jax.lax.map(total, (jax.tree.map(pieces, examples), real))
    return jax.tree.map(lambda v: jnp.sum(v, axis=0) / count, sums)
