"""logits = rest + sum over layers and heads of what each head adds directly, along the residual path to the readout.

A norm is the linear map that it is on this sequence, its mean and its scale held, so that the sum is exact. Heads that
no residual path carries on add nothing directly. What a head does through later layers is part of what those do.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from headway.models.transformer import Inputs, Norm, Transformer


class Attributed(NamedTuple):
    """A forward pass at every position, taken apart."""

    logits: Float[Array, "time output"]
    attention: tuple[Float[Array, "head time time"], ...]
    """Layer by layer: (head, query, key)."""
    contributions: tuple[Float[Array, "head time output"], ...]
    """Layer by layer: what each head adds to the logits."""
    rest: Float[Array, "time output"]
    """What embedding, MLPs, biases and other constants add."""


class _Stream(NamedTuple):
    """x = rest + sum of the heads' parts."""

    x: Float[Array, "time width"]
    rest: Float[Array, "time width"]
    heads: tuple[Float[Array, "head time width"], ...]

    def changed(self, linear, constant: Float[Array, " width"]) -> "_Stream":
        """x -> linear(x) + constant, part by part."""
        return _Stream(linear(self.x) + constant, linear(self.rest) + constant, tuple(map(linear, self.heads)))

    def dropped(self) -> "_Stream":
        """Nothing of what came before goes on."""
        return _Stream(jnp.zeros_like(self.x), jnp.zeros_like(self.x), tuple(map(jnp.zeros_like, self.heads)))

    def with_heads(self, written: Float[Array, "head time width"]) -> "_Stream":
        return _Stream(self.x + jnp.sum(written, axis=0), self.rest, (*self.heads, written))

    def with_rest(self, more: Float[Array, "time width"]) -> "_Stream":
        return _Stream(self.x + more, self.rest + more, self.heads)


def attributed(model: Transformer, tokens: Inputs) -> Attributed:
    """The forward pass of one sequence without dropout, at every position of it."""
    settings, patterns = model.settings, []
    embedded = model.embed(tokens)
    stream = _Stream(embedded, embedded, ())
    for layer in model.layers:
        norms = iter(layer.norms)
        entering = next(norms)(stream.x) if settings.norm == "pre" else stream.x
        _, heads = layer.attention(entering, len(tokens), embedded.shape[-1])
        patterns.append(heads.pattern)
        stream = (stream if settings.residual else stream.dropped()).with_heads(heads.written)
        if layer.attention.biases is not None:
            stream = stream.with_rest(jnp.broadcast_to(layer.attention.biases.output, stream.x.shape))
        stream = _normed(next(norms), stream) if settings.norm == "post" else stream
        if layer.mlp is not None:
            more = layer.mlp(next(norms)(stream.x) if settings.norm == "pre" else stream.x)
            stream = (stream if settings.residual else stream.dropped()).with_rest(more)
            stream = _normed(next(norms), stream) if settings.norm == "post" else stream
    if model.final_norm is not None:
        stream = _normed(model.final_norm, stream)

    def read(part):
        return part[..., : model.vocab] if model.readout is None else part @ model.readout

    logits, rest, parts = jax.tree.map(read, stream)
    if model.readout_bias is not None:
        logits, rest = logits + model.readout_bias, rest + model.readout_bias
    return Attributed(logits, tuple(patterns), parts, rest)


def _normed(norm: Norm, stream: _Stream) -> _Stream:
    """The norm of x, and its parts by the same scale: subtracting a mean is linear."""
    centred = stream.x - jnp.mean(stream.x, axis=-1, keepdims=True)
    size = jax.lax.rsqrt(jnp.mean(centred**2, axis=-1, keepdims=True) + 1e-5)
    return stream.changed(lambda part: (part - jnp.mean(part, axis=-1, keepdims=True)) * size * norm.scale, norm.shift)
