"""Which record on disk answers a cell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from headway.records import Cell
from headway.store import Record, Store, StoreError


def answer(
    cell: Cell, stores: Iterable[Store], *, loosely: bool = False, among: Sequence[Record] | None = None
) -> Record | None:
    """The cell's own record; else the same run with more comparisons; loosely, with other seeds or comparisons too.

    Comparing a run with n-gram models does not change it, so a run that was compared serves where no
    comparison is asked for. Of several records the one with the wanted comparisons and most seeds is taken.
    Whoever asks for many cells passes `among`, the `readable` records, so that they are listed once.
    """
    stores = list(stores)
    for store in stores:
        if store.has(cell):
            return store.load(cell)
    records = readable(stores) if among is None else among
    found = [record for record in records if _serves(record.cell, cell, loosely)]
    return max(found, key=lambda record: _fitness(record.cell, cell), default=None)


def needed(cells: Iterable[Cell], stores: Sequence[Store]) -> list[Cell]:
    """The cells to compute so that every one has an answer: no run twice, once with and once without comparisons."""
    among = readable(stores)
    missing = list(dict.fromkeys(cell for cell in cells if answer(cell, stores, among=among) is None))
    return [cell for cell in missing if not any(_serves(other, cell, False) for other in missing if other != cell)]


def _serves(there: Cell, wanted: Cell, loosely: bool) -> bool:
    if there.kind != wanted.kind or _without_comparisons(there) != _without_comparisons(wanted):
        return False
    return loosely or (there.seeds == wanted.seeds and not _comparisons(wanted))


def _fitness(there: Cell, wanted: Cell) -> tuple[bool, int, str]:
    return _comparisons(there) == _comparisons(wanted), len(there.seeds), there.identity


def _comparisons(cell: Cell) -> tuple[int, ...]:
    return getattr(cell.settings, "references", ())


def _without_comparisons(cell: Cell) -> Any:
    return replace(cell.settings, references=()) if _comparisons(cell) else cell.settings


def readable(stores: Iterable[Store]) -> list[Record]:
    """Records that can be read; a damaged one answers nothing, and whoever needs it is told when opening it."""

    def ignore(_error: StoreError) -> None: ...

    return [record for store in stores for record in store.records(on_damaged=ignore)]
