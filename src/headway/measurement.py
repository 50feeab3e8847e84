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
    """Log-probabilities of every rung, of every reference and, where wanted, of every combination of blocks; they
    stay the same while a model learns."""


def experience(
    read: Read,
    chain: MarkovChain,
    training: Int[Array, "sample time"],
    test: Int[Array, "tested time"],
    references: tuple[Transformer, ...],
    subsets: bool = False,
) -> Experience:
    """The sequences, and what the rungs, the references and the combinations of blocks say about those of the test."""
    said = [jax.nn.log_softmax(read(reference, test).logits)[:, :, None] for reference in references]
    said += [jax.vmap(chain.subsets)(test)] if subsets else []
    opinions = jnp.concatenate([jax.vmap(chain.rungs)(test), *said], axis=2)
    return Experience(chain, training, test, opinions)


def divergence(reference: Float[Array, "*more token"], model: Float[Array, "*#more token"]) -> Float[Array, "*more"]:
    """KL(reference || model) of log-probabilities, in nats."""
    return jnp.sum(jnp.exp(reference) * (reference - model), axis=-1)


def measure(read: Read, model: Transformer, data: Experience, subsets: bool = False) -> dict[str, Array]:
    """Means over the test sequences and the predicted positions."""
    reading = read(model, data.test)
    rungs = len(data.chain.features) + 1

    def one(example: tuple[Array, Array, Array, Array]) -> dict[str, Array]:
        sequence, logits, opinions, half = example
        guess = jax.nn.log_softmax(logits)
        target = data.chain.targets(sequence)[:, None]
        surprise = jnp.mean(jnp.take_along_axis(opinions[:, rungs - 1] - guess, target, axis=1))
        divergences = jnp.mean(divergence(opinions, guess[:, None]), axis=0)
        return {"excess_loss": surprise, "excess_halves": half * surprise, "kl": divergences}

    halves = _halves(len(data.test), reading.logits.dtype)
    means = mean_over(one, (data.test, reading.logits, data.opinions, halves), CHUNK)
    kl = means.pop("kl")
    known = len(kl) - (2 ** (rungs - 1) if subsets else 0)
    measured = {
        **means,
        "kl_rungs": kl[:rungs],
        "attention": reading.pattern,
        "attention_by_lag": by_lag(reading.pattern),
    }
    if known > rungs:
        measured["kl_references"] = kl[rungs:known]
    if subsets:
        measured["kl_subsets"] = kl[known:]
    return measured


def _halves(count: int, dtype) -> Float[Array, "{count} 2"]:
    """What each sequence counts for in the mean over its half: one chooses by the even ones and reports the odd ones.

    A half without any sequence has the mean zero.
    """
    own = (jnp.arange(count)[:, None] % 2 == jnp.arange(2)).astype(dtype)
    return own * (count / jnp.maximum(jnp.sum(own, axis=0), 1))


def facts_of(data: Experience, subsets: bool = False) -> dict[str, Array]:
    """What the test sequences say about the truth: its entropy, the excess loss of every rung, and `kl_stageless`.

    kl_stageless[i] = min over s of KL(f_{1:i} || softmax(s z)), z the truth's logits: how near a learner comes to a
    rung that learns all blocks at once and only grows in confidence. `kl_stageless_subsets` is the same for every
    combination of blocks, where those are compared with.
    """
    rungs = len(data.chain.features) + 1
    confidence = jnp.linspace(0, 2, 81, dtype=data.opinions.dtype)

    def one(example: tuple[Array, Array]) -> dict[str, Array]:
        sequence, opinions = example
        truth, target = opinions[:, rungs - 1], data.chain.targets(sequence)[:, None, None]
        said = jnp.take_along_axis(opinions[:, :rungs], target, axis=2)[..., 0]
        return {
            "entropy": data.chain.entropy(sequence),
            "rung_excess": jnp.mean(said[:, -1:] - said, axis=0),
            "certainty": jnp.mean(jnp.sum(jnp.exp(opinions) * opinions, axis=-1), axis=0),
            "agreement": jnp.mean(jnp.sum(jnp.exp(opinions) * truth[:, None], axis=-1), axis=0),
            "normaliser": jnp.mean(jax.nn.logsumexp(confidence[:, None, None] * truth, axis=-1), axis=1),
        }

    means = mean_over(one, (data.test, data.opinions), CHUNK)
    certainty, agreement, normaliser = (means.pop(name) for name in ("certainty", "agreement", "normaliser"))
    kl = certainty - confidence[:, None] * agreement + normaliser[:, None]
    nearest = jnp.min(kl, axis=0)
    found = {**means, "kl_stageless": nearest[:rungs]}
    return {**found, "kl_stageless_subsets": nearest[-(2 ** (rungs - 1)) :]} if subsets else found


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
