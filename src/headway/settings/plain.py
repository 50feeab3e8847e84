"""Frozen records as what JSON can hold, and back: revive(type(x), plain(x)) == x."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar

Made = TypeVar("Made")


def plain(value: Any) -> Any:
    """Frozen records as dictionaries, lists, numbers and words, ready for JSON.

    A field that was added later (`metadata={"added": version}`) is left out while it has its default, so that what was
    computed before it existed keeps its name.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        told = (f for f in dataclasses.fields(value) if not (_added(f) and getattr(value, f.name) == f.default))
        return {f.name: plain(getattr(value, f.name)) for f in told}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value.described if isinstance(value, Open) else value


class Open:
    """Settings as a record holds them, of a kind whose code is not at hand: record.cell.settings.task.states."""

    def __init__(self, described: Mapping[str, Any]) -> None:
        self.described = dict(described)

    def __getattr__(self, name: str) -> Any:
        described = self.__dict__.get("described", {})
        if name not in described:
            raise AttributeError(f"these settings have no {name!r}; they have {', '.join(described)}.")
        return _opened(described[name])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Open) and self.described == other.described

    def __hash__(self) -> int:
        return hash(json.dumps(self.described, sort_keys=True))

    def __repr__(self) -> str:
        return f"Open({self.described!r})"


def _opened(value: Any) -> Any:
    if isinstance(value, dict):
        return Open(value)
    return tuple(map(_opened, value)) if isinstance(value, list) else value


def canonical(data: Any) -> str:
    """JSON in which equal content is equal text."""
    return _ENCODER.encode(data)


# dumps would set it up anew for each of ten thousand cells.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def named_by(description: Mapping[str, Any], text: str = "") -> str:
    """named_by(cell.describe()) == cell.identity: from what a file says, before it is made into settings.

    `text` is canonical(description), where that is known.
    """
    return f"{description['kind']}-{hashlib.sha256((text or canonical(description)).encode()).hexdigest()[:16]}"


def revive(cls: type[Made], data: Any) -> Made:
    """revive(type(x), plain(x)) == x: a frozen record from dictionaries, lists, numbers and words.

    Follows the annotations: nested records, tuples, `None`, Literals. Numbers stay what they are,
    so that the identity of a cell survives. What does not fit is an error, never a default.
    """
    return _revive(cls, data, cls.__name__)


def _revive(kind: Any, data: Any, where: str) -> Any:
    if dataclasses.is_dataclass(kind):
        return _revive_record(kind, data, where)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple and isinstance(data, list):
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_revive(arguments[0], item, where) for item in data)
        if len(arguments) == len(data):
            return tuple(_revive(part, item, where) for part, item in zip(arguments, data, strict=True))
    if origin in (typing.Union, types.UnionType):
        return _revive_choice(arguments, data, where)
    if origin is Literal and any(data == word and type(data) is type(word) for word in arguments):
        return data
    if kind is type(None) and data is None:
        return data
    # What an optimiser's own arguments are is its own matter; a record holds numbers and words.
    if kind is Any and isinstance(data, (bool, int, float, str)):
        return data
    # An int is a good value for a float setting, a bool is not a good value for a number.
    if kind in (bool, int, float, str) and (type(data) is kind or (kind is float and type(data) is int)):
        return data
    raise _another_version(f"{where} is {data!r}, which does not fit {kind}")


def _revive_record(kind: Any, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise _another_version(f"{where} is {data!r}, not a set of named values")
    wanted = _annotations(kind)
    optional = {f.name for f in dataclasses.fields(kind) if _added(f)}
    for name in sorted(wanted.keys() - data.keys() - optional):
        raise _another_version(f"{where} lacks {name!r}")
    for name in sorted(data.keys() - wanted.keys()):
        raise _another_version(f"{where} has an unknown {name!r}")
    return kind(**{name: _revive(wanted[name], data[name], f"{where}.{name}") for name in wanted if name in data})


def _added(field: dataclasses.Field) -> bool:
    """Whether a record made before this field existed lacks it and means its default."""
    return "added" in field.metadata


def _revive_choice(kinds: tuple[Any, ...], data: Any, where: str) -> Any:
    problem: ValueError | None = None
    for kind in kinds:
        try:
            return _revive(kind, data, where)
        except ValueError as error:
            problem = error
    raise problem or ValueError(where)


@functools.cache
def _annotations(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {f.name: hints[f.name] for f in dataclasses.fields(kind)}


def _another_version(problem: str) -> ValueError:
    return ValueError(f"{problem}: made by another version of Headway.")
