"""Which settings belong to which kind of cell: the one place that knows.

A new kind of computation adds a line to `KINDS`. Only the settings are named here, never the code that
computes, so that a record can be read where the accelerator's packages are missing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from typing import Any

from headway.records import Cell, plain, revive
from headway.settings import (
    ConstructionSettings,
    FlowSettings,
    PortraitSettings,
    RecallSettings,
    RegressionSettings,
    Settings,
    SingleLocationSettings,
    StageTimesSettings,
    ToySettings,
)
from headway.store.files import canonical
from headway.store.revival import MANY, revived_quickly

KINDS: dict[str, type] = {
    "markov": Settings,
    "construction": ConstructionSettings,
    "flow": FlowSettings,
    "regression": RegressionSettings,
    "portrait": PortraitSettings,
    "stage-times": StageTimesSettings,
    "single-location": SingleLocationSettings,
    "recall": RecallSettings,
    "toy": ToySettings,
}

IDENTITY = re.compile(r"[a-z][a-z0-9-]*-[0-9a-f]{16}")


def checked_identity(cell: Cell) -> str:
    """The name of a cell's folder, if such a cell can be found again."""
    if cell.kind not in KINDS:
        raise ValueError(f"cells of the kind {cell.kind!r} cannot be stored; there are {', '.join(KINDS)}.")
    if not isinstance(cell.settings, KINDS[cell.kind]):
        raise ValueError(
            f"a cell of the kind {cell.kind!r} holds {type(cell.settings).__name__}, "
            f"but it needs {KINDS[cell.kind].__name__}."
        )
    identity = cell.identity
    if not IDENTITY.fullmatch(identity):
        raise ValueError(f"{identity!r} cannot name a folder of the store.")
    return identity


def revive_cell(description: Mapping[str, Any]) -> Cell:
    """The inverse of `Cell.describe`: what comes back describes itself in the very same words, or is refused."""
    kind, seeds = description["kind"], description["seeds"]
    if kind not in KINDS:
        raise ValueError(f"it is a record of the kind {kind!r}: made by another version of Headway.")
    if not (isinstance(seeds, list) and all(type(seed) is int for seed in seeds)):
        raise ValueError(f"its seeds are {seeds!r}: made by another version of Headway.")
    settings = revived_quickly(KINDS[kind], description["settings"])
    if settings is not None:
        return Cell(settings, tuple(seeds), kind)
    cell = Cell(revive(KINDS[kind], description["settings"]), tuple(seeds), kind)
    if canonical(cell.describe()) != canonical(description):
        raise ValueError("its settings are not written as this Headway writes them: made by another version of it.")
    return cell


def named_by(description: Mapping[str, Any], text: str = "") -> str:
    """named_by(cell.describe()) == cell.identity: from what a file says, before it is made into settings.

    `text` is canonical(description), where that is known.
    """
    return f"{description['kind']}-{hashlib.sha256((text or canonical(description)).encode()).hexdigest()[:16]}"


def summary(cell: Cell) -> str:
    """What a reader needs to tell cells apart: the seeds, and the settings that are not the default."""
    changed = _changes(cell.settings, _default(cell.kind))
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


@cache
def _default(kind: str) -> Any:
    return KINDS[kind]()


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))
