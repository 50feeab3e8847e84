"""Fresh transformers. A start is a function of a matrix's role; ours are found by their names in `STARTS`.

    def start(role, key, shape, fan_in, fan_out, scale): ...    # -> a matrix of that shape

Roles: embedding, positions, query, key, value, output, mlp-in, mlp-out, readout. Norms start at one, and biases at zero
unless the start is one of `BIASED`. Heads that belong to one width x width map share its fan, as one matrix would.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from headway.models.attention import Attention, Biases, Emphasis
from headway.models.positions import Draw as Code
from headway.models.positions import encoding
from headway.models.transformer import MLP, Layer, Norm, Transformer
from headway.settings import ModelSettings
from headway.settings.given import given

Scale = Float[Array, ""] | float
Start = Callable[[str, PRNGKeyArray, tuple[int, ...], int, int, Scale], Float[Array, "..."]]
Draw = Callable[[str, tuple[int, ...], int, int], Float[Array, "..."]]
"""(role, shape, fan in, fan out) -> a fresh matrix."""
Coding = Callable[[], tuple[Code, PRNGKeyArray]]
"""How codes of positions are drawn, and a fresh key for some."""


def _uniform(key: PRNGKeyArray, shape: tuple[int, ...], limit: Scale) -> Float[Array, "..."]:
    """On [-limit, limit]."""
    return limit * jax.random.uniform(key, shape, minval=-1, maxval=1)


def xavier(
    role: str, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int, fan_out: int, scale: Scale
) -> Float[Array, "..."]:
    """Uniform on [-a, a], a = scale sqrt(6 / (fan_in + fan_out)), but for an orthogonal embedding."""
    if role == "embedding":
        return scale * jax.nn.initializers.orthogonal()(key, shape)
    return scale * _uniform(key, shape, math.sqrt(6 / (fan_in + fan_out)))


POSITION_TABLE = 50
"""Rows of the table of positions that the authors' code started, however many of them a sequence used."""


def orthogonal(
    role: str, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int, fan_out: int, scale: Scale
) -> Float[Array, "..."]:
    """Xavier's start, but the embedding and the readout are orthogonal with norm 1 and positions are a table's rows.

    A matrix with orthonormal rows or columns has the spectral norm 1 already, by which the authors divide it.
    """
    if role in ("embedding", "readout"):
        return scale * jax.nn.initializers.orthogonal()(key, shape)
    return xavier(role, key, shape, POSITION_TABLE if role == "positions" else fan_in, fan_out, scale)


def small_scores(
    role: str, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int, fan_out: int, scale: Scale
) -> Float[Array, "..."]:
    """Paper A, 2.4: queries (or merged scores) in [-u, u] and values zero; Xavier's start elsewhere.

    u is the scores' alone: a model with u = 1e-9 everywhere would not learn later but never, as no gradient could pass.
    """
    if role == "value":
        return jnp.zeros(shape)
    if role == "query":
        limit = math.sqrt(6 / (fan_in + fan_out))
        return scale * _uniform(key, shape, limit) / limit
    return xavier(role, key, shape, fan_in, fan_out, 1.0)


def by_fan_in(
    role: str, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int, fan_out: int, scale: Scale
) -> Float[Array, "..."]:
    """Uniform, of variance 1 / fan_in everywhere, the embedding included, as libraries start linear maps."""
    return scale * _uniform(key, shape, math.sqrt(3 / fan_in))


def unit_embedding(
    role: str, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int, fan_out: int, scale: Scale
) -> Float[Array, "..."]:
    """The same but for an embedding of variance 1: it looks symbols up in a table, a map from one number."""
    return by_fan_in(role, key, shape, 1 if role == "embedding" else fan_in, fan_out, scale)


def gpt_2(
    role: str, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int, fan_out: int, scale: Scale, branches: int = 2
) -> Float[Array, "..."]:
    """N(0, 0.02^2), over sqrt(branches) for what is added to the stream (Radford et al. 2019)."""
    added = role in ("output", "mlp-out")
    return 0.02 * scale * jax.random.normal(key, shape) / (math.sqrt(branches) if added else 1)


def pytorch(
    role: str, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int, fan_out: int, scale: Scale
) -> Float[Array, "..."]:
    """Uniform in +-1 / sqrt(fan_in), as torch.nn.Linear starts its weights and its biases.

    What joins the heads reads all of their coordinates, however wide each of them is.
    """
    reads = shape[0] * shape[1] if role == "output" else fan_in
    return scale * _uniform(key, shape, 1 / math.sqrt(reads))


def silent_pytorch(
    role: str, key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int, fan_out: int, scale: Scale
) -> Float[Array, "..."]:
    """The same with a readout of zero: the first answer is 0, whatever is read."""
    start = pytorch(role, key, shape, fan_in, fan_out, scale)
    return jnp.zeros(shape) if role in ("readout", "readout-bias") else start


STARTS: dict[str, Start] = {
    "xavier": xavier,
    "orthogonal": orthogonal,
    "uniform": small_scores,
    "fan-in": by_fan_in,
    "unit-embedding": unit_embedding,
    "gpt-2": gpt_2,
    "pytorch": pytorch,
    "silent-pytorch": silent_pytorch,
}
BIASED = ("pytorch", "silent-pytorch")
"""Starts that draw biases, too; their role is "bias", or "readout-bias"."""


def start_of(settings: ModelSettings) -> Start:
    """The start that the settings name or bring."""
    asked = settings.initialisation
    if asked == "gpt-2":
        return partial(gpt_2, branches=2 * settings.layers)
    return STARTS[asked] if isinstance(asked, str) else given(asked).use()


def transformer(
    settings: ModelSettings,
    inputs: int,
    length: int,
    key: PRNGKeyArray,
    scale: Scale | None = None,
    outputs: int | None = None,
    relevant: tuple[tuple[int, int], ...] = (),
) -> Transformer:
    """A fresh model for a vocabulary of `inputs` and contexts of `length`; `scale` may be traced.

    What it reads may also be vectors of `inputs` numbers; it says `outputs` numbers, as many if not given. `relevant`
    are the (query, key) positions at which attention is emphasised.
    """
    settings.check(inputs, length)
    start = start_of(settings)
    scale = settings.scale if scale is None else scale
    keys = _keys(key)

    def draw(role: str, shape: tuple[int, ...], fan_in: int, fan_out: int) -> Float[Array, "..."]:
        bias = role.endswith("bias")
        if bias and settings.initialisation not in BIASED:
            return jnp.zeros(shape)
        return start(role, next(keys), shape, fan_in, fan_out, scale)

    def coded(key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int, fan_out: int) -> Float[Array, "..."]:
        return start("positions", key, shape, fan_in, fan_out, scale)

    positions = encoding(settings)
    width = settings.stream(inputs, length)
    embedding = table = readout = embedding_bias = readout_bias = None
    if settings.embedding == "learned":
        own = width - (0 if positions.extra is None else positions.extra(length))
        embedding = settings.embedding_scale * draw("embedding", (inputs, own), inputs, own)
        embedding_bias = draw("bias", (own,), inputs, own) if settings.edge_biases else None
    if positions.stream_start is not None:
        table = positions.stream_start(coded, next(keys), length, width)
    emphasis = None if settings.emphasis == 1 else Emphasis(settings.emphasis, relevant)
    layers = tuple(
        _layer(settings, width, length, draw, lambda: (coded, next(keys)), emphasis) for _ in range(settings.layers)
    )
    final_norm = _norm(width) if settings.norm == "pre" else None
    if settings.readout:
        outputs = inputs if outputs is None else outputs
        readout = draw("readout", (width, outputs), width, outputs)
        readout_bias = draw("readout-bias", (outputs,), width, outputs) if settings.edge_biases else None
    return Transformer(
        embedding, table, layers, final_norm, readout, settings, inputs, length, embedding_bias, readout_bias
    )


def _keys(key: PRNGKeyArray) -> Iterator[PRNGKeyArray]:
    """Fresh keys without end."""
    while True:
        key, fresh = jax.random.split(key)
        yield fresh


def _norm(width: int) -> Norm:
    return Norm(jnp.ones(width), jnp.zeros(width))


def _layer(
    settings: ModelSettings, width: int, length: int, draw: Draw, code: Coding, emphasis: Emphasis | None
) -> Layer:
    attention, mlp = _attention(settings, width, length, draw, code, emphasis), None
    if settings.mlp:
        mlp = MLP(
            draw("mlp-in", (width, settings.mlp), width, settings.mlp),
            draw("bias", (settings.mlp,), width, settings.mlp),
            draw("mlp-out", (settings.mlp, width), settings.mlp, width),
            draw("bias", (width,), settings.mlp, width),
            settings.activation,
        )
    branches = 1 if mlp is None else 2
    return Layer(attention, mlp, () if settings.norm == "none" else tuple(_norm(width) for _ in range(branches)))


def _attention(
    settings: ModelSettings, width: int, length: int, draw: Draw, code: Coding, emphasis: Emphasis | None
) -> Attention:
    """Matrices of all heads."""
    heads, part = settings.heads, settings.part(width)
    query = draw("query", (heads, width, part if settings.keys else width), width, width)
    value = draw("value", (heads, width, part if settings.output else width), width, width)
    key = draw("key", (heads, width, part), width, width) if settings.keys else None
    output = draw("output", (heads, part, width), width, width) if settings.output else None
    positions = encoding(settings)
    bias = None if positions.shift_start is None else positions.shift_start(heads, length)
    biases = _biases(query, key, value, width, draw) if settings.biases else None
    linear = settings.attention == "linear"
    codes = None if positions.face_start is None else positions.face_start(*code(), heads, length, query.shape[-1])
    return Attention(
        query,
        key,
        value,
        output,
        settings.scaled_scores,
        bias,
        positions,
        biases,
        linear,
        emphasis,
        codes,
        settings.causal,
    )


def _biases(query: Array, key: Array | None, value: Array, width: int, draw: Draw) -> Biases:
    heads = len(query)
    return Biases(
        draw("bias", (heads, query.shape[-1]), width, width),
        None if key is None else draw("bias", (heads, key.shape[-1]), width, width),
        draw("bias", (heads, value.shape[-1]), width, width),
        draw("bias", (width,), heads * value.shape[-1], width),
    )
