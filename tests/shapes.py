"""The run-time check of shapes and types that every function of Headway gets in tests.

The check is jaxtyping's, with beartype, in the way that costs least: made when a function is first called (a process
imports all of them and calls some), arguments looked at once, and a scope of its own only for names of axes. The
functions for which that is not the whole check have jaxtyping's own wrapper.
"""

import dataclasses
import inspect
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, get_type_hints

import jaxtyping
from beartype import BeartypeConf, beartype
from jaxtyping import config

jaxtyped = jaxtyping.jaxtyped

# As the type checker does, take a whole number where a float is asked for.
checked = beartype(conf=BeartypeConf(is_pep484_tower=True))


def jaxtyped_where_annotated(function: Any = None, **how: Any) -> Any:
    """`jaxtyping.jaxtyped`, which the import hook writes at every function, but for those that promise nothing.

    Most functions within functions have no annotations, and each would be wrapped anew at each call of the outer one.
    """
    if function is None:
        return lambda function: jaxtyped_where_annotated(function, **how)
    if inspect.isclass(function):
        if dataclasses.is_dataclass(function) and "__init__" in vars(function):
            function.__init__ = jaxtyped_where_annotated(function.__init__, **how)
        return function
    if isinstance(function, classmethod | staticmethod):
        return type(function)(jaxtyped_where_annotated(function.__func__, **how))
    if isinstance(function, property):
        parts = (function.fget, function.fset, function.fdel)
        return property(*(each and jaxtyped_where_annotated(each, **how) for each in parts))
    if not isinstance(function, FunctionType):
        return jaxtyped(function, **how)
    if not function.__annotations__:
        return function
    return jaxtyped(function, **how) if _is_special(function) else _checked_once(function)


def _is_special(function: FunctionType) -> bool:
    """Whether arguments are named in its shapes, or what it promises is not what it returns."""
    named = any("{" in str(each) for each in function.__annotations__.values())
    return named or inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function)


def _checked_once(function: FunctionType) -> Callable[..., Any]:
    check, scoped = None, False

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        nonlocal check, scoped
        if config.jaxtyping_disable:
            return function(*arguments, **named)
        if check is None:
            check, scoped = _check(function)
        if not scoped:
            return check(*arguments, **named)
        with jaxtyped("context"):
            return check(*arguments, **named)

    return called


def _check(function: FunctionType) -> tuple[Callable[..., Any], bool]:
    """The function with its check, and whether there are names of axes in it."""
    hints = {name: _meant(hint, function.__globals__) for name, hint in function.__annotations__.items()}
    same = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    same.__kwdefaults__, same.__annotations__ = function.__kwdefaults__, hints
    same.__module__, same.__qualname__ = function.__module__, function.__qualname__
    return checked(same), any("jaxtyping" in repr(each) for each in hints.values())


def _meant(hint: Any, names: dict[str, Any]) -> Any:
    """As jaxtyping does, anything where a name in it is not known there."""

    def example() -> None: ...

    example.__annotations__ = {"hint": hint}
    try:
        return get_type_hints(example, names, include_extras=True)["hint"]
    except Exception:
        return Any
