"""Many prepare side by side, and each is timed alone: a lock on a file, shared by those who compile."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def beside(path: Path) -> Generator[None]:
    """Others may prepare, too; nobody is timed meanwhile."""
    with _held(path, fcntl.LOCK_SH):
        yield


@contextmanager
def alone(path: Path) -> Generator[None]:
    """Nobody else prepares or is timed."""
    with _held(path, fcntl.LOCK_EX):
        yield


@contextmanager
def _held(path: Path, how: int) -> Generator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)  # which gives the lock back, as the end of a process does
