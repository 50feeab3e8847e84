"""The full model's loss and gradient on an NVIDIA GPU: large products by the library, all between them fused.

Every array has a leading member axis.
"""

import functools
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32

from headway.kernels.asked import Asked
from headway.kernels.cuda.attention import MOST_COLUMNS, MOST_LENGTH, Heads, attend, attend_backward
from headway.kernels.cuda.front import WIDTH, columns_of, filled, own_front, shared_front, summed
from headway.kernels.cuda.halves import evening, halved, lift_of, times
from headway.kernels.cuda.launch import shared_limit, usable
from headway.kernels.cuda.members import over_members
from headway.kernels.cuda.sizes import Sizes
from headway.kernels.cuda.tail import HIDDEN, MOST_TOKENS, tail, tail_bytes, tail_weights
from headway.models.dropout import words_of
from headway.models.rows import Rows
from headway.models.transformer import Transformer
from headway.presets import FULL

IN_THE_STREAM = ("learned", "one-hot", "sinusoidal", "none")
"""Positions that ask nothing of the scores: what they say, the embedding says."""


FREE = (
    *("heads", "embedding", "positions", "width", "mlp", "scaled_scores"),
    *("dropout", "attention_dropout", "initialisation", "scale"),
)
"""What the kernels leave open of the full model's switches."""


def covers(asked: Asked) -> bool:
    """Whole sequences, with sizes that fit the kernels of the heads and what follows them."""
    return (
        not asked.windows
        and asked.reads <= MOST_LENGTH
        and asked.model.stream(asked.vocab, asked.reads) // asked.model.heads <= MOST_COLUMNS
        and fits(asked)
    )


def fits(asked: Asked) -> bool:
    """One layer with the full model's switches in TF32, with sizes that fit the kernel behind the heads."""
    model = asked.model
    switches = replace(FULL, **{name: getattr(model, name) for name in FREE})
    return (
        model == switches
        and model.positions in IN_THE_STREAM
        and asked.precision == "tf32"
        and WIDTH // 2 < model.stream(asked.vocab, asked.reads) <= WIDTH
        and 0 < model.mlp <= HIDDEN
        and asked.vocab <= MOST_TOKENS
        and usable()
        and shared_limit() >= tail_bytes(asked.vocab)
    )


def gradient(
    model: Transformer,
    task: Rows,
    sequences: Int[Array, "batch time"],
    weights: Float[Array, " batch"],
    key: PRNGKeyArray | None,
) -> tuple[Float[Array, ""], Transformer]:
    """sum_b w_b loss_b / sum_b w_b and its gradient; under vmap all members share the launches."""
    even = evening(weights)
    given = model, sequences.astype(jnp.int32), even * weights / (jnp.sum(weights) * task.horizon)
    if key is not None and model.settings.dropout > 0:
        given = *given, jax.random.key_data(key)
    return jax.tree.map(lambda each: each / even, _gradient(task.horizon)(*given))


@functools.cache
def _gradient(queries: int):
    return over_members(functools.partial(_members_gradient, queries))


def _members_gradient(
    queries: int,
    model: Transformer,
    sequences: Int[Array, "member batch time"],
    shares: Float[Array, "member batch"],
    key_data: UInt32[Array, "member word"] | None = None,
) -> tuple[Float[Array, " member"], Transformer]:
    members, batch = shares.shape
    layer, length, tokens = model.layers[0], model.length, model.vocab
    assert layer.mlp is not None and layer.attention.output is not None and model.readout is not None
    noisy, lift = key_data is not None, lift_of(batch * queries)
    read = sequences[:, :, :-1]
    if key_data is None:
        words = jnp.zeros((members, 1, 4, 2), jnp.uint32)
        front = shared_front(model, read, lift)
    else:
        keys = jax.vmap(lambda data: _site_keys(jax.random.wrap_key_data(data), batch, model.sites))(key_data)
        words = jax.vmap(jax.vmap(jax.vmap(words_of)))(keys)
        front = own_front(model, read, words[:, :, 0], queries, lift)
    heads, columns = layer.attention.query.shape[1], columns_of(layer.attention)
    sizes = Sizes(members, batch, length, queries, tokens, heads, front.projected.shape[1], not noisy)

    # The last site's bits: those of the attention, if it is dropped.
    rate, of_heads = (model.settings.dropout if noisy and model.settings.attention_dropout else 0.0), words[:, :, -1]
    reading = Heads(sizes, columns, front.projected, front.places, of_heads, rate)
    heads_out, normaliser = attend(reading)
    output = filled(layer.attention.output, members, heads, columns.value, WIDTH).reshape(members, -1, WIDTH)
    attended = jax.vmap(times)(heads_out, halved(output))
    answers = sequences[:, :, -queries:], lift * shares
    behind = tail(sizes, model, front.stream, front.places, attended, *answers, words[:, :, 1:3])
    d_output = summed(heads_out, behind.d_attended).reshape(members, heads, columns.value, WIDTH) / lift
    d_heads_out = jax.vmap(times)(behind.d_attended, halved(jnp.swapaxes(output, 1, 2)))
    grads = front.back(behind.d_stream, attend_backward(reading, d_heads_out, normaliser).projected)
    inner, width = layer.attention.output.shape[2:]
    found = (d_output[:, :, :inner, :width], *tail_weights(model, behind, lift))
    return jnp.sum(behind.losses, axis=(1, 2)) / lift, eqx.tree_at(_behind_the_front, grads, found)


def _behind_the_front(model: Transformer) -> tuple:
    """The weights that come after queries, keys and values."""
    return model.layers[0].attention.output, *behind_the_heads(model)


def behind_the_heads(model: Transformer) -> tuple:
    """The weights that come after the output matrix, as `tail_weights` has them."""
    layer = model.layers[0]
    assert layer.mlp is not None
    mlp, (first, second) = layer.mlp, layer.norms
    of_mlp = mlp.inner, mlp.inner_bias, mlp.outer, mlp.outer_bias
    return *of_mlp, first.scale, first.shift, second.scale, second.shift, model.readout


def _site_keys(key: PRNGKeyArray, batch: int, sites: int):
    """The keys that the simple form would make: for every sequence those of all places where dropout acts."""
    return jax.vmap(lambda place: jax.random.split(jax.random.fold_in(key, place), sites))(jnp.arange(batch))
