"""One worker in a process of its own: what it was asked for, and what it has reported."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from headway.store import files
from headway.store.texts import visible
from headway.sweep.engines import Order
from headway.sweep.engines.launch import ask_to_stop, command, spawn
from headway.sweep.queue import Place
from headway.sweep.serving import LONGEST_LINE, heard
from headway.sweep.tally import Working

LAST_WORDS = 2000


class Process:
    """A worker, and our end of its pipes."""

    def __init__(self, order: Order, number: int, place: Place, log: Path, environment: Mapping[str, str]) -> None:
        self.number, self.place, self._log = number, place, log
        self.doing: int | None = None
        """The job it was asked for and has not reported the end of."""
        self.run, self._members, self._steps, self._step, self._loss = "", 0, 0, 0, float("nan")
        self._jobs, self._spent, self.ready, self._said = 0, dict[str, float](), False, b""
        self._started = self._since = time.monotonic()
        self._before = 0.0
        self._dismissed = self.closed = False
        with os.fdopen(files.create(log), "wb") as file:
            self.process = spawn(command(order.root, order.path, order.code, serve=True), file, environment, pipes=True)
        os.set_blocking(self.pipe.fileno(), False)

    @property
    def pipe(self) -> IO[bytes]:
        """What it says comes from here."""
        assert self.process.stdout is not None
        return self.process.stdout

    @property
    def waits(self) -> bool:
        """Whether it could do something."""
        return self.ready and self.doing is None and not self._dismissed and not self.closed

    @property
    def share(self) -> float:
        """Of what it does, what is done; of a run until it has learnt at least this."""
        return min(1.0, self._step / self._steps) if self._steps else 0.0

    def ask(self, number: int) -> None:
        """Let it do this job, now or as soon as it is ready; should it be dead, its pipe says so."""
        self.doing, self.run, self._members, self._steps, self._step = number, "", 0, 0, 0
        self._since = time.monotonic()
        with suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps({"do": number}).encode() + b"\n")
            self.process.stdin.flush()

    def dismiss(self) -> None:
        """There is nothing more to do for it."""
        self._dismissed = True
        with suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()

    def ask_to_stop(self) -> None:
        """Let it save what it has and leave."""
        self.dismiss()
        ask_to_stop(self.process)

    def finish(self, seconds: float) -> None:
        """Wait for its end, so long at most, and hear the rest."""
        self.process.wait(seconds)
        while not self.closed and any(True for _ in self.hear()):
            pass
        self.close()

    def close(self) -> None:
        """Nothing more will come from either side."""
        self.dismiss()
        self.closed = True
        self.pipe.close()

    def hear(self) -> Iterator[Mapping[str, Any]]:
        """What it has reported since; `closed` when there will be no more."""
        try:
            told = os.read(self.pipe.fileno(), LONGEST_LINE)
        except BlockingIOError:
            return
        except OSError:
            told = b""
        if not told:
            self.closed = True
            self.pipe.close()
            return
        *lines, self._said = (self._said + told).split(b"\n")
        self._said = self._said[-LONGEST_LINE:]
        for line in lines:
            said = heard(line)
            self._note(said)
            yield said

    def _note(self, said: Mapping[str, Any]) -> None:
        kind = said.get("say")
        if kind == "ready":
            self.ready = True
            self._before = max(0.0, time.monotonic() - self._started - sum(_seconds(said).values()))
            self._spent = self._added(_seconds(said))
        elif kind == "begin":
            self.run, self._members = visible(str(said.get("run", "")))[:60], _whole(said.get("members"))
            self._steps, self._since = _whole(said.get("steps")), time.monotonic()
        elif kind == "step":
            self._step, self._spent = _whole(said.get("step")), self._added(_seconds(said))
            self._loss = float(loss) if isinstance(loss := said.get("loss"), (int, float)) else float("nan")
        elif kind == "over":
            self._jobs += 1
            self._spent = self._added(_seconds(said))

    def _added(self, spent: dict[str, float]) -> dict[str, float]:
        """With what went by before it could count."""
        return {**spent, "preparing": spent.get("preparing", 0.0) + self._before}

    def working(self) -> Working:
        """What it does now, and what it has done."""
        state = "starting" if not self.ready else "waiting" if self.doing is None else "working"
        return Working(
            self.number, self.place, "ended" if self.closed or self.process.poll() is not None else state,
            self.run, self._members, self._step, self._steps, self._loss,
            time.monotonic() - self._since, self._jobs, self._spent, time.monotonic() - self._started,
        )  # fmt: skip

    def last_words(self) -> str:
        """Of its log."""
        try:
            return self._log.read_bytes()[-LAST_WORDS:].decode(errors="replace").strip()
        except OSError:
            return ""


def _seconds(said: Mapping[str, Any]) -> dict[str, float]:
    found = said.get("spent")
    pairs = found.items() if isinstance(found, dict) else ()
    return {str(name): float(each) for name, each in pairs if isinstance(each, (int, float))}


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0
