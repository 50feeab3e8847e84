"""The loss and gradient of a full model that reads windows of a few tokens (an n-gram model), on an NVIDIA GPU.

A window has one query, so its heads' matrices are merged: no key or value is ever made.
Every array has a leading member axis.
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32

from headway.kernels.asked import Asked
from headway.kernels.cuda.front import WIDTH, filled, shared_stream, summed
from headway.kernels.cuda.full import behind_the_heads, fits
from headway.kernels.cuda.halves import evening, halved, lift_of, times
from headway.kernels.cuda.members import over_members
from headway.kernels.cuda.sizes import Sizes
from headway.kernels.cuda.tail import tail, tail_weights
from headway.kernels.cuda.window_attention import (
    MOST_LENGTH,
    WARPS,
    Dropout,
    Windows,
    add_last,
    last_rows,
    mix,
    mix_backward,
)
from headway.kernels.tables.layers import keys_of
from headway.kernels.windows import contexts_of, shares_of
from headway.models.dropout import words_of
from headway.models.rows import Rows
from headway.models.transformer import Transformer


class Merged(NamedTuple):
    """What enters the heads and what they are made of."""

    stream: Float[Array, "row width"]
    """Every token at every position; row = position * tokens + token."""
    scores: Float[Array, "width columns"]
    """Q_h K_h^T / sqrt(part) of all heads side by side."""
    values: Float[Array, "columns width"]
    """V_h O_h of all heads on top of each other."""


def covers(asked: Asked) -> bool:
    """Windows for a model with the full model's switches and sizes that fit the kernels."""
    return asked.windows and asked.reads <= MOST_LENGTH and asked.model.heads in WARPS and fits(asked)


def gradient(
    model: Transformer,
    task: Rows,
    sequences: Int[Array, "batch time"],
    weights: Float[Array, " batch"],
    key: PRNGKeyArray | None,
) -> tuple[Float[Array, ""], Transformer]:
    """sum_b w_b loss_b / sum_b w_b and its gradient; under vmap all members share the launches."""
    contexts, _ = contexts_of(model.length, task, sequences.astype(jnp.int32))
    even = evening(weights)
    given = model, contexts, even * shares_of(weights, task, len(contexts))
    if key is not None and model.settings.dropout > 0:
        keys = keys_of(model, task, key, jnp.arange(len(sequences)))
        assert keys is not None
        given = *given, jax.vmap(jax.vmap(words_of))(keys)
    return jax.tree.map(lambda each: each / even, _gradient(*given))


def _members_gradient(
    model: Transformer,
    contexts: Int[Array, "member window time"],
    shares: Float[Array, "member window"],
    words: UInt32[Array, "member window site 2"] | None = None,
) -> tuple[Float[Array, " member"], Transformer]:
    (members, count), tokens, settings = shares.shape, model.vocab, model.settings
    merged, back = jax.vjp(jax.vmap(_merged), model)
    noisy = words is not None
    if words is None:
        words = jnp.zeros((members, 1, 4, 2), jnp.uint32)
    sizes = Sizes(members, count, 1, 1, tokens, settings.heads, count if noisy else tokens, not noisy)
    rate, width = settings.dropout if noisy else 0.0, settings.stream(tokens, model.length)
    # The last site's bits: those of the attention, if it is dropped.
    of_heads = Dropout(words[:, :, -1], rate if settings.attention_dropout else 0.0)
    lift, (rows, scores, values) = lift_of(count), map(halved, merged)
    windows = Windows(sizes, rows, contexts, Dropout(words[:, :, 0], rate), of_heads, width)
    if noisy:
        last, asking = last_rows(windows)
        factors, places = (asking, scores), None
    else:  # all windows that end with the same token have the same row and ask the same
        last, asking, places = merged.stream[:, -tokens:], rows[:, -tokens:], contexts[:, :, -2, None]
        factors = last, merged.scores  # few, and what they meet is a sum over many windows: too large for float16

    multiply = jax.vmap(times)
    questions = multiply(asking, scores)
    pattern, mixed, kept = mix(windows, questions)
    attended = multiply(mixed, values)[:, :, None]
    targets = contexts[:, :, -1:]
    behind = tail(sizes, model, last, places, attended, targets, lift * shares, words[:, :, 1:3])
    d_values = summed(mixed[:, :, None], behind.d_attended)
    d_mixed = multiply(behind.d_attended[:, :, 0], jnp.swapaxes(values, 1, 2))
    d_stream, d_questions = mix_backward(windows, questions, pattern, kept, d_mixed)
    d_scores = summed(factors[0][:, :, None], d_questions[:, :, None])
    from_questions = jnp.matmul(d_questions, jnp.swapaxes(factors[1], 1, 2), preferred_element_type=jnp.float32)
    d_last = behind.d_stream.reshape(last.shape) + from_questions
    if noisy:
        d_stream = add_last(windows, d_stream, d_last)
    else:
        d_stream += jnp.pad(d_last, [(0, 0), (d_stream.shape[1] - tokens, 0), (0, 0)])
    (grads,) = back(Merged(*(each / lift for each in (d_stream, d_scores, d_values))))
    found = tail_weights(model, behind, lift)
    return jnp.sum(behind.losses, axis=(1, 2)) / lift, eqx.tree_at(behind_the_heads, grads, found)


_gradient = over_members(_members_gradient)


def _merged(model: Transformer) -> Merged:
    attention = model.layers[0].attention
    assert attention.key is not None and attention.output is not None
    heads, _, part = attention.query.shape
    scale = 1 / math.sqrt(part) if attention.scaled else 1.0
    scores = jnp.einsum("hes,hfs->ehf", scale * attention.query, attention.key)
    values = jnp.einsum("hei,hio->heo", attention.value, attention.output)
    return Merged(
        shared_stream(model),
        filled(scores, WIDTH, heads, WIDTH).reshape(WIDTH, heads * WIDTH),
        filled(values, heads, WIDTH, WIDTH).reshape(heads * WIDTH, WIDTH),
    )
