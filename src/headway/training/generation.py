"""A model that goes on from its own answers: the last tokens of a row one after the other, each the likeliest."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from headway.models.transformer import Reading


class Generated(NamedTuple):
    """The tokens, and how the model read its own output."""

    tokens: Int[Array, " generated"]
    reading: Reading


def generate(model: Any, row: Int[Array, " time"], count: int, predicted: int) -> Generated:
    """x_t = argmax p(x_t | x_1 .. x_(t-1)) for the last `count` tokens of a row, none of which is shown."""
    first = len(row) - count

    def say(place: Any, row: Array) -> Array:
        # What stands behind a position does not change what is predicted there.
        logits = model.read(row[:-1], predicted).logits
        return row.at[place].set(jnp.argmax(logits[place - (len(row) - predicted)]).astype(row.dtype))

    row = jax.lax.fori_loop(first, len(row), say, row.at[first:].set(0))
    return Generated(row[first:], model.read(row[:-1], predicted))
