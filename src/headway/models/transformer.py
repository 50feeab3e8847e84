"""One transformer with switches: paper A's full and minimal models are two settings of it.

Written for one sequence; `jax.vmap` makes batches and seeds of it.
"""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from headway.models.attention import Attention, HeadReadings
from headway.models.dropout import dropout
from headway.models.packed import stream_written_once, written_once
from headway.models.positions import encoding
from headway.settings import ModelSettings

Inputs = Int[Array, " time"] | Float[Array, "time token"]
"""Tokens; or vectors, of which a token is the case of a single one among zeros."""


class Reading(NamedTuple):
    """Everything a forward pass knows; what is not used is not computed."""

    logits: Float[Array, "predicted output"]
    heads: tuple[HeadReadings, ...]
    """Layer by layer; the last layer only at the predicted positions."""
    states: Float[Array, "predicted width"] | None = None
    """What the readout sees."""
    generated: Any = None
    """Where the task asks for it: the model's own answers, and its reading of them (`training.generation`)."""


class Norm(eqx.Module):
    """(x - mean) / sqrt(variance + 1e-5) * scale + shift."""

    scale: Float[Array, " width"]
    shift: Float[Array, " width"]

    def __call__(self, x: Float[Array, "*time width"]) -> Float[Array, "*time width"]:
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        return centred * jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + 1e-5) * self.scale + self.shift


ACTIVATIONS = {"relu": jax.nn.relu, "gelu": partial(jax.nn.gelu, approximate=True)}


class MLP(eqx.Module):
    """relu(x inner + inner_bias) outer + outer_bias, or with another activation."""

    inner: Float[Array, "width hidden"]
    inner_bias: Float[Array, " hidden"]
    outer: Float[Array, "hidden width"]
    outer_bias: Float[Array, " width"]
    activation: str = eqx.field(static=True, default="relu")

    def __call__(self, x: Float[Array, "time width"]) -> Float[Array, "time width"]:
        hidden = written_once(ACTIVATIONS[self.activation](x @ self.inner + self.inner_bias))
        return hidden @ self.outer + self.outer_bias


class Layer(eqx.Module):
    """Attention and, if there is one, an MLP, each in its branch with norm, dropout and residual as switched."""

    attention: Attention
    mlp: MLP | None
    norms: tuple[Norm, ...]


class Transformer(eqx.Module):
    """tokens -> logits of the next token at the last positions; or vectors -> whatever the readout makes of them."""

    embedding: Float[Array, "token code"] | None
    positions: Any
    """What the positional encoding of the stream learns."""
    layers: tuple[Layer, ...]
    final_norm: Norm | None
    readout: Float[Array, "width output"] | None
    settings: ModelSettings = eqx.field(static=True)
    vocab: int = eqx.field(static=True)
    length: int = eqx.field(static=True)
    embedding_bias: Float[Array, " code"] | None = None
    readout_bias: Float[Array, " output"] | None = None

    def __call__(
        self, tokens: Inputs, predicted: int, key: PRNGKeyArray | None = None
    ) -> Float[Array, "{predicted} output"]:
        """Logits of the next token at the last `predicted` positions; with a key, dropout acts."""
        return self.read(tokens, predicted, key).logits

    def read(self, tokens: Inputs, predicted: int, key: PRNGKeyArray | None = None) -> Reading:
        """The forward pass with every head's pattern and what it wrote."""
        if tokens.shape not in ((self.length,), (self.length, self.vocab)):
            raise ValueError(
                f"got tokens of shape {tokens.shape}, but this model reads {self.length} tokens at once. "
                "It is written for one sequence: use jax.vmap for more."
            )
        keys = [None] * self.sites if key is None else list(jax.random.split(key, self.sites))
        x = dropout(self.embed(tokens), self.settings.dropout, keys[0])
        readings = []
        for number, layer in enumerate(self.layers, start=1):
            is_last = number == len(self.layers)
            # Nothing behind the last attention looks at other positions or, without a readout, other coordinates.
            queries = predicted if is_last else self.length
            coordinates = self.vocab if is_last and self._ends_with_heads(layer) else x.shape[-1]
            of_heads = keys[2 * len(self.layers) + number] if self.settings.attention_dropout else None
            own = keys[2 * number - 1], keys[2 * number], of_heads
            x, heads = self._apply(layer, x, queries, coordinates, own)
            readings.append(heads)
        x = x if self.final_norm is None else self.final_norm(x)
        logits = x[:, : self.vocab] if self.readout is None else x @ self.readout
        logits = logits if self.readout_bias is None else logits + self.readout_bias
        return Reading(logits, tuple(readings), x)

    @property
    def sites(self) -> int:
        """Places where dropout acts: the embedding, two branches a layer, and behind them each layer's attention."""
        return 1 + (3 if self.settings.attention_dropout else 2) * len(self.layers)

    def embed(self, tokens: Inputs) -> Float[Array, "time width"]:
        """The vectors that enter the first layer; a token is a row of the embedding, a vector is multiplied by it."""
        if tokens.ndim == 2:
            x = tokens if self.embedding is None else tokens @ self.embedding
        elif self.embedding is None:
            x = jax.nn.one_hot(tokens, self.vocab, dtype=self.layers[0].attention.value.dtype)
        else:
            x = self.embedding[tokens]
        return self.placed(x if self.embedding_bias is None else x + self.embedding_bias)

    def placed(self, x: Float[Array, "time _"]) -> Float[Array, "time width"]:
        """Vectors with their positions."""
        stream = encoding(self.settings).stream
        return x if stream is None else stream(self.positions, x)

    def _ends_with_heads(self, layer: Layer) -> bool:
        """Whether the logits are just what the heads wrote, so that only those coordinates are needed."""
        plain = self.settings.norm == "none" and not self.settings.residual
        return plain and layer.mlp is None and self.readout is None

    def _apply(
        self,
        layer: Layer,
        x: Float[Array, "time width"],
        queries: int,
        coordinates: int,
        keys: tuple[PRNGKeyArray | None, PRNGKeyArray | None, PRNGKeyArray | None],
    ) -> tuple[Float[Array, "queries coordinates"], HeadReadings]:
        norms, (attention_key, mlp_key, heads_key) = iter(layer.norms), keys

        def branch(x, compute, key):
            """norm, compute, dropout, residual, in the order that the settings ask for."""
            out = compute(next(norms)(x) if self.settings.norm == "pre" else x)
            out = dropout(out, self.settings.dropout, key)
            out = x[-queries:] + out if self.settings.residual else out
            return next(norms)(out) if self.settings.norm == "post" else out

        readings: list[HeadReadings] = []

        def attend(x):
            attention = layer.attention
            if heads_key is not None and attention.codes is not None:
                codes_key = jax.random.fold_in(heads_key, 1)
                codes = jax.tree.map(lambda each: dropout(each, self.settings.dropout, codes_key), attention.codes)
                attention = replace(attention, codes=codes)
            drop = None if heads_key is None else lambda pattern: dropout(pattern, self.settings.dropout, heads_key)
            received, heads = attention(x, queries, coordinates, drop)
            readings.append(heads)
            return received

        x = branch(x, attend, attention_key)
        if layer.mlp is not None:
            x = branch(x, layer.mlp, mlp_key)
        return stream_written_once(x), readings[0]
