"""Which settings belong to which kind of cell: the one place that knows.

A new kind of computation adds a line to `KINDS`. Only the settings are named here, never the code that
computes, so that a record can be read where the accelerator's packages are missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
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
    """The inverse of `Cell.describe`."""
    kind, seeds = description["kind"], description["seeds"]
    if kind not in KINDS:
        raise ValueError(f"it is a record of the kind {kind!r}: made by another version of Headway.")
    if not all(type(seed) is int for seed in seeds):
        raise ValueError(f"its seeds are {seeds!r}: made by another version of Headway.")
    return Cell(revive(KINDS[kind], description["settings"]), tuple(seeds), kind)


def summary(cell: Cell) -> str:
    """What a reader needs to tell cells apart: the seeds, and the settings that are not the default."""
    changed = [
        f"{name}={value}"
        for name, value in _flat(plain(cell.settings)).items()
        if _default(cell.kind).get(name) != value
    ]
    return f"{len(cell.seeds)} seeds; " + (", ".join(changed) or "default settings")


@cache
def _default(kind: str) -> dict[str, Any]:
    return _flat(plain(KINDS[kind]()))


def _flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in data.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flat
