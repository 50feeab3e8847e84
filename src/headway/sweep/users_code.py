"""What users chose, before it is trained: optimisers that exist, tasks that are tried out."""

from __future__ import annotations

from collections.abc import Iterable

from headway.records import Cell, plain
from headway.store import Store, StoreError
from headway.sweep.watch import Watch
from headway.tasks.sound import require_sound
from headway.training.optimiser_names import require_known


def look_at_users_code(cells: Iterable[Cell], store: Store, watch: Watch) -> None:
    """A mistake is an error in words; a task that has changed since a run was made is a new run, and that is said."""
    cells = list(cells)
    for training in {cell.settings.training for cell in cells if hasattr(cell.settings, "training")}:
        if isinstance(training.optimiser, str):
            require_known(training.optimiser, dict(training.arguments))
    theirs = {cell.settings.task: cell for cell in cells if cell.source and not store.has(cell)}
    for task in theirs:
        require_sound(task)
    for cell in theirs.values():
        before = _made_before(cell, store)
        if before:
            watch.note(f"the code of {cell.kind} has changed since {before} was made: this is a new run")


def _made_before(cell: Cell, store: Store) -> str:
    """A record of the same settings from other code; nothing if there is none."""

    def ignore(_error: StoreError) -> None: ...

    told = plain(cell.settings)
    for record in store.records(on_damaged=ignore):
        same = record.cell.kind == cell.kind and plain(record.cell.settings) == told
        if same and record.cell.source != cell.source:
            return record.identity
    return ""
