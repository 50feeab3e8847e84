"""Processes that judge and draw outcomes for this one; what they do is `carry_out`, here as there.

Helpers.ask(Asked) ──▶ a helper: carry_out ──▶ Helpers.answer(Asked) -> Done, or None: then it is done here

They are spawned, because the threads of an accelerator's library do not survive a fork, and need NumPy and matplotlib
only. Whatever goes wrong in one of them, an error or its death, goes wrong again here, where the user sees it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, NamedTuple

from headway.experiments import find
from headway.experiments.left_out import Complaint, kept_back
from headway.experiments.outcome import Judged, Outcome
from headway.experiments.pages import Drawn, draw
from headway.store import load

MOST = 16
"""Helpers beyond which the longest figure takes as long as all others together."""
PATIENCE = 5.0
"""Seconds that a helper may take to end when it is killed."""
GENTLE = 19
"""How far a helper stands back that works beside a training."""


@dataclass(frozen=True)
class Asked:
    """An outcome by its name and the places of its records; records are never written again."""

    called: str
    grid: str
    records: Mapping[str, Path]
    changes: Mapping[str, Any]
    folder: Path
    """Where the figures go."""
    judged: Judged | None = field(default=None, compare=False)
    """What was found in it, if that is known."""


class Done(NamedTuple):
    """What came of it; whoever asked writes the complaints on the screen."""

    judged: Judged
    drawn: Drawn
    complaints: tuple[Complaint, ...]


def asked_of(outcome: Outcome, folder: Path, judged: Judged | None = None) -> Asked:
    """The outcome in words that another process understands."""
    paths = {run: record.path for run, record in outcome.records.items()}
    return Asked(outcome.called, outcome.grid, paths, outcome.changes, folder, judged)


def carry_out(asked: Asked, processes: int) -> Done:
    """Judge the outcome, unless that was done, and draw it if it is complete, by so many processes."""
    records = {run: load(path) for run, path in asked.records.items()}
    outcome = Outcome(find(asked.called), asked.called, asked.grid, records, asked.changes)
    if asked.judged is not None:
        outcome.take(asked.judged)
    with kept_back() as complaints:
        judged = outcome.judged
        drawn = draw(outcome, asked.folder, processes) if outcome.complete else Drawn([])
    return Done(judged, drawn, tuple(complaints))


class Helpers:
    """As many as `most` of them, each started when there is something to do for it."""

    def __init__(self) -> None:
        self.most = 0
        self.gentle = False
        """Whether those started from now on stand back."""
        self.started = 0
        self._helpers: list[_Helper] = []
        self._waiting: list[Asked] = []
        self._done: list[tuple[Asked, Done | None]] = []

    def start(self, count: int) -> None:
        """Have so many of them ready; where none can be started, everything is done here."""
        while len(self._helpers) < min(count, self.most):
            try:
                self._helpers.append(_Helper(self.gentle))
            except OSError:
                self.most = len(self._helpers)
                return
            self.started += 1

    def ask(self, asked: Asked) -> None:
        """The first free helper does it, unless somebody does so already."""
        if any(asked == other for other, _ in self._done) or any(asked == each.asked for each in self._helpers):
            return
        self._waiting = [*(each for each in self._waiting if each != asked), asked]
        self.listen()

    def listen(self, seconds: float | None = 0.0) -> None:
        """Hear who is done within so long, or whenever that is, and let them do what comes next."""
        self._hand_out()
        at_work = {each.pipe: each for each in self._helpers if each.asked is not None}
        for pipe in wait(list(at_work), seconds) if at_work else ():
            helper = at_work[pipe]  # ty: ignore[invalid-argument-type]
            self._done.append((helper.asked, helper.hear()))  # ty: ignore[invalid-argument-type]
            if helper.dead:
                self._helpers.remove(helper)
                helper.end()
        self._hand_out()

    def done(self, asked: Asked) -> Done | None:
        """What came of it, if it has been done."""
        return next((done for other, done in self._done if other == asked), None)

    def answer(self, asked: Asked) -> Done | None:
        """The same, awaited; None if nobody did it, so that it is to be done here."""
        while any(asked == each.asked for each in self._helpers) or (asked in self._waiting and self._helpers):
            self.listen(None)
        return self.done(asked)

    def close(self) -> None:
        """End all of them, whatever they do."""
        for helper in self._helpers:
            helper.end()
        self._helpers.clear()

    def _hand_out(self) -> None:
        self.start(len(self._waiting) + sum(each.asked is not None for each in self._helpers))
        for helper in [each for each in self._helpers if each.asked is None][: len(self._waiting)]:
            under_way = len(self._waiting) + sum(each.asked is not None for each in self._helpers)
            helper.do(self._waiting.pop(0), max(1, self.most // under_way))


class _Helper:
    """One process, and our end of its pipe: should we die, it hears that nobody asks any more."""

    def __init__(self, gentle: bool) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.asked: Asked | None = None
        self.dead = False
        self.pipe, theirs = spawn.Pipe()
        self._process: SpawnProcess = spawn.Process(target=_serve, args=(theirs, gentle), daemon=False)
        try:
            with _deaf_to_interrupts():
                self._process.start()
        except BaseException:
            self.pipe.close()
            raise
        finally:
            theirs.close()

    def do(self, asked: Asked, processes: int) -> None:
        self.asked = asked
        with suppress(OSError):  # Should it be dead, its pipe says so.
            self.pipe.send((asked, processes))

    def hear(self) -> Done | None:
        """What came of it; None if it could not be done there."""
        self.asked = None
        try:
            return self.pipe.recv()
        except Exception:
            self.dead = True
            return None

    def end(self) -> None:
        """At once, with the processes that it forked to save figures, if it has come so far as to lead a group."""
        self.pipe.close()
        with suppress(OSError):
            if self._process.pid is not None and os.getpgid(self._process.pid) == self._process.pid:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join(PATIENCE)


@contextmanager
def _deaf_to_interrupts() -> Generator[None]:
    """A process started meanwhile never hears of Ctrl-C, not even while it imports: we end it."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _serve(pipe: Connection, gentle: bool) -> None:
    """A helper's whole life: it ends when its pipe does."""
    os.setpgid(0, 0)
    if gentle:
        os.nice(GENTLE)
    import headway.report.figures  # noqa: F401 - while nobody waits for it

    with suppress(EOFError, OSError):
        while True:
            asked, processes = pipe.recv()
            try:
                done = carry_out(asked, processes)
            except Exception:
                done = None
            sys.stdout.flush()
            pipe.send(done)
