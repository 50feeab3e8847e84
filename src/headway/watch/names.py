"""What a person calls a run: an experiment's own name for it with what was changed, or what sets it apart."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from headway.experiments import NAMES, find
from headway.records import Cell
from headway.report.about import context_of
from headway.report.assemble import MOST_LABEL, flat, other_name, set_otherwise
from headway.settings.plain import plain
from headway.settings.typed import typed_settings, within

MOST_KEPT = 4096
MOST_CHANGES = 3
"""A run of a grid with more settings changed than these is rather something of its own."""


def label(cell: Cell) -> str:
    """As in "stages: minimal, quick, 8 seeds" or "stages: minimal, quick, steps 300, 8 seeds"."""
    try:
        return _label(cell)
    except Exception:  # A name is not worth the page of all other runs.
        return f"{cell.kind} {cell.identity[-4:]}"


@lru_cache(MOST_KEPT)
def _label(cell: Cell) -> str:
    seeds = f"{len(cell.seeds)} {'seed' if len(cell.seeds) == 1 else 'seeds'}"
    named = _of_a_grid(cell)
    if named is None:
        return f"{cell.kind} {cell.identity[-4:]}, {other_name(cell)}"
    name, changes = named
    return f"{within([name], changes, MOST_LABEL - len(seeds))}, {seeds}"


def own_label(cell: Cell) -> str:
    """A run by itself: "minimal, quick, ratio 1.3"; empty where no experiment has a run much like it."""
    try:
        named = _of_a_grid(cell)
    except Exception:  # as above
        named = None
    if named is None:
        return ""
    name, changes = named
    experiment, _, rest = name.partition(": ")
    return within([rest if experiment in NAMES else name], changes, MOST_LABEL)


def _of_a_grid(cell: Cell) -> tuple[str, list[str]] | None:
    """The run of an experiment that is most like it, and what is set otherwise; none if that is much."""
    known = _grids()
    if cell.settings in known:
        return known[cell.settings], []
    own = flat(plain(cell.settings))
    alike = [(settings, named) for settings, named in _flattened().items() if type(settings) is type(cell.settings)]
    nearest = min(alike, key=lambda each: len(_different(own, each[1])), default=None)
    if nearest is None or len(names := _different(own, nearest[1])) > MOST_CHANGES:
        return None
    return known[nearest[0]], typed_settings({name: set_otherwise(cell.settings, name) for name in names})


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


def _different(own: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    return [name for name in {**other, **own} if own.get(name) != other.get(name)]
