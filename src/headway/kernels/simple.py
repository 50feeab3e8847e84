"""The simple form: one sequence written out, `vmap` over a batch. Every other form must give its numbers."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from headway.models.gradient import ExampleLoss, batch_gradient
from headway.models.rows import Rows
from headway.models.transformer import Transformer
from headway.prediction import predict


def cross_entropy(task: Rows) -> ExampleLoss:
    """-mean over the predicted tokens of log p(token)."""

    def loss(model: Transformer, sequence: Int[Array, " time"], key: PRNGKeyArray | None) -> Float[Array, ""]:
        guess = jax.nn.log_softmax(predict(model, task, sequence, key).logits)
        return -jnp.mean(jnp.take_along_axis(guess, sequence[task.start :][:, None], axis=1))

    return loss


def gradient(
    model: Transformer,
    task: Rows,
    sequences: Int[Array, "batch time"],
    weights: Float[Array, " batch"],
    key: PRNGKeyArray | None,
    chunk: int,
) -> tuple[Float[Array, ""], Transformer]:
    """sum_b w_b loss_b / sum_b w_b and its gradient, `chunk` sequences at a time."""
    return batch_gradient(cross_entropy(task), model, sequences, weights, key, chunk)


def read(
    model: Transformer, task: Rows, sequences: Int[Array, "batch time"], chunk: int
) -> tuple[Float[Array, "batch predicted token"], Float[Array, "layer head query key"]]:
    """Logits at every predicted position, and where the heads look from there in the mean over the sequences."""

    def one(sequence):
        reading = predict(model, task, sequence)
        answers = 1 if model.length != task.length else reading.logits.shape[0]
        return reading.logits, jnp.stack([heads.looked[:, -answers:] for heads in reading.heads])

    logits, looked = jax.lax.map(one, sequences, batch_size=chunk)
    return logits, jnp.mean(looked, axis=0)
