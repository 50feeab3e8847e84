"""Cells and their descriptions on disk."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from typing import Any

from headway import registry
from headway.records import Cell
from headway.settings.plain import Open, canonical, plain
from headway.store.older import upgraded, upgraded_kind

MANY = 4096
"""So many different settings are remembered."""
IDENTITY = re.compile(r"[a-z][a-z0-9-]*-[0-9a-f]{16}")


def checked_identity(cell: Cell) -> str:
    """The name of a cell's folder."""
    own = getattr(cell.settings, "KIND", cell.kind)
    if own != cell.kind:
        raise ValueError(f"a cell of the kind {cell.kind!r} holds settings of the kind {own!r}.")
    identity = cell.identity
    if not IDENTITY.fullmatch(identity):
        raise ValueError(f"{identity!r} cannot name a folder of the store.")
    return identity


def revive_cell(description: Mapping[str, Any]) -> Cell:
    """The cell that a description means: the inverse of `Cell.describe`, also for the words of older versions."""
    kind, seeds, source = description["kind"], description["seeds"], description.get("source", "")
    if not (isinstance(kind, str) and isinstance(source, str)):
        raise ValueError(f"it is a record of the kind {kind!r}: made by another version of Headway.")
    if not (isinstance(seeds, list) and all(type(seed) is int for seed in seeds)):
        raise ValueError(f"its seeds are {seeds!r}: made by another version of Headway.")
    told = description["settings"]
    kind = kind if source else upgraded_kind(kind, told)
    settings = _settings(kind, canonical(told), source)
    return Cell(settings, tuple(seeds), kind, source)


@lru_cache(MANY)
def _settings(kind: str, told: str, source: str) -> Any:
    """Ten thousand cells share a few settings: each is made and checked once."""
    # A user's task may call a setting by what was once a name of ours: only ours were ever renamed.
    return registry.settings_of(kind, json.loads(told) if source else upgraded(json.loads(told), kind), source)


def summary(cell: Cell) -> str:
    """What a reader needs to distinguish cells: the seeds, and the settings that are not the default."""
    standard = registry.usual(cell.kind)
    if isinstance(cell.settings, Open) or standard is None:
        return f"{len(cell.seeds)} seeds; {_told(plain(cell.settings))}"
    changed = _changes(cell.settings, standard)
    return f"{len(cell.seeds)} seeds; " + (", ".join(changed) or "default settings")


@lru_cache(MANY)
def _changes(settings: Any, standard: Any, prefix: str = "") -> tuple[str, ...]:
    """("task.ratio=1.3",) and the like; groups that many cells share are compared once."""
    changed: list[str] = []
    for name in _names(type(settings)):
        value, usual = getattr(settings, name), getattr(standard, name)
        if value != usual and is_dataclass(usual):
            changed += _changes(value, usual, f"{prefix}{name}.")
        elif value != usual:
            changed.append(f"{prefix}{name}={plain(value)}")
    return tuple(changed)


def _told(settings: Any) -> str:
    """The task's own settings, of a kind of which the usual ones are not known."""
    task = settings.get("task", settings)
    return ", ".join(f"task.{name}={value}" for name, value in task.items())


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))
