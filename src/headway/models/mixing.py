"""Where kernels can mix the heads' values by themselves: the hook that they come in by, and what they are given.

Models know no kernels. Whoever differentiates a model names the kernels (`mixed_by`) around its loss; they serve what
they cover, and `attention.py` the rest. They leave no pattern to look at, so whoever measures names none.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from headway.models import packed

Heads = Any
"""An `Attention`, which imports this module."""


class Mixer(NamedTuple):
    """Kernels that mix values."""

    covers: Callable[[Heads, int, int], bool]
    """(attention, queries, keys) -> whether they serve it."""
    mix: Callable[..., Float[Array, "query inner"]]
    """(attention, rows of [query key value]; or rows of queries, and rows of [key value]) -> rows of mixed values."""


_MIXER: ContextVar[Mixer | None] = ContextVar("mixer", default=None)


@contextmanager
def mixed_by(mixer: Mixer | None) -> Generator[None]:
    """Within, attention is mixed by these kernels where they serve it."""
    token = _MIXER.set(mixer)
    try:
        yield
    finally:
        _MIXER.reset(token)


def served(attention: Heads, queries: int, keys: int) -> bool:
    """Whether there are kernels, and this is softmax attention by products alone, of a size that they cover."""
    mixer = _MIXER.get()
    plain = packed.serves(attention) and attention.positions.shift is None
    return mixer is not None and plain and mixer.covers(attention, queries, keys)


def mixed_rows(attention: Heads, x: Float[Array, "key width"], queries: int) -> Float[Array, "{queries} inner"]:
    """The values that the last `queries` positions find, those of all heads in a row."""
    mixer = _MIXER.get()
    assert mixer is not None
    matrices = [attention.query, attention.key, attention.value]
    own = attention.biases
    biases = [] if own is None else [own.query, own.key, own.value]
    if queries == len(x):
        return mixer.mix(attention, _projected(x, matrices, biases))
    asking = _projected(x[-queries:], matrices[:1], biases[:1])
    return mixer.mix(attention, asking, _projected(x, matrices[1:], biases[1:]))


def _projected(x: Float[Array, "time width"], matrices: list[Array], biases: list[Array]) -> Array:
    """Rows of x W + b for each of the matrices, head by head, by one product."""
    wide = jnp.concatenate([jnp.swapaxes(each, 0, 1).reshape(x.shape[-1], -1) for each in matrices], axis=1)
    out = x @ wide
    return out + jnp.concatenate([jnp.ravel(each) for each in biases]) if biases else out
