"""The minimal model's loss and gradient on an NVIDIA GPU: one fused kernel, one warp a sequence."""

import functools
import math
from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32

from headway.kernels.asked import Asked, is_minimal
from headway.kernels.cuda.launch import call, multiprocessors, shared_limit, usable
from headway.kernels.cuda.members import over_members
from headway.kernels.windows import contexts_of, shares_of
from headway.models.rows import Rows
from headway.models.transformer import Transformer

SOURCE = "one_hot.cu"
MOST_WARPS = 16
CACHE_BYTES = 40 * 2**20
"""Of the second-level cache, which has 50 MB on an H200: there 64 members in one launch cost 17 % more each than 16."""


def covers(asked: Asked) -> bool:
    """The minimal model's switches in float32, with sizes that fit a warp and its share of shared memory."""
    if not is_minimal(asked) or not usable():
        return False
    sizes = asked.model.heads, asked.vocab, asked.reads, asked.queries
    return asked.vocab <= 64 and asked.reads <= 32 and _warps(*sizes) >= 4


def gradient(
    model: Transformer, task: Rows, sequences: Int[Array, "batch time"], weights: Float[Array, " batch"]
) -> tuple[Float[Array, ""], Transformer]:
    """sum_b w_b loss_b / sum_b w_b and its gradient; under vmap all members share one launch."""
    attention = model.layers[0].attention
    contexts, queries = contexts_of(model.length, task, sequences)
    scale = 1 / math.sqrt(attention.query.shape[-1]) if attention.scaled else 1.0
    values = attention.value[..., : model.vocab]
    shares = shares_of(weights, task, len(contexts))
    loss, scores, values = _gradient(queries, is_exact(model))(scale * attention.query, values, contexts, shares)
    values = jnp.pad(values, [(0, 0), (0, 0), (0, attention.value.shape[-1] - model.vocab)])
    parts = lambda tree: (tree.layers[0].attention.query, tree.layers[0].attention.value)  # noqa: E731
    return loss, eqx.tree_at(parts, model, (scale * scores, values))


def is_exact(model: Transformer) -> bool:
    """From a uniform start heads are alike but for u, even for nothing: rounding must not make the difference."""
    return model.settings.initialisation == "uniform"


@functools.cache
def _gradient(queries: int, exact: bool):
    def compute(*stacked):
        members = len(stacked[0])
        size = _side_by_side(members, queries, values=stacked[1])
        groups = [[each[first : first + size] for each in stacked] for first in range(0, members, size)]
        results = [_launch(queries, exact, *group) for group in groups]
        return tuple(jnp.concatenate(parts) for parts in zip(*results, strict=True))

    return over_members(compute)


def _side_by_side(members: int, queries: int, values: Float[Array, "member head width token"]) -> int:
    """Members of one launch, in even groups: the tables that all their sequences add to should stay in the cache."""
    _, heads, width, tokens = values.shape
    table = 4 * heads * tokens * (queries * width + 2 * (width - tokens) * _four(tokens))
    most = max(1, CACHE_BYTES // table)
    return -(-members // -(-members // most))


def _launch(
    queries: int,
    exact: bool,
    scores: Float[Array, "member head width width"],
    values: Float[Array, "member head width token"],
    contexts: Int[Array, "member batch time"],
    shares: Float[Array, "member batch"],
):
    members, heads, width, tokens = values.shape
    batch, length = contexts.shape[1], contexts.shape[2] - 1
    sizes = heads, tokens, length, queries
    warps = _warps(*sizes)
    splits = max(1, min(multiprocessors() // members, -(-batch // warps)))
    columns = _four(tokens)
    by_place = values[:, :, None, :tokens] + values[:, :, tokens:, None]
    by_place = jnp.pad(by_place, [(0, 0)] * 4 + [(0, columns - tokens)])
    # A whole number of 64 bits is two words here: JAX knows no larger ones unless asked to for everything.
    word, words = (jnp.uint32, (2,)) if exact else (jnp.float32, ())
    d_scores = jax.ShapeDtypeStruct((members, heads, queries, tokens, width, *words), word)
    d_values = jax.ShapeDtypeStruct((members, heads, length, tokens, columns, *words), word)
    macros = dict(zip(("HEADS", "TOKENS", "LENGTH", "QUERIES"), sizes, strict=True))
    macros |= {"BATCH": batch, "SPLITS": splits, "WARPS": warps, "EXACT": int(exact)}
    d_scores, d_values, losses = call(
        SOURCE,
        "one_hot_gradient",
        macros,
        (
            contexts.astype(jnp.int32),
            shares,
            scores,
            by_place,
            jnp.zeros(d_scores.shape, word),
            jnp.zeros(d_values.shape, word),
        ),
        (d_scores, d_values, jax.ShapeDtypeStruct((members, splits * warps), jnp.float32)),
        blocks=members * splits,
        threads=32 * warps,
        shared_bytes=_table_bytes(*sizes) + warps * _workspace_bytes(*sizes),
        in_place={4: 0, 5: 1},
    )
    if exact:
        d_scores, d_values = _in_float32(macros, d_scores), _in_float32(macros, d_values)
    # A sum over places is the gradient of a token's row, a sum over tokens that of a place's row.
    unused = jnp.zeros((members, heads, length - queries, width), jnp.float32)
    d_scores = jnp.concatenate([jnp.sum(d_scores, axis=2), unused, jnp.sum(d_scores, axis=3)], axis=2)
    d_values = jnp.concatenate([jnp.sum(d_values, axis=2), jnp.sum(d_values, axis=3)], axis=2)
    return jnp.sum(losses, axis=1), d_scores, d_values[..., :tokens]


def _in_float32(macros: Mapping[str, int], sums: UInt32[Array, "*shape 2"]) -> Float[Array, "*shape"]:
    shape = sums.shape[:-1]
    result = jax.ShapeDtypeStruct(shape, jnp.float32)
    count = {"COUNT": math.prod(shape)}
    (numbers,) = call(SOURCE, "in_float32", {**macros, **count}, (sums,), (result,), blocks=1024, threads=256)
    return numbers


def _four(count: int) -> int:
    return -(-count // 4) * 4


def _table_bytes(heads: int, tokens: int, length: int, queries: int) -> int:
    return 4 * _four(heads * (tokens + queries) * (tokens + length))


def _workspace_bytes(heads: int, tokens: int, length: int, queries: int) -> int:
    return 4 * (_four(queries) * (heads * length + _four(tokens)) + _four(length + 1))


def _warps(heads: int, tokens: int, length: int, queries: int) -> int:
    """As many sequences at a time as shared memory holds."""
    sizes = heads, tokens, length, queries
    return min(MOST_WARPS, max(0, shared_limit() - _table_bytes(*sizes)) // _workspace_bytes(*sizes))
