"""Arrays of other libraries as NumPy's: PyTorch's, also on a GPU or with a gradient, JAX's, anything with dlpack."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])


def as_numpy(values: Any) -> np.ndarray:
    """The same numbers in the memory of the CPU: a tensor of PyTorch without its gradient, bfloat16 as float32."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "detach") and hasattr(values, "cpu"):  # PyTorch, which need not be installed to be recognised
        values = values.detach().cpu()
        if hasattr(values, "resolve_conj"):
            values = values.resolve_conj().resolve_neg()
        return (values.float() if str(values.dtype).endswith("bfloat16") else values).numpy()
    if hasattr(values, "__array__"):
        found = np.asarray(values)
        return found.astype(np.float32) if found.dtype.name == "bfloat16" else found
    if hasattr(values, "__dlpack__"):
        return np.from_dlpack(values)
    if isinstance(values, (list, tuple)):
        return np.asarray([as_numpy(each) if is_foreign(each) else each for each in values])
    return np.asarray(values)


def is_foreign(value: Any) -> bool:
    """Whether it is an array of another library."""
    return not isinstance(value, (np.ndarray, np.generic)) and (
        hasattr(value, "__array__") or hasattr(value, "__dlpack__")
    )


def of_any_arrays(function: Function) -> Function:
    """Arrays of other libraries among the arguments, or in rows of them, reach the function as NumPy's."""

    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        return function(*map(_translated, arguments), **{name: _translated(each) for name, each in named.items()})

    return called  # ty: ignore[invalid-return-type]


def _translated(value: Any) -> Any:
    if is_foreign(value):
        return as_numpy(value)
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple) and any(map(is_foreign, value)):
        return as_numpy(value)
    return value
