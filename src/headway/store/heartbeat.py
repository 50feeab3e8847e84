"""A sign of life: a small file beside a cell that its worker touches every few seconds, as long as it lives.

The lock says who may work; the heartbeat says who does, on which machine, and whether it still moves. A worker that
hangs keeps its lock and loses its heartbeat. Ages are read from the clock of the file system alone, or by how long
somebody has seen a file stand still: clocks of machines differ, and jump.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from headway.store import files
from headway.store.errors import Busy
from headway.store.lock import is_locked

FORMAT = "headway heartbeat"
SUFFIX = ".alive"
EVERY = 5.0
"""Seconds between two beats."""
STALE = 60.0
"""Seconds without a beat after which nobody is believed to be alive: many times `EVERY`, for disks stall too."""
MOST_BYTES = 4096


@dataclass(frozen=True)
class Beat:
    """What a heartbeat says."""

    host: str
    pid: int
    machine: str
    """Differs between machines, and between two starts of one: what the kernel's locks reach."""
    last: int
    """When it last beat, in nanoseconds of the file system's clock."""

    @property
    def here(self) -> bool:
        """Whether it beats, or beat, under the kernel that runs this process."""
        return self.machine == machine()


@contextmanager
def beating(folder: Path) -> Generator[None]:
    """Beat for the cell of that folder; where nothing can be written, the store will say so itself."""
    path = beat_of(folder)
    told = {"format": FORMAT, "host": socket.gethostname(), "pid": os.getpid(), "machine": machine()}
    with suppress(OSError), os.fdopen(files.create(path), "wb") as file:
        file.write(files.seal(told))
    _HEART.take(path)
    try:
        yield
    finally:
        _HEART.leave(path)
        forget(folder)


def forget(folder: Path) -> None:
    """Remove the heartbeat of whoever worked on the cell."""
    with suppress(OSError):
        beat_of(folder).unlink()


def read(folder: Path) -> Beat | None:
    """The heartbeat of a cell; None where nobody has worked on it, or where it cannot be read."""
    path = beat_of(folder)
    try:
        last = os.lstat(path).st_mtime_ns
        content = files.read_sealed(path, MOST_BYTES)
        return Beat(str(content["host"]), int(content["pid"]), str(content["machine"]), last)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def await_silence(folder: Path, *, wait: bool) -> None:
    """Return once nobody on another machine works on the cell; raise `Busy` instead of waiting.

    Called by the holder of the lock. Where locks do not reach other machines, this is what keeps two of them apart.
    """
    while True:
        beat = read(folder)
        if beat is None or beat.here or _is_over(folder, beat):
            return
        if not wait:
            raise Busy(f"{beat.host} is computing {folder.name}. Wait for it, or compute another cell.")
        time.sleep(EVERY)


def beat_of(folder: Path) -> Path:
    """runs/markov-0123456789abcdef -> runs/markov-0123456789abcdef.alive"""
    return folder.with_name(folder.name + SUFFIX)


def now(root: Path) -> int:
    """Nanoseconds of the file system's clock, read from a file that is touched there and removed."""
    probe = root / f".now-{secrets.token_hex(8)}"
    try:
        probe.touch(exist_ok=False)
        return os.lstat(probe).st_mtime_ns
    finally:
        probe.unlink(missing_ok=True)


class Pulse:
    """Who works and who only seems to, for somebody who looks again and again and writes nothing."""

    def __init__(self) -> None:
        self._seen: dict[Path, tuple[int, float]] = {}

    def state(self, folder: Path) -> Literal["running", "stale"] | None:
        """Whether somebody works on the cell: running, or stale if there was no beat for `STALE` seconds; else None.

        The lock decides, where it reaches: what this machine's kernel has given back, nobody here works on.
        """
        beat, held = read(folder), is_locked(folder.with_name(f"{folder.name}.lock"))
        if beat is None or (beat.here and not held):
            self._seen.pop(folder, None)
            return "running" if held else None
        stale = self._stands_still(folder, beat.last)
        # Of a worker elsewhere that gives no sign and whose lock is not seen, nothing says that it lives.
        return ("stale" if held else None) if stale else "running"

    def _stands_still(self, folder: Path, last: int) -> bool:
        """Whether it has for long, by this process's own clock, which does not jump."""
        before, since = self._seen.get(folder, (None, 0.0))
        if before != last:
            self._seen[folder] = (last, time.monotonic())
            return False
        return time.monotonic() - since > STALE


@cache
def machine() -> str:
    """What sets this start of this machine apart; two containers of one kernel share it, and its locks."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return socket.gethostname()


def _is_over(folder: Path, beat: Beat) -> bool:
    """Old by the file system's clock, and still as old after another beat should have come: a clock may have jumped."""
    with suppress(OSError):
        if abs(now(folder.parent) - beat.last) < STALE * 1e9:
            return False
    time.sleep(1.5 * EVERY)
    return read(folder) == beat


class _Heart:
    """One thread that touches the files of everything this process works on."""

    def __init__(self) -> None:
        self._paths: set[Path] = set()
        self._guard = threading.Condition()
        self._thread: threading.Thread | None = None

    def take(self, path: Path) -> None:
        with self._guard:
            self._paths.add(path)
            if self._thread is None:
                self._thread = threading.Thread(target=self._beat, name="headway-heartbeat", daemon=True)
                self._thread.start()

    def leave(self, path: Path) -> None:
        with self._guard:
            self._paths.discard(path)
            self._guard.notify()

    def _beat(self) -> None:
        while True:
            with self._guard:
                if not self._paths:
                    self._thread = None
                    return
                self._guard.wait_for(lambda: not self._paths, timeout=EVERY)
                paths = tuple(self._paths)
            for path in paths:
                # By the kernel, or by the server of the file system: not by this process's idea of the time.
                with suppress(OSError):
                    os.utime(path, follow_symlinks=False)


_HEART = _Heart()
