"""The run-time check of shapes and types that every function of Headway gets in tests."""

from collections.abc import Callable
from types import FunctionType
from typing import Any

import jaxtyping
from beartype import BeartypeConf, beartype

jaxtyped = jaxtyping.jaxtyped

# As the type checker does, take a whole number where a float is asked for.
_strict = beartype(conf=BeartypeConf(is_pep484_tower=True))


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """The check of a function is made when it is first called: a process imports all of them and calls some."""
    call = None

    def called(*arguments: Any, **named: Any) -> Any:
        nonlocal call
        if call is None:
            call = _strict(function)
        return call(*arguments, **named)

    return called


def jaxtyped_where_annotated(function: Any = None, **how: Any) -> Any:
    """`jaxtyping.jaxtyped`, which the import hook writes at every function, but for those that promise nothing.

    Most functions within functions have no annotations, and each would be wrapped anew at each call of the outer one.
    """
    if function is None:
        return lambda function: jaxtyped_where_annotated(function, **how)
    if isinstance(function, FunctionType) and not function.__annotations__:
        return function
    return jaxtyped(function, **how)
