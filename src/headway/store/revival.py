"""Settings from their description, fast: a group that ten thousand cells share is made and checked once."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

MANY = 4096
"""So many different groups are remembered."""


def revived_quickly(kind: Any, data: Any) -> Any | None:
    """The settings that describe themselves as `data`; None where `revive` has to say what is wrong, if anything is."""
    groups = _groups(kind)
    try:
        made = {name: _group(each, data[name]) for name, each in groups.items()}
        rest = {name: value for name, value in data.items() if name not in groups}
        return _made(kind, rest, made)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _made(kind: Any, data: Mapping[str, Any], groups: Mapping[str, Any]) -> Any:
    """Settings check themselves when they are made; what they must not do is change or add something in silence."""
    every, optional = _names(kind)
    if not every - optional <= data.keys() | groups.keys() <= every:
        raise ValueError(f"these are not the names of {kind.__name__}")
    made = kind(**{name: _row(value) if type(value) is list else value for name, value in data.items()}, **groups)
    kept = ((getattr(made, name), value) for name, value in data.items())
    if not all(value is told or _same(value, told) for value, told in kept):
        raise ValueError(f"{kind.__name__} is written in another way")
    return made


def _row(items: list[Any]) -> tuple[Any, ...]:
    return tuple(_row(item) if type(item) is list else item for item in items)


def _same(value: Any, told: Any) -> bool:
    """Whether `plain(value)` is `told`, 2 not being 2.0."""
    if type(value) is tuple and type(told) is list:
        return len(value) == len(told) and all(map(_same, value, told))
    return type(value) is type(told) and value == told


@cache
def _names(kind: Any) -> tuple[frozenset[str], frozenset[str]]:
    """All fields, and those that `plain` leaves out while they have their default."""
    every = fields(kind)
    return frozenset(each.name for each in every), frozenset(each.name for each in every if "added" in each.metadata)


@cache
def _groups(kind: Any) -> Mapping[str, type]:
    """The settings that are records themselves: task, model and so on."""
    standard = kind()
    values = {each.name: getattr(standard, each.name) for each in fields(standard)}
    return {name: type(value) for name, value in values.items() if is_dataclass(value)}


def _group(kind: Any, data: Any) -> Any:
    # A key that tells 2 from 2.0 and True from 1, as an equal dictionary would not; it is never read back.
    key = kind, marshal.dumps(data, 2)
    made = _known.get(key)
    if made is None:
        made = _made(kind, data, {})
        if len(_known) >= MANY:
            _known.clear()
        _known[key] = made
    return made


_known: dict[tuple[type, bytes], Any] = {}
