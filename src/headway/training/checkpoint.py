"""Trees of arrays <-> dictionaries of named NumPy arrays, bit for bit."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree


def flatten(tree: PyTree) -> dict[str, np.ndarray]:
    """Every leaf under the path that leads to it."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def plain(values: Any) -> np.ndarray:
    """NumPy's array with the type that JAX would give it; `jnp.asarray` compiles a program for some numbers."""
    found = np.asarray(values)
    return found.astype(jnp.result_type(found), copy=False)


def fill(template: PyTree, arrays: Mapping[str, np.ndarray]) -> PyTree:
    """The inverse of `flatten` for a tree that looks like `template`."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(template)
    names = [jax.tree_util.keystr(path) for path, _ in leaves]
    for name, (_, leaf) in zip(names, leaves, strict=True):
        if name not in arrays or arrays[name].shape != leaf.shape or arrays[name].dtype != leaf.dtype:
            got = "nothing" if name not in arrays else f"{arrays[name].dtype}{list(arrays[name].shape)}"
            raise ValueError(
                f"the saved state has {got} for {name}, but {leaf.dtype}{list(leaf.shape)} is needed. It was made "
                "by another version: remove the unfinished folder to start this run from scratch."
            )
    return jax.tree.unflatten(structure, [jnp.asarray(arrays[name]) for name in names])
