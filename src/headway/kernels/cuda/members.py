"""One computation for all members of a program, where `vmap` would make one launch after the other."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from headway.kernels.cuda.launch import ahead


def over_members(compute: Callable) -> Callable:
    """`compute` for one member, which under `vmap` serves all at once; it wants a leading member axis everywhere."""

    @jax.custom_batching.custom_vmap
    def one(*arguments):
        stacked = jax.tree.map(lambda leaf: leaf[None], arguments)
        return jax.tree.map(lambda leaf: leaf[0], compute(*stacked))

    @one.def_vmap
    def many(members, batched, *arguments):
        def spread(leaf, own):
            return leaf if own else jnp.broadcast_to(leaf, (members, *leaf.shape))

        with ahead():  # what is traced for one member is never lowered
            result = compute(*jax.tree.map(spread, arguments, tuple(batched)))
        return result, jax.tree.map(lambda _: True, result)

    return one
