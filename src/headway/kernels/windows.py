"""How sequences are shown to a model: whole, or as an n-gram model's windows, in one flat batch either way."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from headway.models.rows import Rows


def contexts_of(
    length: int, task: Rows, sequences: Int[Array, "batch time"]
) -> tuple[Int[Array, "context tokens"], int]:
    """Rows of `length` tokens, each with the token behind it, and how many of a row's last tokens predict."""
    if length == task.length:
        return sequences, task.horizon
    if length > task.start:
        raise ValueError(
            f"this model reads {length} tokens at once, but the task shows it {task.length} of a whole "
            f"sequence, or windows of at most {task.start}. Make the model for a length that the task has."
        )
    first = task.start - length
    windows = sequences[:, first + jnp.arange(task.horizon)[:, None] + jnp.arange(length + 1)]
    return windows.reshape(-1, length + 1), 1


def shares_of(weights: Float[Array, " batch"], task: Rows, contexts: int) -> Float[Array, " {contexts}"]:
    """What each prediction of a context counts for in the mean over a batch."""
    return jnp.repeat(weights / (jnp.sum(weights) * task.horizon), contexts // len(weights))
