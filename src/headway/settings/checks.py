"""What every record of settings is held against: whole numbers, numbers within limits, known words."""

from __future__ import annotations

import functools
import math
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints


class SettingsError(ValueError):
    """A setting that cannot work: what was got, what was wanted, what to do."""


def require(condition: bool, message: str) -> None:
    if not condition:
        raise SettingsError(message)


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in fields(kind)}


def settle(record: Any, group: str = "") -> None:
    """Lists become tuples and 2 becomes 2.0 where a float is wanted, so that equal settings have equal names.

    A word that no switch knows is refused here, or the switch would pass over it in silence.
    """
    for field_name, kind in _hints(type(record)).items():
        name = group + field_name
        value = _settled(name, kind, getattr(record, field_name))
        object.__setattr__(record, field_name, value)
        if get_origin(kind) is Literal:
            words = " or ".join(f'"{word}"' for word in get_args(kind))
            require(value in get_args(kind), f"{name} is {value!r}, but it must be {words}.")
        if kind is bool:
            require(isinstance(value, bool), f"{name} is {value!r}, but it must be True or False.")


def _settled(name: str, kind: Any, value: Any) -> Any:
    if get_origin(kind) is tuple:
        require(
            isinstance(value, (list, tuple, range)),
            f"{name} has {value!r} where a row such as (1, 2) is wanted. A row of one needs its comma: (1,).",
        )
        return tuple(_settled(name, get_args(kind)[0], item) for item in value)
    return float(value) if kind is float and type(value) is int else value


def require_whole(name: str, value: Any, least: int) -> None:
    require(
        isinstance(value, int) and not isinstance(value, bool) and value >= least,
        f"{name} is {value!r}, but it must be a whole number of at least {least}.",
    )


def require_number(
    name: str, value: Any, *, above: float = -math.inf, least: float = -math.inf, below: float = math.inf
) -> None:
    limits = {f" above {above:g}": above, f" of at least {least:g}": least, f" below {below:g}": below}
    wanted = " and".join(text for text, limit in limits.items() if math.isfinite(limit))
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    fits = number and least <= value < below and value > above
    require(fits, f"{name} is {value!r}, but it must be a finite number{wanted}.")
