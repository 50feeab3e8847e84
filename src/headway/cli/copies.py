"""Small copies of records, each made as soon as its cell is done: a command that is killed has written those."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from headway.store.errors import StoreError

if TYPE_CHECKING:
    from headway.records import Cell
    from headway.store import Store
    from headway.sweep.tally import Tally


def bring_pilots(cells: Iterable[Cell], stores: Sequence[Store]) -> None:
    """Pilots that another store has are not trained again: all that is asked of them is when their plateaus ended."""
    for pilot in dict.fromkeys(each for cell in cells for each in cell.pilots()):
        there = next((store for store in stores if store.has(pilot)), None)
        if there is not None and there is not stores[0]:
            there.copy_small(pilot, stores[0])


class Copies:
    """Of `cells`, and of whatever they need, from one store into others."""

    def __init__(self, cells: Iterable[Cell], source: Store, destinations: Sequence[Store]) -> None:
        self._source, self._destinations = source, destinations
        wanted = dict.fromkeys(each for cell in cells for each in (*cell.needs(), cell))
        self._left = list(wanted) if destinations else []
        self._done = -1

    def look(self, tally: Tally) -> None:
        """Copy what was done since the last look. A copy that fails is tried again at the end, which says why."""
        if tally.done != self._done:
            self._done = tally.done
            with suppress(StoreError):
                self.make()

    def make(self) -> None:
        """Copy all that is done by now."""
        for cell in tuple(self._left):
            if self._source.has(cell):
                for destination in self._destinations:
                    self._source.copy_small(cell, destination)
                self._left.remove(cell)
