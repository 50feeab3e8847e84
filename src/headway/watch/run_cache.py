"""The numbers of the runs that are shown: read when they have changed, kept while they have not."""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import Any

from headway.records import Trajectory
from headway.report.about import drawable
from headway.report.assemble import view_of
from headway.report.build import run_view
from headway.report.page import RunView
from headway.report.page.flow_payload import is_portrait, portrays
from headway.store import StoreError, progress
from headway.store.joining import join
from headway.store.record import brief, read_named
from headway.watch.names import label
from headway.watch.pages import Refusal
from headway.watch.snapshot import Seen, Snapshot

MOST_BYTES = 512_000_000
"""Of one run's numbers: more would fill the memory for the sake of a page that shows a part of them."""
MOST_KEPT = 64_000_000
"""Bytes of packed runs that are kept."""
MOST_PORTRAITS = 8


class RunCache:
    """Packed runs by name; one that has changed on disk is packed anew."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._packed: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._parts: dict[str, dict[str, Trajectory]] = {}
        """Of unfinished runs: the parts that were read, which never change."""

    def packed(self, seen: Seen, sight: Snapshot) -> str:
        """The run as JSON text, just as the page's own data hold it; a Refusal where it cannot be shown."""
        key = seen.identity, revision(seen)
        if key not in self._packed:
            text = self._pack(seen, sight)
            for old in [other for other in self._packed if other[0] == seen.identity]:
                del self._packed[old]
            self._packed[key] = text
            while sum(map(len, self._packed.values())) > MOST_KEPT and len(self._packed) > 1:
                self._packed.popitem(last=False)
        self._packed.move_to_end(key)
        return self._packed[key]

    def _pack(self, seen: Seen, sight: Snapshot) -> str:
        require_shown(seen)
        try:
            view = self._whole(seen, sight) if seen.state == "done" else self._unfinished(seen)
            return json.dumps(view.payload, allow_nan=False, separators=(",", ":"))
        except StoreError as error:
            raise damaged(seen.identity, error.problem) from error
        except FileNotFoundError as error:
            words = f"{seen.identity} changed while it was read. Try again in a moment."
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "Just being written", words) from error
        # A record with the right checksums can still hold anything; no content of it may end in a traceback.
        except Exception as error:
            why = brief(f"{type(error).__name__}: {error}")
            raise damaged(seen.identity, f"what it holds cannot be shown ({why})") from error

    def _whole(self, seen: Seen, sight: Snapshot) -> RunView:
        self._parts.pop(seen.identity, None)
        record = read_named(self.root, seen.identity)
        return view_of(label(record.cell), record, self._portraits(record.cell.settings, sight))

    def _portraits(self, settings: Any, sight: Snapshot) -> list[tuple[Any, Trajectory]]:
        found = []
        for each in sight.cells.values():
            fits = each.state == "done" and each.cell is not None and is_portrait(each.cell.settings, each.clock_of)
            if fits and portrays(each.cell.settings, settings) and each.size <= MOST_BYTES:
                try:
                    found.append((each.cell.settings, read_named(self.root, each.identity).trajectory))
                except StoreError:
                    continue  # The survey reports it; the flow can do without.
            if len(found) == MOST_PORTRAITS:
                break
        return found

    def _unfinished(self, seen: Seen) -> RunView:
        """The run up to its last checkpoint; parts are written once, so that only new ones are read."""
        assert seen.cell is not None
        folder = self.root / f"{seen.identity}.partial"
        told = progress.read_checkpoint(folder)
        known = self._parts.get(seen.identity, {})
        if not known.keys() <= told.parts.keys():  # It was set aside and started anew.
            known = {}
        new = replace(told, parts={name: stamp for name, stamp in told.parts.items() if name not in known})
        read = dict(zip(new.parts, progress.read_parts(folder, new, seen.cell.seeds), strict=True))
        parts = {**known, **read}
        self._parts.pop(seen.identity, None)
        if seen.state == "running":  # Others will not grow, and need not be kept.
            self._parts[seen.identity] = parts
        provenance = {"state": f"{seen.state}, at {told.position}", **progress.read_begin(folder)["begun"]}
        trajectory = join(list(parts.values()))
        return run_view(f"{label(seen.cell)} ({seen.state})", seen.cell.settings, trajectory, provenance)


def revision(seen: Seen) -> str:
    """Differs whenever what the page shows of a run differs."""
    return f"{seen.state} {seen.stamp}"


def has_numbers(seen: Seen) -> bool:
    """Whether the page can show it: done, or with a checkpoint."""
    shown = seen.cell is not None and drawable(seen.clock_of) and seen.size <= MOST_BYTES
    return shown and seen.state != "damaged" and (seen.state == "done" or seen.position > 0)


def require_shown(seen: Seen) -> None:
    """Refuse, in words, what the page cannot show."""
    if seen.state == "damaged":
        raise damaged(seen.identity, seen.trouble)
    if seen.size > MOST_BYTES:
        words = (
            f"{seen.identity} holds {seen.size:,} bytes of numbers, and this page loads at most {MOST_BYTES:,}. "
            "`headway export` writes them as a table; `headway.load` reads them in Python."
        )
        raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Too large to show", words)


def damaged(identity: str, problem: str) -> Refusal:
    words = f"{identity}: {problem}. Nothing was changed. Move the folder away to have the cell computed again."
    return Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "A damaged record", words)
