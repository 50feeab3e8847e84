"""The full model's loss and gradient on an NVIDIA GPU: large products by the library, all between them fused.

Every array has a leading member axis.
"""

import functools
from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32

from headway.kernels.cuda.front import WIDTH, Front, filled, own_front, part_of, shared_front
from headway.kernels.cuda.launch import call, multiprocessors, shared_limit, usable
from headway.models.attention import Attention
from headway.models.transformer import MLP, Block, Norm, Transformer
from headway.presets import FULL
from headway.settings import Settings, TaskSettings

HIDDEN, MOST_TOKENS, MOST_LENGTH, MOST_QUERIES, MOST_PART = 64, 56, 32, 24, 96
TILE_FLOATS = 32 * (260 + 68)
PIECES = 16
"""Parts that a sum over all positions is cut into, so that the library's product fills the device."""


def covers(settings: Settings) -> bool:
    """One block with the full model's switches in TF32, with sizes that fit the kernels; no windows."""
    model, task = settings.model, settings.task
    free = ("heads", "embedding", "positions", "width", "mlp", "scaled_scores", "dropout", "initialisation", "scale")
    switches = replace(FULL, **{name: getattr(model, name) for name in free})
    width = model.stream(task.tokens, settings.length)
    return (
        model == switches
        and settings.context is None
        and settings.training.precision == "tf32"
        and WIDTH // 2 < width <= WIDTH
        and 0 < model.mlp <= HIDDEN
        and task.tokens <= MOST_TOKENS
        and task.length <= MOST_LENGTH
        and task.horizon <= MOST_QUERIES
        and width // model.heads <= MOST_PART
        and usable()
        and shared_limit() >= _tail_bytes(task.tokens)
    )


def gradient(
    model: Transformer,
    task: TaskSettings,
    sequences: Int[Array, "batch time"],
    weights: Float[Array, " batch"],
    key: PRNGKeyArray | None,
) -> tuple[Float[Array, ""], Transformer]:
    """sum_b w_b loss_b / sum_b w_b and its gradient; under vmap all members share the launches."""
    shares = weights / (jnp.sum(weights) * task.horizon)
    if key is None or model.settings.dropout == 0:
        return _gradient(task.horizon)(model, sequences.astype(jnp.int32), shares)
    return _gradient(task.horizon)(model, sequences.astype(jnp.int32), shares, jax.random.key_data(key))


@functools.cache
def _gradient(queries: int):
    """The computation for one member, which knows how to serve many."""

    @jax.custom_batching.custom_vmap
    def one(*arguments):
        stacked = jax.tree.map(lambda leaf: leaf[None], arguments)
        return jax.tree.map(lambda leaf: leaf[0], _members_gradient(queries, *stacked))

    @one.def_vmap
    def many(members, batched, *arguments):
        def spread(leaf, own):
            return leaf if own else jnp.broadcast_to(leaf, (members, *leaf.shape))

        result = _members_gradient(queries, *jax.tree.map(spread, arguments, tuple(batched)))
        return result, jax.tree.map(lambda _: True, result)

    return one


class Sizes(NamedTuple):
    """What the kernels are compiled for."""

    members: int
    batch: int
    length: int
    queries: int
    tokens: int
    heads: int
    part: int
    rows: int
    shared_rows: bool

    @property
    def blocks(self) -> int:
        """Per member: together one for every multiprocessor."""
        return max(1, multiprocessors() // self.members)

    @property
    def macros(self) -> dict[str, int | str]:
        names = ("batch", "length", "queries", "rows", "shared_rows", "blocks")
        return {name.upper(): int(getattr(self, name)) for name in names}

    def array(self, *shape: int) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct((self.members, *shape), jnp.float32)


def _members_gradient(
    queries: int,
    model: Transformer,
    sequences: Int[Array, "member batch time"],
    shares: Float[Array, "member batch"],
    key_data: UInt32[Array, "member word"] | None = None,
) -> tuple[Float[Array, " member"], Transformer]:
    members, batch = shares.shape
    block, length, tokens = model.blocks[0], model.length, model.tokens
    assert block.mlp is not None and block.attention.output is not None and model.readout is not None
    noisy = key_data is not None
    if key_data is None:
        front, back = jax.vjp(jax.vmap(shared_front), model)
        places = jnp.arange(length) * tokens + sequences[:, :, :-1]
        words = jnp.zeros((members, 1), jnp.uint32)
    else:
        keys = jax.vmap(lambda data: _site_keys(jax.random.wrap_key_data(data), batch))(key_data)
        front, back = jax.vjp(lambda model: jax.vmap(own_front)(model, sequences[:, :, :-1], keys[:, :, 0]), model)
        places = jnp.broadcast_to(jnp.arange(batch * length).reshape(batch, length), (members, batch, length))
        words = jax.vmap(jax.vmap(jax.vmap(lambda key: jax.random.bits(key, (2,), jnp.uint32))))(keys[:, :, 1:])
    places = places.astype(jnp.int32)
    heads, part = block.attention.query.shape[1], part_of(block.attention)
    sizes = Sizes(members, batch, length, queries, tokens, heads, part, front.stream.shape[1], not noisy)

    heads_out, normaliser = _attend(sizes, front, places)
    output = filled(block.attention.output, members, heads, part, WIDTH).reshape(members, heads * part, WIDTH)
    attended = jnp.einsum("mbqi,mio->mbqo", heads_out, output)
    tail = _tail(sizes, model, front, places, attended, sequences[:, :, -queries:], shares, words)
    d_output = _summed(heads_out, tail.d_attended).reshape(members, heads, part, WIDTH)
    d_heads_out = jnp.einsum("mbqo,mio->mbqi", tail.d_attended, output)
    d_projected = _attend_backward(sizes, front, places, d_heads_out, normaliser)
    d_stream = tail.d_stream
    if noisy:  # positions that predict nothing have no residual of their own
        d_stream = jnp.pad(d_stream, [(0, 0), (0, 0), (length - queries, 0), (0, 0)]).reshape(front.stream.shape)
    (grads,) = back(Front(d_stream, d_projected))
    d_attention = grads.blocks[0].attention
    inner, width = block.attention.output.shape[2:]
    d_attention = Attention(
        d_attention.query, d_attention.key, d_attention.value, d_output[:, :, :inner, :width], block.attention.scaled
    )
    d_mlp, norms, d_readout = _tail_weights(model, tail)
    whole = Transformer(
        grads.embedding,
        grads.positions,
        (Block(d_attention, d_mlp, norms),),
        None,
        d_readout,
        model.settings,
        tokens,
        length,
    )
    return jnp.sum(tail.losses, axis=(1, 2)), whole


def _site_keys(key: PRNGKeyArray, batch: int):
    """The keys that the simple form would make: for every sequence the embedding's and the two branches'."""
    return jax.vmap(lambda place: jax.random.split(jax.random.fold_in(key, place), 3))(jnp.arange(batch))


def _attend(sizes: Sizes, front: Front, places: Int[Array, "member batch length"]):
    floats = (sizes.queries + 64) * (sizes.part + 4) + 32
    pairs = min(7, shared_limit() // (4 * floats))
    return call(
        "attention.cu",
        "attention_forward",
        {**sizes.macros, "HEADS": sizes.heads, "PART": sizes.part, "PAIRS": pairs},
        (front.projected, places),
        (
            sizes.array(sizes.batch, sizes.queries, sizes.heads * sizes.part),
            sizes.array(sizes.batch, sizes.heads, 32),
        ),
        blocks=sizes.members * sizes.blocks,
        threads=64 * pairs,
        shared_bytes=4 * pairs * floats,
    )


def _attend_backward(sizes: Sizes, front: Front, places, slope, normaliser):
    stride = sizes.part + 4
    floats = 80 * stride + max(32 * stride, 24 * 36) + 32 + 48
    pairs = min(7, shared_limit() // (4 * floats))
    start = (jnp.zeros_like(front.projected),) if sizes.shared_rows else ()
    (gradient,) = call(
        "attention.cu",
        "attention_backward",
        {**sizes.macros, "HEADS": sizes.heads, "PART": sizes.part, "PAIRS": pairs},
        (front.projected, places, slope, normaliser, *start),
        (sizes.array(*front.projected.shape[1:]),),
        blocks=sizes.members * sizes.blocks,
        threads=64 * pairs,
        shared_bytes=4 * pairs * floats,
        in_place={4: 0} if start else {},
    )
    return gradient


class Tail(NamedTuple):
    """What the kernel behind the heads leaves, in the order of its results; positions are `batch query`."""

    d_stream: Array
    d_attended: Array
    normed: Array
    hidden: Array
    d_hidden: Array
    d_outer: Array
    final: Array
    d_logits: Array
    row_sums: Array
    losses: Array


def _tail(sizes: Sizes, model: Transformer, front: Front, places, attended, targets, shares, words) -> Tail:
    block = model.blocks[0]
    assert block.mlp is not None
    positions = sizes.batch, sizes.queries
    answers = _answers(sizes.tokens)
    rate = 0.0 if sizes.shared_rows else model.settings.dropout
    macros = {"WIDTH": block.mlp.inner.shape[1], "TOKENS": sizes.tokens, "KEPT": f"{1 / (1 - rate):.9g}f"}
    start = (jnp.zeros_like(front.stream),) if sizes.shared_rows else ()
    matrices = _tail_matrices(model)
    results = Tail(
        d_stream=sizes.array(sizes.rows, WIDTH) if start else sizes.array(*positions, WIDTH),
        d_attended=sizes.array(*positions, WIDTH),
        normed=sizes.array(*positions, WIDTH),
        hidden=sizes.array(*positions, HIDDEN),
        d_hidden=sizes.array(*positions, HIDDEN),
        d_outer=sizes.array(*positions, WIDTH),
        final=sizes.array(*positions, WIDTH),
        d_logits=sizes.array(*positions, answers),
        row_sums=sizes.array(sizes.blocks, 3, WIDTH),
        losses=sizes.array(sizes.blocks, 8),
    )
    return Tail(
        *call(
            "tail.cu",
            "tail_gradient",
            {**sizes.macros, **macros, "DROPPED": f"{round(rate * 2**32)}u"},
            (attended, front.stream, places, targets, shares, *matrices, _tail_vectors(model), words, *start),
            results,
            blocks=sizes.members * sizes.blocks,
            threads=256,
            shared_bytes=_tail_bytes(sizes.tokens),
            in_place={10: 0} if start else {},
        )
    )


def _tail_matrices(model: Transformer) -> tuple[Array, Array, Array]:
    mlp, readout = model.blocks[0].mlp, model.readout
    assert mlp is not None and readout is not None
    members = len(readout)
    return (
        filled(mlp.inner, members, WIDTH, HIDDEN),
        filled(mlp.outer, members, HIDDEN, WIDTH),
        filled(readout, members, WIDTH, _answers(model.tokens)),
    )


def _tail_vectors(model: Transformer) -> Float[Array, "member 6 width"]:
    block = model.blocks[0]
    assert block.mlp is not None
    first, second = block.norms
    vectors = (first.scale, first.shift, second.scale, second.shift, block.mlp.outer_bias, block.mlp.inner_bias)
    return jnp.stack([filled(vector, len(vector), WIDTH) for vector in vectors], axis=1)


def _tail_weights(model: Transformer, tail: Tail) -> tuple[MLP, tuple[Norm, Norm], Array]:
    """The gradients of norms, ReLU layer and readout.

    A product n M with n = scale x + shift and slope g has dM = scale (x^T g) + shift (sum of g), and gives
    the norm d scale = sum over columns of M (x^T g), d shift = M (sum of g): no further pass over the positions.
    """
    inner, _, readout = _tail_matrices(model)
    scale_1, shift_1, scale_2, shift_2 = (_tail_vectors(model)[:, n, :, None] for n in range(4))
    products, slopes, branches = jnp.moveaxis(jnp.sum(tail.row_sums, axis=1), 1, 0)
    by_inner, by_readout = _summed(tail.normed, tail.d_hidden), _summed(tail.final, tail.d_logits)
    hidden_sum = jnp.sum(tail.d_hidden, axis=(1, 2))[:, None]
    logit_sum = jnp.sum(tail.d_logits, axis=(1, 2))[:, None]
    mlp = model.blocks[0].mlp
    assert mlp is not None
    width, hidden = mlp.inner.shape[1:]
    d_mlp = MLP(
        (scale_1 * by_inner + shift_1 * hidden_sum)[:, :width, :hidden],
        hidden_sum[:, 0, :hidden],
        _summed(tail.hidden, tail.d_outer)[:, :hidden, :width],
        branches[:, :width],
    )
    norms = (
        Norm(
            (products + jnp.sum(inner * by_inner, axis=2))[:, :width],
            (slopes + jnp.sum(inner * hidden_sum, axis=2))[:, :width],
        ),
        Norm(
            jnp.sum(readout * by_readout, axis=2)[:, :width],
            jnp.sum(readout * logit_sum, axis=2)[:, :width],
        ),
    )
    d_readout = (scale_2 * by_readout + shift_2 * logit_sum)[:, :width, : model.tokens]
    return d_mlp, norms, d_readout


def _summed(left: Float[Array, "member batch query i"], right: Float[Array, "member batch query o"]):
    """sum over positions of left (x) right."""
    members, batch, queries = left.shape[:3]
    pieces = max(n for n in range(1, PIECES + 1) if batch % n == 0)
    rows = batch // pieces * queries
    left, right = (side.reshape(members, pieces, rows, side.shape[-1]) for side in (left, right))
    return jnp.sum(jnp.einsum("mpni,mpno->mpio", left, right), axis=1)


def _answers(tokens: int) -> int:
    return -(-tokens // 8) * 8


def _tail_bytes(tokens: int) -> int:
    return 4 * (2 * WIDTH * HIDDEN + WIDTH * _answers(tokens) + TILE_FLOATS)
