"""What lies in a store: every cell and its state, without reading any array."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from headway.store import progress
from headway.store.errors import StoreError
from headway.store.kinds import IDENTITY, revive_cell
from headway.store.kinds import summary as summary_of
from headway.store.lock import is_locked
from headway.store.record import Record, brief, glance, read_named

State = Literal["done", "unfinished", "running", "damaged", "foreign"]
ASIDE = re.compile(rf"(?P<identity>{IDENTITY.pattern})\.damaged-\d+")


@dataclass(frozen=True)
class Entry:
    """One line of a listing."""

    identity: str
    """The folder's name, where it is not that of a cell."""
    state: State
    note: str = ""
    """How far it is, or what is wrong."""
    record: Record | None = field(default=None, repr=False, compare=False)
    """What was read, where it is done: whoever lists a folder need not read it twice."""
    glimpsed: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    """What it says that its cell is, where it was only glanced at."""

    @cached_property
    def summary(self) -> str:
        """The settings that differ from the default; or what is wrong."""
        return self.note if self.record is None else summary_of(self.record.cell)

    @property
    def description(self) -> Mapping[str, Any] | None:
        """The cell of a record as `Cell.describe` gives it."""
        return self.glimpsed if self.record is None else self.record.cell.describe()


def survey(root: Path, *, thorough: bool = False, closely: int | None = None) -> list[Entry]:
    """Every cell of the store and every folder that should not be there, by name.

    `thorough` also compares every file with its checksum, which reads all arrays. With `closely`, only so many records
    are read, and the rest are glanced at (`record.glance`).
    """
    if thorough and closely is not None:
        raise ValueError("a thorough look reads every record; it cannot be asked to read only some closely.")
    try:
        entries = list(os.scandir(root))
    except FileNotFoundError:
        return []
    cells = {stem for entry in entries if IDENTITY.fullmatch(stem := entry.name.removesuffix(".partial"))}
    names = {entry.name for entry in entries if entry.name in cells or entry.is_dir()}
    links = {entry.name for entry in entries if entry.is_symlink()}
    whole = sorted(cells & names)
    glanced = set() if closely is None else set(whole[closely:]) - links
    with without_collecting():
        listing = [_cell(root, identity, identity in names, thorough, identity in glanced) for identity in cells]
    for name in names:
        if ASIDE.fullmatch(name):
            listing.append(Entry(name, "damaged", "unfinished work set aside; it may be deleted"))
        elif name.removesuffix(".partial") not in cells and not name.startswith("."):
            listing.append(Entry(name, "foreign", "not made by this store"))
    return sorted(listing, key=lambda entry: entry.identity)


@contextmanager
def without_collecting() -> Generator[None]:
    """Ten thousand records are nothing but new objects: to search them for garbage takes a quarter of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _cell(root: Path, identity: str, whole: bool, thorough: bool, glancing: bool) -> Entry:
    if whole:
        try:
            if glancing:
                return Entry(identity, "done", glimpsed=glance(root, identity))
            record = read_named(root, identity)
            if thorough:
                record.verify()
        except StoreError as error:
            return Entry(identity, "foreign" if error.trouble == "foreign" else "damaged", error.problem)
        return Entry(identity, "done", record=record)
    state: State = "running" if is_locked(root / f"{identity}.lock") else "unfinished"
    folder = root / f"{identity}.partial"
    try:
        cell = revive_cell(progress.read_begin(folder)["cell"])
        checkpoint = folder / progress.CHECKPOINT
        position = progress.read_checkpoint(folder).position if checkpoint.exists() else 0
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return Entry(identity, "running" if state == "running" else "damaged", f"cannot be read: {brief(error)}")
    return Entry(identity, state, f"at {position}; {summary_of(cell)}")
