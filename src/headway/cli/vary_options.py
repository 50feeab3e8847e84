"""`--vary task.ratio 1.3 1.5:2.0:6`: names of settings and the values that each of them takes, as they are typed."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

from headway.cli import UserError, suggestion
from headway.cli.settings_options import read_arguments, read_blocks, read_groups, read_weights
from headway.settings import SettingsError
from headway.settings.training import Arguments, Groups
from headway.settings.variation import MOST_COMBINATIONS, kind_of, names
from headway.tasks.chain import Blocks, Weights

RANGE = re.compile(r"(?P<first>[^:]+):(?P<last>[^:]+):(?P<count>\d{1,9})(?P<log>:log)?")
COUNTLESS = re.compile(r"(?P<first>[^:]+):(?P<last>[^:]+?)(?P<log>:log)?")
FORMS = "values as in 1.3 1.7, evenly spaced ones as in 1.2:2.0:5, or 0.001:0.1:5:log"
FIXED = ("task.context", "task.references")
"""Settings that say what a run is compared with, or as what it is read."""


def axes_from(typed: Sequence[Sequence[str]], runs: Sequence[Any]) -> dict[str, list[Any]]:
    """Values by the names of settings that every one of these runs has."""
    axes: dict[str, list[Any]] = {}
    for words in typed:
        if not words:
            raise UserError(f"--vary needs a setting and its values: {FORMS}.")
        name, *texts = words
        if name in FIXED:
            raise UserError(
                f"--vary {name} is not possible: the grid determines what its runs read and are compared with."
            )
        if name in axes:
            raise UserError(f"--vary {name} is given twice. Give all of its values at once.")
        kind = _kind(name, runs)
        values = [value for text in texts for value in _values(name, kind, text)]
        if not values:
            raise UserError(f"--vary {name} has no values. Give {FORMS}.")
        axes[name] = list(dict.fromkeys(values))
    return axes


def _kind(name: str, runs: Sequence[Any]) -> Any:
    try:
        kinds = [kind_of(settings, name) for settings in runs]
    except SettingsError:
        known = [each for each in names(runs[0]) if all(each in names(other) for other in runs) and each not in FIXED]
        there = f"There are {', '.join(known)}." if known else "They are of different kinds and share none."
        raise UserError(
            f"--vary {name} names no setting that all runs of this grid have.{suggestion(name, known)} {there}"
        ) from None
    return kinds[0]


def _members(kind: Any) -> tuple[Any, ...]:
    """int | None -> (int, None); everything else is one kind."""
    return get_args(kind) if get_origin(kind) is UnionType else (kind,)


def _values(name: str, kind: Any, text: str) -> list[Any]:
    spaced = RANGE.fullmatch(text)
    if spaced and {int, float} & {*_members(kind)}:
        return _spaced(name, kind, text, **spaced.groupdict())
    countless = COUNTLESS.fullmatch(text)
    if countless and {int, float} & {*_members(kind)}:
        first, last, log = countless.groups("")
        for end in (first, last):
            _number(name, float, end)
        raise UserError(
            f"--vary {name} {text}: a range needs a third number, how many values, as in {first}:{last}:5{log}."
        )
    return [_value(name, kind, text)]


def _spaced(name: str, kind: Any, text: str, first: str, last: str, count: str, log: str | None) -> list[Any]:
    """Evenly spaced, or so that each is the same multiple of the one before; whole numbers are rounded."""
    low, high, number = _number(name, float, first), _number(name, float, last), int(count)
    if not 2 <= number <= MOST_COMBINATIONS or (log and (low <= 0 or high <= 0)):
        wanted = f"2 to {MOST_COMBINATIONS} values" + (", and with :log both ends above 0" if log else "")
        raise UserError(f"--vary {name} {text} is not possible: it needs {wanted}.")
    if not math.isfinite(high / low if log else high - low):
        raise UserError(f"--vary {name} {text} is not possible: its ends are too far apart.")
    shares = [step / (number - 1) for step in range(1, number - 1)]
    # Twelve digits: 1.2:2.0:5 gives 1.4, not 1.4000000000000001, and what is typed by hand has the same name on disk.
    between = [low * (high / low) ** share if log else low + (high - low) * share for share in shares]
    exact = [low, *(float(f"{place:.12g}") for place in between), high]
    return exact if float in _members(kind) else [round(place) for place in exact]


def _value(name: str, kind: Any, text: str) -> Any:
    """One value as the setting wants it."""
    if text.lower() == "none" and NoneType in _members(kind):
        return None
    kind = next(each for each in _members(kind) if each is not NoneType)
    if get_origin(kind) is Literal:
        words = {str(word): word for word in get_args(kind)}
        if text not in words:
            raise UserError(f"--vary {name} {text}: it must be {' or '.join(words)}.{suggestion(text, list(words))}")
        return words[text]
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise UserError(f"--vary {name} {text}: it must be True or False.")
        return text.lower() == "true"
    try:
        if kind == Blocks:
            return read_blocks(text.split())
        if kind == Weights:
            return read_weights(text.split())
        if kind == Arguments:
            return read_arguments(text.split())
        if kind == Groups:
            return read_groups(text.split())
    except ValueError as error:
        raise UserError(f"--vary {name}: {error}; in quotes, as one value.") from None
    if get_origin(kind) is tuple and text.lower() == "none":
        return ()
    if get_origin(kind) is tuple:
        return tuple(_number(name, get_args(kind)[0], part) for part in text.split(","))
    return _number(name, kind, text)


def _number(name: str, kind: Any, text: str) -> Any:
    try:
        value = kind(text)
    except ValueError:
        value = math.nan
    if isinstance(value, float) and not math.isfinite(value):
        what = "a whole number" if kind is int else "a number"
        raise UserError(f"--vary {name} {text}: it must be {what}. Give {FORMS}.")
    return value
