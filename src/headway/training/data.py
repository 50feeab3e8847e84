"""Which examples a step sees: epochs without replacement over a finite set of any size."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, PRNGKeyArray

Count = Int[Array, ""] | int


def epoch_batch(
    key: PRNGKeyArray, step: Count, samples: Count, capacity: int, batch: int
) -> tuple[Int[Array, " {batch}"], Bool[Array, " {batch}"]]:
    """Indices of the step's examples and whether each is real; the last batch of an epoch may be smaller.

    Only the first `samples` of `capacity` rows are used, so members of one program can have
    data sets of different sizes. An epoch's order is a function of (key, epoch): nothing has to
    be remembered between steps, and the order does not depend on the capacity.
    """
    batches = -(-samples // batch)
    epoch, slot = step // batches, step % batches
    row = jnp.arange(capacity)
    rank = jax.random.bits(jax.random.fold_in(key, epoch), (capacity,), jnp.uint32)
    # Rows beyond `samples` sort last: the largest rank, and among equals the sort keeps the order.
    order = jnp.argsort(jnp.where(row < samples, rank, jnp.uint32(0xFFFFFFFF)), stable=True)
    place = slot * batch + jnp.arange(batch)
    return order[jnp.minimum(place, capacity - 1)], place < samples
