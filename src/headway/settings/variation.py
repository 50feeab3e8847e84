"""Settings varied: every combination of the values of some of them, by names such as "task.ratio"."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, get_type_hints

from headway.settings.checks import SettingsError, refuse, require, told
from headway.settings.renamed import renamed_to

MOST_COMBINATIONS = 100_000
"""Combinations of one sweep: a slip must not fill the memory."""


def combinations(axes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """{"task.ratio": [1.3, 1.7], "model.heads": [2]} -> a dictionary for each combination; the last varies fastest."""
    rows = [_row(name, values) for name, values in axes.items()]
    count, most = math.prod(map(len, rows)), MOST_COMBINATIONS
    require(
        count <= most, f"these are {count} combinations, but a sweep has at most {most}. Vary fewer values at once."
    )
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*rows)]


def _row(name: str, values: Any) -> list[Any]:
    """The values of a setting; NumPy's numbers become Python's, as records hold them."""
    listed = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(listed, (list, tuple, range)):
        refuse(f"{name} is to be varied over {told(values)}, but it needs a list of values, such as [1.3, 1.7].")
    require(len(listed) > 0, f"{name} has no values to vary over. Give one or more.")
    return list(listed)


def changed(settings: Any, values: Mapping[str, Any]) -> Any:
    """The same settings but for these values; if they do not fit, the error names them all."""
    groups: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        group, _, own = name.rpartition(".")
        groups.setdefault(group, {})[own] = value
    own = groups.pop("", {})
    for name in own:
        kind_of(settings, name)  # A whole group is no setting.
    try:
        return settings.changed(**groups) if groups else replace(settings, **own)
    except (SettingsError, TypeError, AttributeError) as error:
        for name in values:
            kind_of(settings, name)
        if not isinstance(error, SettingsError):
            raise
        raise SettingsError(f"with {in_words(values)}: {error}") from None


def kind_of(settings: Any, name: str) -> Any:
    """What a setting is declared to be; a SettingsError, with all names, if there is no such setting."""
    known = names(settings)
    now = renamed_to(name)
    hint = f" It is called {now} now." if now else ""
    require(name in known, f"there is no setting {name!r} to vary.{hint} There are {', '.join(known)}.")
    group, _, own = name.rpartition(".")
    return get_type_hints(type(getattr(settings, group) if group else settings))[own]


def value_of(settings: Any, name: str) -> Any:
    """value_of(settings, "task.ratio") == settings.task.ratio."""
    return functools.reduce(getattr, name.split("."), settings)


def names(settings: Any) -> list[str]:
    """Every setting by its full name; a group that is not there, such as a task's own model, has none."""
    found: list[str] = []
    hints = get_type_hints(type(settings))
    for each in fields(settings):
        value = getattr(settings, each.name)
        if value is None and isinstance(hints[each.name], TypeVar):
            continue
        found += [f"{each.name}.{name}" for name in names(value)] if is_dataclass(value) else [each.name]
    return found


def in_words(values: Mapping[str, Any]) -> str:
    """A label: "ratio 1.3, heads 2"; by full names where short ones would be alike."""
    short = [name.rpartition(".")[2] for name in values]
    names = short if len(set(short)) == len(short) else values
    return ", ".join(f"{name} {value_in_words(value)}" for name, value in zip(names, values.values(), strict=True))


def value_in_words(value: Any) -> str:
    """As it is typed: 1.3, none, 1,2 3,4."""
    if isinstance(value, (tuple, list)):
        nested = any(isinstance(item, (tuple, list)) for item in value)
        return (" " if nested else ",").join(map(value_in_words, value)) or "none"
    if isinstance(value, float) and float(f"{value:g}") == value:
        return f"{value:g}"
    return "none" if value is None else str(value)
