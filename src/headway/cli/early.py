"""Experiments whose cells are all done are drawn while others train, so that little is left when the last one is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from headway.experiments.drawing import Drawing
from headway.lookup import Records, answer, readable
from headway.store.errors import StoreError

if TYPE_CHECKING:
    from headway.experiments.outcome import Outcome
    from headway.records import Cell
    from headway.store import Record, Store
    from headway.sweep.tally import Tally

Cells = Mapping[str, "Cell"]


class Early:
    """Looks which groups of cells are done; `outcome_of` says what the records of a group are to be shown as."""

    def __init__(
        self,
        drawing: Drawing,
        groups: Mapping[str, Cells],
        stores: Sequence[Store],
        outcome_of: Callable[[str, Mapping[str, Record]], Outcome],
    ) -> None:
        self._drawing, self._stores, self._outcome_of = drawing, stores, outcome_of
        self._left = dict(groups)
        self._found: dict[str, Record] | None = None
        self._done = -1

    def look(self, tally: Tally) -> None:
        """Have drawn what was completed since the last look. What cannot be read is left to the end, which says why."""
        self._drawing.listen()
        if tally.done != self._done:
            self._done = tally.done
            with suppress(StoreError):
                self._ask()

    def _ask(self) -> None:
        among = self._records()
        for name, cells in tuple(self._left.items()):
            found = {run: answer(cell, (), among=among) for run, cell in cells.items()}
            records = {run: record for run, record in found.items() if record is not None}
            if len(records) == len(cells):
                del self._left[name]
                self._drawing.early(self._outcome_of(name, records))

    def _records(self) -> Records:
        """Everything that was there at the first look, and every cell that was completed since: each is read once."""
        if self._found is None:
            self._found = {}
            for record in readable(self._stores):
                self._found.setdefault(record.identity, record)
        for cell in {cell for cells in self._left.values() for cell in cells.values()}:
            if cell.identity not in self._found and self._stores[0].has(cell):
                self._found[cell.identity] = self._stores[0].load(cell)
        return Records(self._found.values())
