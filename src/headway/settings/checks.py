"""What every record of settings is held against: whole numbers, numbers within limits, known words.

Listing a large store makes tens of thousands of settings: a message is put together only when it is needed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

LARGEST = 2**63 - 1
"""No whole number may be larger, or a file, an array or a seed could not hold it."""
MOST_LETTERS = 400
SMALL_COUNT = 1000
"""What is not larger need not be looked up."""
MOST_WHOLE = 10**9
"""Of a size: what a machine could ever hold of it, and products of a few still fit 64 bits."""
MOST = {
    **dict.fromkeys(("heads", "features", "columns", "rows", "copies", "pairs"), 10_000),
    **dict.fromkeys(("blocks", "layers"), 1000),
    **dict.fromkeys(("order", "lag"), 4096),
    **dict.fromkeys(("points", "snapshots"), 1_000_000),
    **dict.fromkeys(("steps", "patience", "samples"), 10**12),
}
"""By the last word of a name: what pages, tables and programs have one part for each of is bounded more tightly."""


class SettingsError(ValueError):
    """A setting that cannot work: what was got, what was wanted, what to do."""


def require(condition: bool, message: str) -> None:
    if not condition:
        refuse(message)


def refuse(message: str) -> NoReturn:
    # The name comes first and the remedy last; between them may stand a row of thousands.
    long = len(message) > MOST_LETTERS
    half = MOST_LETTERS // 2
    raise SettingsError(f"{message[:half]} ... {message[-half:]}" if long else message)


def told(value: Any) -> str:
    """A value as a message shows it; Python refuses to spell a number of thousands of digits."""
    try:
        return repr(value)
    except ValueError:
        return f"a {type(value).__name__} of thousands of digits"


@functools.cache
def _hints(kind: Any) -> tuple[tuple[str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((each.name, hints[each.name]) for each in fields(kind))


def settle(record: Any, group: str = "") -> None:
    """Lists become tuples and 2 becomes 2.0 where a float is wanted, so that equal settings have equal names.

    A word that no switch knows is refused here, or the switch would pass over it in silence.
    """
    for field_name, kind in _hints(type(record)):
        value = getattr(record, field_name)
        if type(value) is kind and kind is not int:
            continue
        name = group + field_name
        settled = _settled(name, kind, value)
        if settled is not value:
            object.__setattr__(record, field_name, settled)
        words = _words(kind)
        if words and not any(type(value) is type(word) and value == word for word in words):  # True is no 1
            refuse(f"{name} is {told(value)}, but it must be {' or '.join(map(_quoted, words))}.")
        if kind is bool:
            require(isinstance(value, bool), f"{name} is {told(value)}, but it must be True or False.")
        # By name: a notebook that loads this again has two classes of each.
        if is_dataclass(kind) and type(value).__name__ != kind.__name__:
            refuse(f"{name} is {told(value)}, but it must be {kind.__name__}(...).")


def _quoted(word: Any) -> str:
    return f'"{word}"'


def _settled(name: str, kind: Any, value: Any) -> Any:
    inner = _inner(kind)
    if inner is not None:
        if not isinstance(value, (list, tuple, range)):
            wanted = "where a row such as (1, 2) is wanted. A row of one needs its comma: (1,)."
            refuse(f"{name} has {told(value)} {wanted}")
        return tuple([_settled(name, inner, item) for item in value])
    if type(value) is int:
        if not -LARGEST <= value <= LARGEST:
            remedy = f"but no number may be larger than {LARGEST}. Use a smaller one."
            refuse(f"{name} is {told(value)}, {remedy}")
        return float(value) if _is_real(kind) else value
    return value


@functools.cache
def _words(kind: Any) -> tuple[Any, ...]:
    """What a switch may say; nothing for what is no switch."""
    return get_args(kind) if get_origin(kind) is Literal else ()


@functools.cache
def _inner(kind: Any) -> Any:
    """What a row is made of; None for what is no row."""
    return get_args(kind)[0] if get_origin(kind) is tuple else None


@functools.cache
def _is_real(kind: Any) -> bool:
    """float, or float | None."""
    return kind is float or float in get_args(kind)


def require_whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        refuse(f"{name} is {told(value)}, but it must be a whole number of at least {least}.")
    if value > SMALL_COUNT:
        most = MOST.get("lag" if name.startswith("a lag ") else name.rpartition(".")[2], MOST_WHOLE)
        require(value <= most, f"{name} is {value}, but it may be {most} at most.")


def require_number(
    name: str, value: Any, *, above: float = -math.inf, least: float = -math.inf, below: float = math.inf
) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if number and least <= value < below and value > above:
        return
    limits: Mapping[str, float] = {
        f" above {above:g}": above,
        f" of at least {least:g}": least,
        f" below {below:g}": below,
    }
    wanted = " and".join(text for text, limit in limits.items() if math.isfinite(limit))
    refuse(f"{name} is {told(value)}, but it must be a finite number{wanted}.")


def require_probability(name: str, value: Any) -> None:
    require_number(name, value, least=0)
    require(value <= 1, f"{name} is {value!r}, but a probability is at most 1.")
