"""How a transformer predicts a whole sequence: at once, or as an n-gram model from sliding windows."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from headway.models.rows import Rows
from headway.models.transformer import Reading, Transformer


def predict(model: Transformer, task: Rows, sequence: Int[Array, " time"], key: PRNGKeyArray | None = None) -> Reading:
    """Logits at every predicted position; a model with a short context sees only the window before each.

    A window has a single query, so an n-gram model's patterns gain no query axis of their own:
    theirs is the mean over the windows, with one row.
    """
    if model.length == task.length:
        return model.read(sequence[:-1], task.horizon, key)
    if model.length > task.start:
        raise ValueError(
            f"this model reads {model.length} tokens at once, but the task shows it {task.length} of a whole "
            f"sequence, or windows of at most {task.start}. Make the model for a length that the task has."
        )
    first = task.start - model.length
    windows = sequence[first + jnp.arange(task.horizon)[:, None] + jnp.arange(model.length)]
    if key is None:
        readings = jax.vmap(lambda window: model.read(window, 1))(windows)
    else:
        readings = jax.vmap(lambda window, k: model.read(window, 1, k))(windows, jax.random.split(key, task.horizon))
    return Reading(readings.logits[:, 0], jax.tree.map(lambda leaf: jnp.mean(leaf, axis=0), readings.heads))


def log_probabilities(model: Transformer, task: Rows, sequence: Int[Array, " time"]) -> Float[Array, "predicted token"]:
    """log p(next token) at every predicted position, without dropout."""
    return jax.nn.log_softmax(predict(model, task, sequence).logits)
