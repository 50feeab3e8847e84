"""What the full model's kernels are compiled for."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from headway.kernels.cuda.launch import multiprocessors


def dropped(rate: float) -> dict[str, int | str]:
    """Dropout at a rate, as the kernels count it."""
    return {"DROPPED": f"{round(rate * 2**32)}u", "KEPT": f"{1 / (1 - rate):.9f}f"}


def array(*shape: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    """A result of a kernel."""
    return jax.ShapeDtypeStruct(shape, dtype)


def spread(columns: int) -> int:
    """Of rows of float16 in shared memory: odd in units of 16 bytes, so that eight rows touch all banks once."""
    return columns if columns // 8 % 2 else columns + 8


class Sizes(NamedTuple):
    """Of the arrays that the kernels share."""

    members: int
    batch: int
    length: int
    queries: int
    tokens: int
    heads: int
    rows: int
    shared_rows: bool

    @property
    def blocks(self) -> int:
        """Per member: together one for every multiprocessor."""
        return max(1, multiprocessors() // self.members)

    @property
    def macros(self) -> dict[str, int | str]:
        names = ("batch", "length", "queries", "rows", "shared_rows", "blocks")
        return {name.upper(): int(getattr(self, name)) for name in names}

    def array(self, *shape: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
        return array(self.members, *shape, dtype=dtype)
