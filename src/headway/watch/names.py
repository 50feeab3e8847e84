"""What a person calls a run: an experiment's own name for it with what was changed, or what sets it apart."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from headway.experiments import NAMES, find
from headway.records import Cell
from headway.report.about import context_of
from headway.report.assemble import flat, shortened
from headway.settings.plain import plain
from headway.store.kinds import summary

MOST_KEPT = 4096
MOST_CHANGES = 3
"""A run of a grid with more settings changed than these is rather something of its own."""


def label(cell: Cell) -> str:
    """As in "stages: minimal, quick, 8 seeds" or "stages: minimal, quick, training.steps=300, 8 seeds"."""
    try:
        return _label(cell)
    except Exception:  # A name is not worth the page of all other runs.
        return f"{cell.kind} {cell.identity[-4:]}"


@lru_cache(MOST_KEPT)
def _label(cell: Cell) -> str:
    seeds = f"{len(cell.seeds)} {'seed' if len(cell.seeds) == 1 else 'seeds'}"
    known = _grids()
    if cell.settings in known:
        return f"{known[cell.settings]}, {seeds}"
    own = flat(plain(cell.settings))
    alike = [(settings, named) for settings, named in _flattened().items() if type(settings) is type(cell.settings)]
    nearest = min(alike, key=lambda each: len(_changes(own, each[1])), default=None)
    if nearest is not None and len(changes := _changes(own, nearest[1])) <= MOST_CHANGES:
        return shortened(f"{known[nearest[0]]}, {', '.join(changes)}, {seeds}")
    return shortened(f"{cell.kind} {cell.identity[-4:]}, {summary(cell)}")


@cache
def _grids() -> dict[Any, str]:
    """Settings of every run of every grid and of those beside it; where experiments share one, the first names it."""
    names: dict[Any, str] = {}
    for name in NAMES:
        for grid, runs in find(name).grids.items():
            for run, settings in runs.items():
                names.setdefault(settings, f"{run}, {grid}" if run == name else f"{name}: {run}, {grid}")
    for settings, run in list(names.items()):
        for other in getattr(settings, "references", ()):
            names.setdefault(other, f"n-gram model, c = {context_of(other)}, beside {run}")
    return names


@cache
def _flattened() -> dict[Any, dict[str, Any]]:
    return {settings: flat(plain(settings)) for settings in _grids()}


def _changes(own: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """What is set otherwise, as it would be given on the command line; what is left at its default is left out."""
    return [f"{name}={own.get(name, 'as usual')}" for name in {**other, **own} if own.get(name) != other.get(name)]
