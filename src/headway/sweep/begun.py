"""Cells that nobody else works on, as far as each has come."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np

from headway.records import Cell
from headway.store import Busy, Store, Work
from headway.sweep.watch import Watch

SECONDS = "seconds"
"""Name under which a checkpoint keeps the time that was spent before it."""


class Begun(NamedTuple):
    """The right to work on a cell, and its last checkpoint, if there is one."""

    work: Work
    checkpoint: dict[str, np.ndarray] | None


class Taken(NamedTuple):
    """What this process may now do of the cells that it was asked for, and what others do."""

    at: Mapping[int, list[Begun]]
    """Cells that are not done by the step at which they stopped: those of one step can go on together."""
    busy: tuple[Cell, ...]
    """Cells that other processes work on now; to be asked for again later."""


def take(cells: Iterable[Cell], store: Store, watch: Watch, held: ExitStack) -> Taken:
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
            at[resumed.position].append(Begun(work, resumed.checkpoint))
    return Taken(at, tuple(busy))
