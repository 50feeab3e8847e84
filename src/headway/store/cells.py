"""A folder of records: open a cell to compute it once, load it, list what there is."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from headway.records import Cell
from headway.store import failure, heartbeat, small, tidying
from headway.store.errors import StoreError, explained
from headway.store.kinds import IDENTITY, checked_identity
from headway.store.lock import locked
from headway.store.record import STATE, Record, read_named
from headway.store.status import Entry, survey
from headway.store.work import Work


class Store:
    """One folder per cell under `root`, whole or not at all."""

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root)

    @contextmanager
    def open(self, cell: Cell, *, wait: bool = True, on_wait: Callable[[], None] | None = None) -> Generator[Work]:
        """The right to work on `cell`, which one process has at a time.

        While another process has it, this one calls `on_wait` once and waits, and then usually finds the cell
        done: look at `work.record` first. With `wait=False` it raises `Busy` instead. A folder in the cell's
        place that is damaged or foreign is an error and stays as it is.
        """
        folder = self.root / checked_identity(cell)
        record = self._verified(cell)
        if record is not None:
            tidying.tidy_cell(folder)
            yield Work(cell, folder, record)
            return
        with explained(self.root, "making the folder for the runs"):
            self.root.mkdir(parents=True, exist_ok=True)
        with locked(_lock(folder), wait=wait, on_wait=on_wait):
            heartbeat.await_silence(folder, wait=wait)
            with heartbeat.beating(folder):
                work = Work(cell, folder, self._verified(cell))
                failure.forget(folder)
                try:
                    yield work
                except Exception as error:
                    if work.record is None:
                        failure.note(folder, error)
                    raise
                finally:
                    work.close()

    def has(self, cell: Cell) -> bool:
        """Whether the cell is done; a damaged or foreign folder in its place is an error."""
        return self._whole(cell) is not None

    def load(self, cell: Cell) -> Record:
        """The record of a cell that is done."""
        return read_named(self.root, checked_identity(cell))

    def records(
        self,
        where: Callable[[Cell], bool] | None = None,
        on_damaged: Callable[[StoreError], None] | None = None,
    ) -> Iterator[Record]:
        """Every whole record, by name; no array is read before it is wanted.

            store.records(lambda cell: cell.settings.task.ratio == 1.7)

        A damaged or foreign folder under a cell's name is an error, unless `on_damaged` takes it.
        """
        names = sorted(path.name for path in self.root.iterdir()) if self.root.is_dir() else []
        for name in filter(IDENTITY.fullmatch, names):
            try:
                record = read_named(self.root, name)
            except StoreError as error:
                if on_damaged is None:
                    raise
                on_damaged(error)
                continue
            if where is None or where(record.cell):
                yield record

    def with_state(self) -> Iterator[Record]:
        """Every whole record from whose end training can go on; what cannot be read is passed over."""
        names = sorted(path.parent.name for path in self.root.glob(f"*/{STATE}"))
        for name in filter(IDENTITY.fullmatch, names):
            with suppress(StoreError):
                record = read_named(self.root, name)
                if record.has_state:
                    yield record

    def status(self, *, thorough: bool = False, closely: int | None = None) -> list[Entry]:
        """Every cell with its state; `thorough` compares every file with its checksum.

        Of very many, `closely` so many are read, and the others only glanced at.
        """
        return survey(self.root, thorough=thorough, closely=closely)

    def copy_small(self, cell: Cell, destination: Store) -> Record:
        """Copy a record without its weights and with coarse attention; one that is there already stays."""
        record = self.load(cell)
        with destination.open(cell) as work:
            if work.record is not None:
                return work.record
            trajectory, reduced = small.reduce(record)
            return work.place(trajectory, record.provenance, reduced=reduced)

    def tidy(self) -> None:
        """Remove what processes left that died, such as the lock of a cell that is done: nobody opens it again."""
        tidying.tidy(self.root)

    def _whole(self, cell: Cell) -> Record | None:
        identity = checked_identity(cell)
        return read_named(self.root, identity) if os.path.lexists(self.root / identity) else None

    def _verified(self, cell: Cell) -> Record | None:
        record = self._whole(cell)
        if record is not None:
            record.verify()
        return record


def _lock(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.lock")
