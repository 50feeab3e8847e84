"""Options of an engine: `--engine key=value`, over a cluster's defaults in one TOML file."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headway.settings import SettingsError

FILE = Path("headway-cluster.toml")
"""Looked for in the working folder if no other file is named."""


@dataclass(frozen=True)
class Option:
    """One option of an engine."""

    kind: Callable[[str], Any]
    """int, float, str, or a function that raises a ValueError in words."""
    meaning: str
    least: float | None = None


def given(engine: str, words: Iterable[str], file: Path | None, known: Iterable[str]) -> dict[str, Any]:
    """The engine's table of the file, and over it what the words key=value say."""
    options = _table(engine, file, known)
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise SettingsError(f"--engine is {word!r}, but it must be a name and a value, as in --engine time=60.")
        options[name] = value
    return options


def read_options(
    engine: str, options: Mapping[str, Any], known: Mapping[str, Option], prefixes: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The values that the engine understands; anything else is refused by name."""
    values: dict[str, Any] = {}
    for name, told in options.items():
        prefix, dot, rest = name.partition(".")
        if dot and rest and prefix in prefixes:
            values.setdefault(prefix, {})[rest] = told
        elif name in known:
            values[name] = _value(engine, name, told, known[name])
        else:
            there = [*known, *(f"{each}.NAME" for each in prefixes)]
            near = difflib.get_close_matches(name, there, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise SettingsError(f"{engine} has no option {name!r}.{hint} It has {', '.join(there)}.")
    return values


def _value(engine: str, name: str, told: Any, option: Option) -> Any:
    try:
        value = option.kind(str(told))
    except ValueError as error:
        reason = f" ({error})" if option.kind not in (int, float) else ""
        raise SettingsError(f"{engine} option {name} is {told!r}, but it is {option.meaning}{reason}.") from None
    if option.least is not None and not option.least <= value < float("inf"):
        raise SettingsError(f"{engine} option {name} is {told!r}, but it is {option.meaning}: at least {option.least}.")
    return value


def _table(engine: str, file: Path | None, known: Iterable[str]) -> dict[str, Any]:
    path = FILE if file is None else file
    if file is None and not path.is_file():
        return {}
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"--cluster is {path}, which cannot be read: {error.strerror}. Name a TOML file.") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits is one, too
        raise SettingsError(f"{path} is not TOML: {str(error)[:200]}. See docs/cluster.md for an example.") from None
    tables = list(known)
    for name, table in content.items():
        if name not in tables or not isinstance(table, dict):
            raise SettingsError(f"{path} has {name!r}, but it may hold the tables {', '.join(tables)}, and only them.")
    flat: dict[str, Any] = {}
    for name, value in content.get(engine, {}).items():
        flat |= {f"{name}.{inner}": each for inner, each in value.items()} if isinstance(value, dict) else {name: value}
    return flat
