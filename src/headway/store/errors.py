"""What can go wrong with a store: where, what, and what to do about it."""

from __future__ import annotations

import errno
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

Trouble = Literal["damaged", "foreign", "missing", "unwritable"]

MOVE = "Nothing was changed. Move the folder away to have the cell computed again."
NAME_ONE = "Give the folder of one record, such as runs/markov-0123456789abcdef; `headway list` shows them."
OTHER = "Nothing was changed. Use the version of Headway that made it, or move the folder away."


class StoreError(RuntimeError):
    """A folder that cannot be read or written; nothing in it was changed."""

    def __init__(self, path: Path, problem: str, remedy: str, trouble: Trouble) -> None:
        super().__init__(f"{path}: {problem}. {remedy}")
        self.path = path
        self.problem = problem
        self.trouble = trouble


class Busy(RuntimeError):  # noqa: N818 - nothing is wrong
    """Another process computes this cell now, and the caller did not want to wait."""


@contextmanager
def explained(path: Path, doing: str) -> Generator[None]:
    """Turn the system's "No space left on device" into what it means for the run."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            remedy = "Free some space and start again: what was saved before is whole and the run goes on there."
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            remedy = "Choose another folder for the runs, or make this one writable."
        elif error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE):
            remedy = "Something removed it or put something else there while the run went on. Start again."
        else:
            remedy = "What was saved before is whole; start again once the cause is removed."
        raise StoreError(path, f"{doing} failed: {error.strerror or error}", remedy, "unwritable") from error
