"""Every cell of a run folder and its state, from names, small files and locks: no array is read, nothing is written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from headway.store import StoreError, failure, heartbeat, plan, progress
from headway.store.kinds import IDENTITY, revive_cell, summary
from headway.store.record import RECORD, TRAJECTORY, brief, read_named
from headway.watch.snapshot import Seen, Snapshot
from headway.watch.timing import seconds_spent

MOST_ENTRIES = 20_000
"""So many names are looked at, for a folder could be any folder."""
SILENT = f"its worker has not responded for {heartbeat.STALE:.0f} s: it hangs, or its machine is down"


class Survey:
    """Looks at a folder as often as one likes; what has not changed since is not read again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: dict[str, Seen] = {}
        self._pulse = heartbeat.Pulse()

    def look(self) -> Snapshot:
        """The cells by name: those on disk, and those that a sweep has announced."""
        names = self._names()
        cells: dict[str, Seen] = {}
        for identity in sorted(_stems(names)):
            try:
                seen = self._one(identity)
            except Exception as error:  # One run's error is that run's.
                seen = Seen(identity, "damaged", trouble=f"it cannot be read: {brief(error)}")
            if seen is not None:
                cells[identity] = seen
        self._known = dict(cells)
        plans = tuple(plan.plans(self.root))
        for identity, words in (told for each in plans for told in each.cells):
            if identity not in cells:
                cells[identity] = Seen(identity, "waiting", words)
        return Snapshot(cells, plans, len(names) >= MOST_ENTRIES)

    def _names(self) -> set[str]:
        names = set()
        try:
            with os.scandir(self.root) as entries:
                for entry in entries:
                    names.add(entry.name)
                    if len(names) >= MOST_ENTRIES:
                        break
        except FileNotFoundError:
            pass
        return names

    def _one(self, identity: str) -> Seen | None:
        folder = self.root / identity
        if os.path.lexists(folder):
            return self._whole(identity)
        seen = self._partial(identity)
        # Between the two looks the work may have become whole.
        if seen is None and os.path.lexists(folder):
            return self._whole(identity)
        note = failure.read(folder)
        working = self._pulse.state(folder)
        if working is not None:
            trouble = (note or "") if working == "running" else SILENT  # a probe that failed ends no run
            return replace(seen or Seen(identity, working), state=working, trouble=trouble)
        if note is not None:
            return replace(seen or Seen(identity, "failed"), state="failed", trouble=note)
        return seen

    def _whole(self, identity: str) -> Seen:
        path = self.root / identity / RECORD
        stamp, changed = _stamp(path)
        known = self._known.get(identity)
        if stamp and known is not None and known.stamp == stamp:
            return known
        try:
            record = read_named(self.root, identity)
            size = record.files[TRAJECTORY]["bytes"]
            return Seen(
                identity,
                "done",
                summary(record.cell),
                cell=record.cell,
                changed=changed,
                size=size,
                clock_of=record.clock_of,
                stamp=stamp,
            )
        except StoreError as error:
            return Seen(identity, "damaged", trouble=error.problem, changed=changed, stamp=stamp)
        except (OSError, ValueError) as error:
            return Seen(identity, "damaged", trouble=f"it cannot be read: {error}", changed=changed, stamp=stamp)

    def _partial(self, identity: str) -> Seen | None:
        """What was begun, as stopped; None where there is nothing of it."""
        folder = self.root / f"{identity}.partial"
        checkpoint = folder / progress.CHECKPOINT
        stamp, changed = _stamp(checkpoint)
        if not stamp:
            stamp, changed = _stamp(folder / progress.CELL)
        known = self._known.get(identity)
        if stamp and known is not None and known.stamp == stamp and known.cell is not None:
            return replace(known, state="stopped", trouble="")
        try:
            if folder.is_symlink() or not folder.is_dir():
                return None
            cell = revive_cell(progress.read_begin(folder)["cell"])
            if cell.identity != identity:
                raise ValueError(f"it is the work on another cell, {cell.identity}")
            seen = Seen(identity, "stopped", summary(cell), cell=cell, changed=changed, stamp=stamp)
            if not checkpoint.exists():
                return seen
            told = progress.read_checkpoint(folder)
            size = sum(stamp["bytes"] for stamp in told.parts.values())
            seconds = seconds_spent(folder, told)
            first = None if seconds is None else (told.position, seconds)
            since = first if known is None or known.since is None else known.since
            known_arrays = told.outline["arrays"] if told.outline else {}
            clock_of = {name: clock for name, (clock, *_) in known_arrays.items()}
            return replace(seen, position=told.position, seconds=seconds, since=since, size=size, clock_of=clock_of)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            return Seen(identity, "damaged", trouble=f"the unfinished work cannot be read: {error}", stamp=stamp)


def _stems(names: Iterable[str]) -> set[str]:
    """The cells that some name in the folder is about."""
    stems = {
        name.removesuffix(".partial").removesuffix(".lock").removesuffix(failure.SUFFIX).removesuffix(heartbeat.SUFFIX)
        for name in names
    }
    return {stem for stem in stems if IDENTITY.fullmatch(stem)}


def _stamp(path: Path) -> tuple[str, float]:
    """What changes with a file that is always replaced as a whole, and when that was; ("", 0) without a file."""
    try:
        found = os.lstat(path)
    except OSError:
        return "", 0.0
    return f"{found.st_mtime_ns:x}-{found.st_size:x}-{found.st_ino:x}", found.st_mtime
