"""Beside a GPU, members are drawn by a CPU, one by one: XLA compiles that in 3 s for it and in 15 for the GPU.

It runs once, so that the time to compile it is what counts. The numbers are those of a run on a CPU. What a GPU would
draw from the same seed differs in the last bits of products, exponentials and normal numbers, so that of a million
tokens a few may be others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.stages import Wrapped
from jaxtyping import Int, PyTree

from headway.training.steps import MOST_KEPT, Member, Problem, State, draw, quickly_compiled

A_CALL = 0.002
BYTES_A_SECOND = 75e6
"""Of what is drawn of paper A's full model, on one core: 50 MB a seed, nearly all of the time for its tokens."""
LONGEST = 20.0
"""Seconds: what would take a CPU longer is drawn by the GPU, which is then sooner in spite of the compilation."""


def drawing_device() -> jax.Device | None:
    """The CPU beside an accelerator; None where there is no other device, or none that JAX may use (JAX_PLATFORMS)."""
    if jax.devices()[0].platform == "cpu":
        return None
    try:
        return jax.local_devices(backend="cpu")[0]
    except RuntimeError:
        return None


class Drawing(NamedTuple):
    """How members are drawn on another device than the one that trains them."""

    device: jax.Device
    function: Wrapped
    """(shared, one member) -> its state and data, with an axis of 1."""
    shared: PyTree
    """As the device that trains has it."""
    members: Member
    """All of them, in NumPy."""
    one: tuple[State, PyTree]
    """Shapes of what it gives."""
    within: Callable[[], AbstractContextManager[None]]

    def shapes(self, members: int) -> tuple[State, PyTree]:
        """Of a pack, as the device that trains will get it."""
        return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((members, *leaf.shape[1:]), leaf.dtype), self.one)

    def draw(self) -> list[tuple[State, PyTree]]:
        """Every member's state and data. One after the other: the routines of LAPACK would wait for each other."""
        with jax.default_device(self.device), self.within():
            shared = jax.tree.map(_copied, self.shared)
            everybody = range(len(self.members.seed))
            return [jax.block_until_ready(self.function(shared, _row(self.members, row))) for row in everybody]


def drawing_of(
    problem: Problem, shared: PyTree, members: Member, within: Callable[[], AbstractContextManager[None]]
) -> Drawing | None:
    """How these members are drawn elsewhere, lowered and not yet compiled; None if the device that trains had better.

    It had if there is no other, if the other would take too long, and if the task computes what a CPU cannot.
    """
    device = drawing_device()
    if device is None:
        return None
    function, members = drawn_by(problem), jax.tree.map(np.asarray, members)
    with jax.default_device(device), within():
        asked = jax.tree.map(_shape, shared), _row(members, 0)
        try:
            one = jax.eval_shape(function, *asked)
            if len(members.seed) * (A_CALL + _bytes(one) / BYTES_A_SECOND) > LONGEST:
                return None
            function.lower(*asked)
        except NotImplementedError:  # what a CPU cannot compute has no rule to be lowered by
            return None
    return Drawing(device, function, shared, members, one, within)


def packed(drawn: list[tuple[State, PyTree]], rows: Int[np.ndarray, " packed"]) -> tuple[State, PyTree]:
    """These members side by side, on the device that trains: every array goes there in one piece."""
    return jax.block_until_ready(jax.tree.map(_joined, *(drawn[row] for row in rows)))


@lru_cache(MOST_KEPT)
def drawn_by(problem: Problem) -> Wrapped:
    """Compiled once for a problem, as `steps.compiled` is."""
    return jax.jit(partial(draw, problem), compiler_options=quickly_compiled(problem))


def _row(members: Member, row: int) -> Member:
    return jax.tree.map(lambda leaf: leaf[row : row + 1], members)


def _shape(leaf: Any) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype)


def _joined(*leaves: Any) -> Any:
    """Joined by NumPy, where JAX would compile a program for every shape."""
    return _placed(np.concatenate([_numbers(leaf) for leaf in leaves]), leaves[0])


def _copied(leaf: Any) -> Any:
    return _placed(_numbers(leaf), leaf)


def _numbers(leaf: Any) -> np.ndarray:
    """Those of an array; of keys of random numbers their bits."""
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)


def _placed(numbers: np.ndarray, like: Any) -> Any:
    """On the device where one computes now, of the type of `like`."""
    placed = jax.device_put(numbers)
    return jax.random.wrap_key_data(placed, impl=jax.random.key_impl(like)) if _is_key(like) else placed


def _is_key(leaf: Any) -> bool:
    return jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _bytes(tree: PyTree) -> int:
    leaves = jax.tree.leaves(tree)
    return sum(math.prod(leaf.shape) * getattr(leaf.dtype, "itemsize", 8) for leaf in leaves)
