"""Cells that nobody else works on, as far as each has come."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack

import numpy as np

from headway.records import Cell
from headway.store import Store, Work
from headway.sweep.watch import Watch

SECONDS = "seconds"
"""Name under which a checkpoint keeps the time that was spent before it."""

Begun = tuple[Work, dict[str, np.ndarray] | None]
"""The right to work on a cell, and its last checkpoint, if there is one."""


def begun(cells: Iterable[Cell], store: Store, watch: Watch, held: ExitStack) -> Mapping[int, list[Begun]]:
    """Cells that are not done by the step at which they stopped: those of one step can go on together.

    Their locks belong to `held`.
    """
    at: dict[int, list[Begun]] = defaultdict(list)
    # Every process takes the locks in the same order, so that no two wait for each other.
    for cell in sorted(cells, key=lambda cell: cell.identity):
        waiting = f"another process is at {cell.identity}; waiting for it"
        work = held.enter_context(store.open(cell, on_wait=lambda text=waiting: watch.note(text)))
        if work.record is None:
            resumed = work.resume()
            if resumed.warning:
                watch.note(resumed.warning)
            at[resumed.position].append((work, resumed.checkpoint))
    return at
