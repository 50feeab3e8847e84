"""Softmax attention of any short sequence on an NVIDIA GPU, in TF32: scores are made, used and forgotten.

Rows hold what every position projects, [query, key, value] by head, or only [key, value] where fewer positions ask
than answer; then the queries are rows of their own.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from headway.kernels.cuda.launch import ahead, call, shared_limit, usable

SOURCE = "heads.cu"
PARTS = (32, 64)
"""Columns per head."""
GROUPS = (3, 2)
"""Tiles of eight keys or queries that are taken at a time; of those that fill up with equally few the first."""
MOST_WARPS, FEWEST_WARPS = 16, 2
SLOPES = 3
"""Of queries, keys and values, each computed by a block of its own."""


class Heads(NamedTuple):
    """What a kernel is compiled for."""

    length: int
    asked: int
    heads: int
    part: int
    causal: bool
    scaled: bool

    @property
    def together(self) -> bool:
        return self.asked == self.length

    @property
    def group(self) -> int:
        return min(GROUPS, key=lambda group: _up(self.length, 8 * group))

    @property
    def warps(self) -> int:
        return min(MOST_WARPS, max(FEWEST_WARPS, -(-self.length // 16)))

    @property
    def bytes_forward(self) -> int:
        """Keys and values."""
        return 4 * 2 * self._filled(self.length) * (self.part + 4)

    @property
    def bytes_backward(self) -> int:
        """The same, or queries and slopes; and two numbers of every query."""
        return self.bytes_forward + 4 * 2 * self._filled(self.asked)

    def _filled(self, count: int) -> int:
        return _up(count, 8 * self.group)

    @property
    def macros(self) -> dict[str, int | str]:
        scale = 1 / math.sqrt(self.part) if self.scaled else 1.0
        names = {name.upper(): int(getattr(self, name)) for name in (*self._fields[:5], "together", "warps", "group")}
        return {**names, "SCALE": f"{scale:.9f}f"}


def _up(count: int, multiple: int) -> int:
    return -(-count // multiple) * multiple


def covers(heads: Heads) -> bool:
    """Whether the kernels serve these sizes on this machine."""
    return heads.part in PARTS and usable() and heads.bytes_backward <= shared_limit()


def mix(heads: Heads, *rows: Float[Array, "_ _"]) -> Float[Array, "asked width"]:
    """What the heads mix, one after the other in a row, for one sequence."""
    return _mix(heads)(*(each[None] for each in rows))[0]


@functools.cache
def _mix(heads: Heads) -> Callable[..., Array]:
    """For sequences one after the other; under `vmap` all of them share the launches."""
    forward, backward = (_flat(functools.partial(launch, heads)) for launch in (_forward, _backward))

    @jax.custom_vjp
    def mixed(*rows):
        return forward(*rows)[0]

    def begin(*rows):
        found, normaliser = forward(*rows)
        return found, (*rows, found, normaliser)

    mixed.defvjp(begin, lambda kept, slope: tuple(backward(*kept, slope)))
    return mixed


def _flat(compute: Callable) -> Callable:
    """`compute` of arrays (sequence, ...), for which another axis is only more sequences."""

    @jax.custom_batching.custom_vmap
    def of_sequences(*arrays):
        return tuple(compute(*arrays))

    @of_sequences.def_vmap
    def of_more(size, batched, *arrays):
        def joined(array, own):
            whole = array if own else jnp.broadcast_to(array, (size, *array.shape))
            return whole.reshape(-1, *whole.shape[2:])

        with ahead():
            found = of_sequences(*map(joined, arrays, batched))
        apart = tuple(each.reshape(size, -1, *each.shape[1:]) for each in found)
        return apart, (True,) * len(apart)

    return of_sequences


def _forward(heads: Heads, *rows: Array):
    sequences, width = len(rows[0]), heads.heads * heads.part
    return call(
        SOURCE,
        "heads_forward",
        heads.macros,
        rows,
        (_array(sequences, heads.asked, width), _array(sequences, heads.heads, heads.asked)),
        blocks=sequences * heads.heads,
        threads=32 * heads.warps,
        shared_bytes=heads.bytes_forward,
    )


def _backward(heads: Heads, *everything: Array):
    rows = everything[:-3]
    return call(
        SOURCE,
        "heads_backward",
        heads.macros,
        everything,
        [_array(*each.shape) for each in rows],
        blocks=SLOPES * len(rows[0]) * heads.heads,
        threads=32 * heads.warps,
        shared_bytes=heads.bytes_backward,
    )


def _array(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)
