"""The gradient of a batch, piece by piece, so that what a piece needs stays in the cache or in memory."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

ExampleLoss = Callable[[Any, Any, PRNGKeyArray | None], Float[Array, ""]]
"""(model, one example, key or None) -> loss."""
BatchGradient = Callable[[Any, Any, Float[Array, " batch"], PRNGKeyArray | None], tuple[Float[Array, ""], Any]]
"""(model, examples, weights, key or None) -> the weighted mean of the examples' losses, and its gradient."""


def batch_gradient(
    loss: ExampleLoss,
    model: PyTree,
    examples: PyTree,
    weights: Float[Array, " batch"],
    key: PRNGKeyArray | None,
    chunk: int,
) -> tuple[Float[Array, ""], PyTree]:
    """sum_i w_i loss_i / sum_i w_i and its gradient, over chunks of `chunk` examples.

    The examples' keys depend on their place in the batch and not on the chunks.
    """
    batch = len(weights)
    chunks = -(-batch // chunk)

    def pieces(array):
        """Pad to whole chunks with examples of weight zero."""
        missing = chunks * chunk - batch
        padded = jnp.concatenate([array, jnp.repeat(array[:1], missing, axis=0)])
        return padded.reshape(chunks, chunk, *array.shape[1:])

    total = jnp.sum(weights)
    padded_weights = jnp.concatenate([weights, jnp.zeros(chunks * chunk - batch, weights.dtype)])
    pieces_of = (
        jax.tree.map(pieces, examples),
        padded_weights.reshape(chunks, chunk),
        jnp.arange(chunks * chunk).reshape(chunks, chunk),
    )

    def chunk_loss(model, examples, weights, places):
        if key is None:
            losses = jax.vmap(lambda example: loss(model, example, None))(examples)
        else:
            losses = jax.vmap(lambda example, i: loss(model, example, jax.random.fold_in(key, i)))(examples, places)
        return jnp.sum(weights * losses) / total

    def add(carry, piece):
        return jax.tree.map(jnp.add, carry, jax.value_and_grad(chunk_loss)(model, *piece)), None

    if chunks == 1:
        return jax.value_and_grad(chunk_loss)(model, *jax.tree.map(lambda a: a[0], pieces_of))
    nothing = (jnp.zeros((), weights.dtype), jax.tree.map(jnp.zeros_like, model))
    return jax.lax.scan(add, nothing, pieces_of)[0]
