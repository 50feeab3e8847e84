"""What each address answers with, as text; who asks and how it is sent is the server's business."""

from __future__ import annotations

import re
import shlex
import threading
import time
from http import HTTPStatus
from pathlib import Path
from typing import Any

from headway.report.about import drawable
from headway.report.assemble import shortened
from headway.store.kinds import IDENTITY
from headway.watch import overview
from headway.watch.names import label
from headway.watch.pages import Refusal, live_page
from headway.watch.run_cache import RunCache, has_numbers, require_shown
from headway.watch.snapshot import Seen, Snapshot
from headway.watch.survey import Survey

AGAIN = 0.5
"""Seconds for which a look at the folder serves everybody."""
MOST_LETTERS = 120
"""Of an address that is repeated to the reader."""
RUN = re.compile(rf"/run/(?P<identity>{IDENTITY.pattern})")
NUMBERS = re.compile(rf"/run/(?P<identity>{IDENTITY.pattern})\.json")


class Handler:
    """One folder; questions are answered one at a time, so that many readers take no more memory than one."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._survey, self._runs = Survey(root.absolute()), RunCache(root.absolute())
        self._lock = threading.Lock()
        self._sight: Snapshot | None = None
        self._looked = 0.0

    def page(self, path: str) -> str:
        """The page at an address."""
        with self._lock:
            if path == "/":
                return self._folder()
            if (found := RUN.fullmatch(path)) is not None:
                return self._run(found["identity"])
            raise _unknown(path)

    def news(self, identity: str | None) -> dict[str, Any]:
        """The state of the folder and of the runs that its page shows, or of one."""
        with self._lock:
            snapshot = self._look()
            if identity is None:
                runs = overview.shown(snapshot)
                return overview.state(snapshot, runs, self._folder_words(snapshot, len(runs)))
            seen = self._seen(identity)
            return overview.state(snapshot, [seen] if has_numbers(seen) else [], _run_words(seen))

    def numbers(self, path: str) -> str:
        """The numbers of one run, as a report of that run alone."""
        found = NUMBERS.fullmatch(path)
        if found is None:
            raise _unknown(path)
        with self._lock:
            seen = self._seen(found["identity"])
            _require_numbers(seen)
            return f'{{"runs":[{self._runs.packed(seen, self._look())}]}}'

    def _folder(self) -> str:
        snapshot = self._look()
        runs, packed = [], []
        for seen in overview.shown(snapshot):
            try:
                packed.append(self._runs.packed(seen, snapshot))
                runs.append(seen)
            except Refusal:
                continue  # It is listed, and its own page says what is wrong with it.
        state = overview.state(snapshot, runs, self._folder_words(snapshot, len(runs)))
        return live_page(f"Watching {self.root}", state, packed, "/state.json", self._command)

    def _folder_words(self, snapshot: Snapshot, loaded: int) -> str:
        """What this page is, and what to do for more, when so many runs are loaded."""
        if not snapshot.cells:
            missing = "Nothing has been run in" if self.root.is_dir() else "There is no folder"
            return f"{missing} {self.root.absolute()} yet: this page fills as soon as a run begins there."
        words = ["It updates by itself and only reads."]
        if not loaded:
            words.append("Pictures appear with the first checkpoint of a run.")
        elif loaded < sum(map(has_numbers, overview.listed(snapshot))):
            words.append(f"{loaded} runs are loaded here, those going on and the latest; the others are listed below.")
        going = sum(seen.state == "running" for seen in snapshot.cells.values() if seen.cell and seen.cell.is_pilot)
        if going:
            runs = "1 pilot run is" if going == 1 else f"{going} pilot runs are"
            words.append(f"{runs} choosing a learning rate, and not listed.")
        if any(seen.state == "done" for seen in overview.listed(snapshot)):
            folder = shlex.quote(str(self.root))
            words.append(
                f"Verdicts on the claims: headway claims --from {folder}; "
                f"the page with verdicts and figures: headway report --from {folder}."
            )
        return " ".join(words)

    def _run(self, identity: str) -> str:
        seen = self._seen(identity)
        require_shown(seen)
        snapshot = self._look()
        if seen.state == "done" and not drawable(seen.clock_of):
            words = (
                f"{identity} is {seen.state}, and nothing in it changes over time: `headway report` draws its figures."
            )
            raise Refusal(HTTPStatus.NOT_FOUND, "No pictures of this run", words)
        ready = has_numbers(seen)
        packed = [self._runs.packed(seen, snapshot)] if ready else []
        state = overview.state(snapshot, [seen] if ready else [], _run_words(seen))
        title = label(seen.cell) if seen.cell is not None else identity
        return live_page(title, state, packed, f"/state.json?run={identity}", self._command)

    @property
    def _command(self) -> str:
        return f"headway watch {shlex.quote(str(self.root))}"

    def _look(self) -> Snapshot:
        if self._sight is None or time.monotonic() - self._looked > AGAIN:
            try:
                self._sight = self._survey.look()
            except OSError as error:
                words = f"{self.root}: {error.strerror}. This page comes back when the folder does."
                raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "The folder cannot be read", words) from error
            self._looked = time.monotonic()
        return self._sight

    def _seen(self, identity: str) -> Seen:
        seen = self._look().cells.get(identity) if IDENTITY.fullmatch(identity) else None
        if seen is None:
            words = f"There is no cell {shortened(identity, MOST_LETTERS)} in {self.root}."
            raise Refusal(HTTPStatus.NOT_FOUND, "No such run", words)
        return seen


def _run_words(seen: Seen) -> str:
    if has_numbers(seen):
        return "It updates by itself and only reads."
    return f"This cell is {seen.state}. Its numbers appear here with its first checkpoint."


def _require_numbers(seen: Seen) -> None:
    require_shown(seen)
    if not has_numbers(seen):
        words = f"{seen.identity} is {seen.state}, and there is nothing measured to show of it."
        raise Refusal(HTTPStatus.NOT_FOUND, "No numbers yet", words)


def _unknown(path: str) -> Refusal:
    return Refusal(HTTPStatus.NOT_FOUND, "No such page", f"There is nothing at {shortened(path, MOST_LETTERS)}.")
