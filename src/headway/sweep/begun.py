"""Cells that nobody else works on, as far as each has come."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import NamedTuple

from headway.records import Cell
from headway.store import Busy, Resumed, Store, Work
from headway.sweep.watch import Watch

SECONDS = "seconds"
"""Name under which a checkpoint keeps the time that was spent before it."""


class Begun(NamedTuple):
    """The right to work on a cell, and where it goes on."""

    work: Work
    resumed: Resumed


class Taken(NamedTuple):
    """What this process may now do of the cells that it was asked for, and what others do."""

    at: Mapping[int, list[Begun]]
    """Cells that are not done by the step at which they stopped: those of one step can go on together."""
    busy: tuple[Cell, ...]
    """Cells that other processes work on now; to be asked for again later."""


Adopt = Callable[[Work, Resumed], Resumed]
"""New work may begin with what another run has done."""


def take(cells: Iterable[Cell], store: Store, watch: Watch, held: ExitStack, adopt: Adopt | None = None) -> Taken:
    """Every cell that is free and not done, without waiting for the others; the locks belong to `held`."""
    at: dict[int, list[Begun]] = defaultdict(list)
    busy: list[Cell] = []
    for cell in sorted(cells, key=lambda cell: cell.identity):
        try:
            work = held.enter_context(store.open(cell, wait=False))
        except Busy:
            busy.append(cell)
            continue
        if work.record is None:
            resumed = work.resume()
            if resumed.warning:
                watch.note(resumed.warning)
            resumed = resumed if adopt is None else adopt(work, resumed)
            at[resumed.position].append(Begun(work, resumed))
    return Taken(at, tuple(busy))
