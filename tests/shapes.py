"""The run-time check of shapes and types that every function of Headway gets in tests."""

from collections.abc import Callable
from typing import Any

from beartype import BeartypeConf, beartype

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
