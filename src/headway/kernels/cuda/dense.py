"""A transformer of any depth whose branches join a stream of 129 to 256 numbers, on an NVIDIA GPU in TF32.

With or without residuals; norms stand behind the branches, or there are none. Vectors are filled up to 256 from the
embedding to the readout, so that every product is aligned. What only products ask for is float16, and all that
happens to a row between two products is one pass over it.
"""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from headway.kernels.cuda import own_rows
from headway.kernels.cuda.front import filled, places_of, shared_stream
from headway.kernels.cuda.halves import as_half, lift_of, product
from headway.kernels.cuda.joining import WIDTH, Joining, join
from headway.kernels.cuda.token_rows import TokenRows, rows_of
from headway.kernels.tables.attention import dense_heads
from headway.kernels.tables.layers import Keys, drop_of
from headway.models.attention import Attention
from headway.models.dropout import words_of
from headway.models.transformer import ACTIVATIONS, MLP, Layer, Norm, Transformer


def serves(model: Transformer) -> bool:
    """Nothing normed before it is read, wide enough, and something behind the heads."""
    settings = model.settings
    order = settings.norm in ("post", "none") and model.final_norm is None
    more = settings.norm == "post" or settings.residual or settings.mlp > 0 or settings.readout
    return order and more and WIDTH // 2 < settings.stream(model.vocab, model.length) <= WIDTH


def logits(
    model: Transformer, tokens: Int[Array, "example length"], predicted: int, keys: Keys
) -> Float[Array, "example {predicted} token"] | None:
    """Those of the last positions, if this model is served; keys are those of the places where dropout acts."""
    if not serves(model):
        return None
    lift, layers = lift_of(len(tokens) * predicted), model.layers
    # What reads the stream in float32: residuals, and heads that have no kernels.
    read_whole = [not own_rows.serves(layer.attention, model.length) for layer in layers]
    whole = any(read_whole) or (model.settings.residual and len(layers) > 1)
    x, factor = _entered(model, tokens, model.length if whole else predicted, keys, lift)
    for number, layer in enumerate(layers):
        last = number == len(layers) - 1
        queries = predicted if last else model.length
        wanted = model.readout is None if last else model.settings.residual or read_whole[number + 1]
        norms = iter(layer.norms or (None, None))
        read = x if read_whole[number] else factor
        assert read is not None
        branch = _attended(model, layer, number, read, queries, keys, lift)
        through = layer.mlp is not None
        passes = model.settings.residual if through else wanted
        x, factor = _joined(model, next(norms), x, branch, None, keys, 2 * number + 1, passes, lift)
        if layer.mlp is not None:
            branch, bias = _answered(layer.mlp, factor, lift), layer.mlp.outer_bias
            x, factor = _joined(model, next(norms), x, branch, bias, keys, 2 * number + 2, wanted, lift)
    if model.readout is not None:
        return product(factor, filled(model.readout, WIDTH, model.readout.shape[1]), lift, model.readout.dtype)
    assert x is not None
    return x[..., : model.vocab]


def _entered(model: Transformer, tokens: Int[Array, "example length"], last: int, keys: Keys, lift: float):
    """The last positions in float32, and all as factors of products."""
    rate = 0.0 if keys is None else model.settings.dropout
    own = TokenRows(model.settings.stream(model.vocab, model.length), last, rate, lift)
    return rows_of(own, shared_stream(model), places_of(model, tokens), _words(keys, 0, len(tokens)))


def _words(keys: Keys, site: int, examples: int) -> Array:
    return jnp.zeros((examples, 2), jnp.uint32) if keys is None else jax.vmap(words_of)(keys[:, site])


def _attended(model: Transformer, layer: Layer, number: int, x: Array, queries: int, keys: Keys, lift: float) -> Array:
    drop, attention = drop_of(model, keys, number), _filled(layer.attention)
    written = own_rows.written(attention, x, queries, WIDTH, drop, lift)
    return as_half(dense_heads(attention, x, queries, WIDTH, drop)[0], lift) if written is None else written


def _filled(attention: Attention) -> Attention:
    """The same heads for vectors that are filled up."""
    query, key, value, output = attention.query, attention.key, attention.value, attention.output
    heads, width, score = query.shape
    if key is None:  # scores of a merged matrix are divided by the root of its width
        factor = math.sqrt(WIDTH / width) if attention.scaled else 1.0
        query = factor * filled(query, heads, WIDTH, WIDTH)
    else:
        query, key = filled(query, heads, WIDTH, score), filled(key, heads, WIDTH, key.shape[2])
    value = filled(value, heads, WIDTH, WIDTH if output is None else value.shape[2])
    output = None if output is None else filled(output, heads, output.shape[1], WIDTH)
    return replace(attention, query=query, key=key, value=value, output=output)


def _answered(mlp: MLP, factor: Array, lift: float) -> Array:
    """What the MLP makes of every row, but for the bias that is added last."""
    hidden = mlp.inner.shape[1]
    inside = product(factor, filled(mlp.inner, WIDTH, hidden), lift, mlp.inner.dtype) + mlp.inner_bias
    return product(ACTIVATIONS[mlp.activation](inside), filled(mlp.outer, hidden, WIDTH), lift)


def _joined(
    model: Transformer,
    norm: Norm | None,
    x: Array | None,
    branch: Array,
    bias: Array | None,
    keys: Keys,
    site: int,
    passes: bool,
    lift: float,
):
    examples, queries, _ = branch.shape
    width, residual = model.settings.stream(model.vocab, model.length), model.settings.residual
    rate = 0.0 if keys is None else model.settings.dropout
    length = x.shape[1] if residual and x is not None else queries
    own = Joining(width, length, queries, rate, lift, residual, norm is not None, passes)
    nothing = jnp.zeros(WIDTH, model.layers[0].attention.value.dtype)
    of_norm = (nothing, nothing) if norm is None else (filled(norm.scale, WIDTH), filled(norm.shift, WIDTH))
    vectors = jnp.stack([*of_norm, nothing if bias is None else filled(bias, WIDTH)])
    return join(own, x, branch, vectors, _words(keys, site, examples))
