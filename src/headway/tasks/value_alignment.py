"""cos(V_k, A_j): how far what a head adds to the logits points along what a block has to add."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from headway.lazily import Array, Float, jnp


@runtime_checkable
class Heads(Protocol):
    """The matrices of a layer's heads: values, and what joins them to the stream, if that is a matrix of its own."""

    value: Float[Array, "head width inner"]
    output: Float[Array, "head inner width"] | None


@runtime_checkable
class Stream(Protocol):
    """What stands before and behind the layers of a transformer; None where tokens are one-hot."""

    embedding: Float[Array, "token code"] | None
    readout: Float[Array, "width token"] | None
    layers: tuple[Any, ...]


def token_maps(model: Stream, vocab: int) -> Float[Array, "layer head token token"]:
    """V_k[y, x]: what head k adds to the logit of y by attending to x, along the direct path from token to logits.

    V_k^T = embedding W_V W_O readout. Norms are left out, and so is what later layers do with it.
    """
    return jnp.stack([_token_map(model, layer.attention, vocab) for layer in model.layers])


def _token_map(model: Stream, heads: Heads, vocab: int) -> Float[Array, "head token token"]:
    code = vocab if model.embedding is None else model.embedding.shape[1]
    read = heads.value[:, :code]  # one-hot positions lie behind the token
    if model.embedding is not None:
        read = jnp.einsum("xc,hci->hxi", model.embedding, read)
    if heads.output is not None:
        read = jnp.einsum("hxi,hio->hxo", read, heads.output)
    written = read[..., :vocab] if model.readout is None else jnp.einsum("hxo,oy->hxy", read, model.readout)
    return jnp.swapaxes(written, 1, 2)


def cosines(
    maps: Float[Array, "*head token token"], features: Float[Array, "block token token"]
) -> Float[Array, "*head block"]:
    """<V_k, A_j> / (|V_k| |A_j|), of matrices whose columns are centred: a softmax does not see their means.

    0 where a matrix is zero, as values are that have not begun to move.
    """
    maps, features = (each - jnp.mean(each, axis=-2, keepdims=True) for each in (maps, features))
    products = jnp.einsum("...yx,kyx->...k", maps, features, precision="highest")
    sizes = jnp.sqrt(jnp.sum(maps**2, axis=(-2, -1)))[..., None] * jnp.sqrt(jnp.sum(features**2, axis=(-2, -1)))
    return jnp.where(sizes > 0, products / jnp.where(sizes > 0, sizes, 1), 0)
