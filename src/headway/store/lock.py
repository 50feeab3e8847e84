"""One process at a time: a lock that the kernel gives back when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from headway.store.errors import Busy, explained

GLANCES = 3
PAUSE = 0.02


@contextmanager
def locked(path: Path, *, wait: bool, on_wait: Callable[[], None] | None) -> Generator[None]:
    """Hold the lock file `path`; it exists only while somebody holds it or waits for it."""
    descriptor = _take(path, wait, on_wait)
    try:
        yield
    finally:
        try:
            # Before the lock is given back: who waits for it then sees that the file has lost its name.
            with suppress(OSError):
                path.unlink()
        finally:
            os.close(descriptor)


def is_locked(path: Path) -> bool:
    """Whether a living process holds the lock file `path` now."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def _take(path: Path, wait: bool, on_wait: Callable[[], None] | None) -> int:
    told = False
    while True:
        with explained(path, "making the lock file"):
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            if not _glance(descriptor):
                if not wait:
                    raise Busy(f"another process is computing {path.stem}. Wait for it, or compute another cell.")
                if on_wait is not None and not told:
                    told = True
                    on_wait()
                with explained(path, "waiting for the lock"):
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _still_named(path, descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        # The holder removed the file while we waited for it: queue at the new one.
        os.close(descriptor)


def _glance(descriptor: int) -> bool:
    """Take the lock if it is free; a few tries, since `is_locked` holds it for an instant too."""
    for attempt in range(GLANCES):
        if attempt:
            time.sleep(PAUSE)
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False  # Nobody only looks: it is held, and of thousands of such cells none is worth a pause.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    return False


def _still_named(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False
