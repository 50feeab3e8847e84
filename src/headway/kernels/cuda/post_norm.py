"""A transformer of any depth with the full model's order of parts, norms behind its branches, on an NVIDIA GPU in TF32.

Vectors are filled up to 256 from the embedding to the readout, so that every product is aligned and every norm is one
pass over rows: by XLA alone, norms and their slopes take two fifths of a step.
"""

import math
from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from headway.kernels.cuda import own_rows
from headway.kernels.cuda.front import filled
from headway.kernels.cuda.norm import WIDTH, Joining, join
from headway.kernels.products import embedded, product, through
from headway.kernels.tables.attention import dense_heads
from headway.kernels.tables.layers import Keys, drop_of
from headway.models.attention import Attention
from headway.models.dropout import dropout, words_of
from headway.models.transformer import MLP, Layer, Norm, Transformer


def serves(model: Transformer) -> bool:
    """Post-norm and residual branches, wide enough."""
    settings = model.settings
    order = settings.norm == "post" and settings.residual and model.final_norm is None
    return order and WIDTH // 2 < settings.stream(model.vocab, model.length) <= WIDTH


def logits(
    model: Transformer, tokens: Int[Array, "example length"], predicted: int, keys: Keys
) -> Float[Array, "example {predicted} token"] | None:
    """Those of the last positions, if this model is served; keys are those of the places where dropout acts."""
    if not serves(model):
        return None
    rate = 0.0 if keys is None else model.settings.dropout
    x = embedded(model, tokens)
    if keys is not None:
        x = jax.vmap(lambda each, key: dropout(each, rate, key))(x, keys[:, 0])
    x = filled(x, *x.shape[:2], WIDTH)
    for number, layer in enumerate(model.layers):
        queries = predicted if number == len(model.layers) - 1 else model.length
        norms = iter(layer.norms)
        x = _joined(model, next(norms), x, _attended(model, layer, number, x, queries, keys), keys, 2 * number + 1)
        if layer.mlp is not None:
            x = _joined(model, next(norms), x, through(_filled_mlp(layer.mlp), x), keys, 2 * number + 2)
    if model.readout is None:
        return x[..., : model.vocab]
    return product(x, filled(model.readout, WIDTH, model.readout.shape[1]))


def _attended(model: Transformer, layer: Layer, number: int, x: Array, queries: int, keys: Keys) -> Array:
    drop = drop_of(model, keys, number)
    return dense_heads(_filled(layer.attention), x, queries, WIDTH, drop, own_rows.written)[0]


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


def _filled_mlp(mlp: MLP) -> MLP:
    hidden = mlp.inner.shape[1]
    inner, outer = filled(mlp.inner, WIDTH, hidden), filled(mlp.outer, hidden, WIDTH)
    return replace(mlp, inner=inner, outer=outer, outer_bias=filled(mlp.outer_bias, WIDTH))


def _joined(model: Transformer, norm: Norm, x: Array, branch: Array, keys: Keys, site: int) -> Array:
    rate = 0.0 if keys is None else model.settings.dropout
    own = Joining(len(norm.scale), x.shape[1], branch.shape[1], rate)
    words = jnp.zeros((len(x), 2), jnp.uint32) if keys is None else jax.vmap(words_of)(keys[:, site])
    return join(own, x, branch, filled(norm.scale, WIDTH), filled(norm.shift, WIDTH), words)
