"""JAX when something is computed, not before: a task's file holds its settings, too, and help must not wait for it.

    from headway.lazily import Array, Float, jax, jnp

gives the modules themselves once JAX is loaded, and until then stand-ins that load it at their first use. Names of
types are needed only where annotations are looked at, which happens where JAX is loaded.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp
    from jaxtyping import Array, Bool, Float, Int, Num, PRNGKeyArray

__all__ = ["Array", "Bool", "Float", "Int", "Num", "PRNGKeyArray", "jax", "jnp"]

_MODULES = {"jax": "jax", "jnp": "jax.numpy"}


class _Late:
    """A module that is loaded when something of it is wanted."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(importlib.import_module(self._name), attribute)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        module = _MODULES[name]
        return importlib.import_module(module) if "jax" in sys.modules else _Late(module)
    if name in __all__:
        return getattr(importlib.import_module("jaxtyping"), name) if "jax" in sys.modules else Any
    raise AttributeError(f"module 'headway.lazily' has no attribute {name!r}")
