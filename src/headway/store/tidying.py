"""What processes left that died: removed by the next command in the folder, if nobody can still need it."""

from __future__ import annotations

import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path

from headway.store import failure, files, heartbeat, output, plan
from headway.store.errors import Busy, StoreError
from headway.store.kinds import IDENTITY
from headway.store.lock import locked
from headway.store.record import read_named

FIGURES = "figures"
BESIDE = (".partial", ".lock", heartbeat.SUFFIX, failure.SUFFIX + files.TEMPORARY)
"""What a cell's work leaves beside its record."""
PROBE = re.compile(r"\.(now|room)-[0-9a-f]{16}(\.tmp)?")


def tidy(root: Path) -> None:
    """Remove what is provably dead; a folder that cannot be written, or that does not exist, stays as it is.

    Unfinished work, notes of failures and orders for workers stay: somebody may go on with them.
    """
    try:
        names = {entry.name for entry in os.scandir(root)}
    except OSError:
        return
    stems = {name.removesuffix(suffix) for name in names for suffix in BESIDE if name.endswith(suffix)}
    for stem in filter(IDENTITY.fullmatch, stems):
        tidy_cell(root / stem, names)
    for name in filter(PROBE.fullmatch, names):
        with suppress(OSError):
            if abs(time.time() - os.lstat(root / name).st_mtime) > output.OLD:
                (root / name).unlink()
    plan.sweep(root)
    for folder in (root, root / FIGURES):
        if not folder.is_symlink() or folder == root:
            output.tidy_outputs(folder)


def tidy_cell(folder: Path, names: set[str] | None = None) -> None:
    """Remove what lies beside a cell that nobody works on; its unfinished work only if its record is whole."""
    there = {folder.name + suffix for suffix in BESIDE if os.path.lexists(f"{folder}{suffix}")}
    if not there or (names is not None and there == {f"{folder.name}.partial"} and folder.name not in names):
        return
    # Another process may be at it, or the store may be read-only: then it stays.
    with suppress(Busy, StoreError, OSError), locked(Path(f"{folder}.lock"), wait=False, on_wait=None):
        whole = _is_whole(folder)
        beat = heartbeat.read(folder)
        if not whole and beat is not None and not beat.here:
            return  # Locks may not reach the machine that works on it.
        if whole:
            shutil.rmtree(f"{folder}.partial", ignore_errors=True)
        heartbeat.forget(folder)
        with suppress(OSError):
            Path(f"{folder}{BESIDE[-1]}").unlink()


def _is_whole(folder: Path) -> bool:
    try:
        read_named(folder.parent, folder.name)
        return True
    except StoreError:
        return False
