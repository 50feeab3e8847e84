"""What users chose, before it is trained: optimisers that exist, tasks that are tried out."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from headway.records import Cell
from headway.settings.plain import canonical, plain
from headway.store import Store, StoreError
from headway.sweep.watch import Watch
from headway.tasks.sound import require_sound
from headway.training.optimiser_names import require_known


def look_at_users_code(cells: Iterable[Cell], store: Store, watch: Watch) -> None:
    """A mistake is an error in words; a task that has changed since a run was made is a new run, which is reported."""
    cells = list(cells)
    for training in {cell.settings.training for cell in cells if hasattr(cell.settings, "training")}:
        if isinstance(training.optimiser, str):
            require_known(training.optimiser, dict(training.arguments))
    theirs = {cell.settings.task: cell for cell in cells if cell.source and not store.has(cell)}
    for task in theirs:
        require_sound(task)
    made = _made_before(theirs.values(), store)
    for cell in theirs.values():
        before = made.get(_run(cell))
        if before:
            watch.note(f"the code of {cell.kind} has changed since {before} was made: this is a new run")


def _made_before(cells: Collection[Cell], store: Store) -> dict[str, str]:
    """What the cells would compute -> a record of the same settings from other code."""

    def ignore(_error: StoreError) -> None: ...

    found: dict[str, str] = {}
    sources = {_run(cell): cell.source for cell in cells}
    for record in store.records(on_damaged=ignore) if cells else ():
        run = _run(record.cell)
        if run in sources and record.cell.source != sources[run]:
            found.setdefault(run, record.identity)
    return found


def _run(cell: Cell) -> str:
    """Kind and settings, whatever the seeds and the code are."""
    return f"{cell.kind} {canonical(plain(cell.settings))}"
