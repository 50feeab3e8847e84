"""Which record on disk answers a cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from headway.records import Cell
from headway.store import Record, Store, StoreError


def answer(cell: Cell, stores: Iterable[Store], *, loosely: bool = False) -> Record | None:
    """The cell's own record; else the same run with more comparisons; loosely, with other seeds or comparisons too.

    Comparing a run with n-gram models does not change it, so a run that was compared serves where no
    comparison is asked for. Of several records the one with the wanted comparisons and most seeds is taken.
    """
    stores = list(stores)
    for store in stores:
        if store.has(cell):
            return store.load(cell)
    found = [record for store in stores for record in _readable(store) if _serves(record.cell, cell, loosely)]
    return max(found, key=lambda record: _fitness(record.cell, cell), default=None)


def needed(cells: Iterable[Cell], stores: Sequence[Store]) -> list[Cell]:
    """The cells to compute so that every one has an answer: no run twice, once with and once without comparisons."""
    missing = list(dict.fromkeys(cell for cell in cells if answer(cell, stores) is None))
    return [cell for cell in missing if not any(_serves(other, cell, False) for other in missing if other != cell)]


def _serves(there: Cell, wanted: Cell, loosely: bool) -> bool:
    if there.kind != wanted.kind or replace(there.settings, references=()) != replace(wanted.settings, references=()):
        return False
    return loosely or (there.seeds == wanted.seeds and not wanted.settings.references)


def _fitness(there: Cell, wanted: Cell) -> tuple[bool, int, str]:
    return there.settings.references == wanted.settings.references, len(there.seeds), there.identity


def _readable(store: Store) -> Iterable[Record]:
    """Records that can be read; a damaged one answers nothing, and whoever needs it is told when opening it."""

    def ignore(_error: StoreError) -> None: ...

    return store.records(on_damaged=ignore)
