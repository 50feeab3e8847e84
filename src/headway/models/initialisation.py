"""Fresh transformers: an orthogonal embedding and Xavier elsewhere, or variance 1 / fan-in as libraries have it.

Or the small uniform start of paper A's Figure 4.
"""

import math
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from headway.models.attention import Attention
from headway.models.transformer import MLP, Block, Norm, Transformer
from headway.settings import ModelSettings

Scale = Float[Array, ""] | float
Draw = Callable[[PRNGKeyArray, tuple[int, ...], int, int], Float[Array, "..."]]
"""(key, shape, fan in, fan out) -> a fresh matrix."""
BY_FAN_IN = ("fan-in", "unit-embedding")
"""Starts of variance 1 / fan-in; the embedding of the second looks symbols up in a table, a map from one number."""


def transformer(
    settings: ModelSettings,
    tokens: int,
    length: int,
    key: PRNGKeyArray,
    scale: Scale | None = None,
    outputs: int | None = None,
) -> Transformer:
    """A fresh model for `tokens` symbols and contexts of `length`; `scale` may be traced to differ between runs.

    What it reads may also be vectors of `tokens` numbers; it says `outputs` numbers, as many if not given.
    """
    settings.check(tokens, length)
    scale = settings.scale if scale is None else scale
    draw, factor = _draw(settings, scale), _factor(settings, scale)
    width = settings.stream(tokens, length)
    keys = _keys(key)
    one_hot_positions = length if settings.positions == "one-hot" else 0
    embedding = positions = readout = None
    if settings.embedding == "learned":
        shape = (tokens, width - one_hot_positions)
        if settings.initialisation in BY_FAN_IN:
            fan_in = 1 if settings.initialisation == "unit-embedding" else tokens
            embedding = draw(next(keys), shape, fan_in, shape[1])
        else:
            embedding = factor * jax.nn.initializers.orthogonal()(next(keys), shape)
    if settings.positions == "learned":
        positions = draw(next(keys), (length, width), length, width)
    blocks = tuple(_block(settings, width, length, keys, scale) for _ in range(settings.blocks))
    final_norm = _norm(width) if settings.norm == "pre" else None
    if settings.readout:
        outputs = tokens if outputs is None else outputs
        readout = draw(next(keys), (width, outputs), width, outputs)
    return Transformer(embedding, positions, blocks, final_norm, readout, settings, tokens, length)


def _keys(key: PRNGKeyArray) -> Iterator[PRNGKeyArray]:
    """Fresh keys without end."""
    while True:
        key, fresh = jax.random.split(key)
        yield fresh


def _factor(settings: ModelSettings, scale: Scale) -> Scale:
    """What Xavier's limits are multiplied by: `scale`, unless that is u, which is the scores' alone.

    A model with u = 1e-9 everywhere would not learn later but never: no gradient could pass.
    """
    return 1.0 if settings.initialisation == "uniform" else scale


def _draw(settings: ModelSettings, scale: Scale) -> Draw:
    """Uniform on [-a, a], a = factor * sqrt(6 / (fan_in + fan_out)); or sqrt(3 / fan_in), of variance 1 / fan_in."""
    factor = _factor(settings, scale)

    def draw(key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int, fan_out: int) -> Float[Array, "..."]:
        limit = math.sqrt(3 / fan_in if settings.initialisation in BY_FAN_IN else 6 / (fan_in + fan_out))
        return factor * limit * jax.random.uniform(key, shape, minval=-1, maxval=1)

    return draw


def _norm(width: int) -> Norm:
    return Norm(jnp.ones(width), jnp.zeros(width))


def _block(settings: ModelSettings, width: int, length: int, keys: Iterator[PRNGKeyArray], scale: Scale) -> Block:
    mlp = None
    draw = _draw(settings, scale)
    attention = _attention(settings, width, length, keys, scale)
    if settings.mlp:
        mlp = MLP(
            draw(next(keys), (width, settings.mlp), width, settings.mlp),
            jnp.zeros(settings.mlp),
            draw(next(keys), (settings.mlp, width), settings.mlp, width),
            jnp.zeros(width),
        )
    branches = 1 if mlp is None else 2
    return Block(attention, mlp, () if settings.norm == "none" else tuple(_norm(width) for _ in range(branches)))


def _attention(
    settings: ModelSettings, width: int, length: int, keys: Iterator[PRNGKeyArray], scale: Scale
) -> Attention:
    """Matrices of all heads; those that belong to one width x width map share its fan, as one matrix would."""
    heads = settings.heads
    draw = _draw(settings, scale)
    part = width // heads
    score = part if settings.keys else width
    inner = part if settings.output else width
    query = draw(next(keys), (heads, width, score), width, width)
    value = draw(next(keys), (heads, width, inner), width, width)
    key = output = None
    if settings.keys:
        key = draw(next(keys), (heads, width, part), width, width)
    if settings.output:
        output = draw(next(keys), (heads, part, width), width, width)
    if settings.initialisation == "uniform":
        # Paper A, 2.4: the scores start in [-u, u] and the values at zero.
        query = scale * query / math.sqrt(6 / (2 * width))
        value = jnp.zeros_like(value)
    # Zero, so that every start attends by content alone.
    bias = jnp.zeros((heads, length)) if settings.positions == "relative" else None
    rotary, alibi = settings.positions == "rotary", settings.positions == "alibi"
    return Attention(query, key, value, output, settings.scaled_scores, bias, rotary, alibi)
