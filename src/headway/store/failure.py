"""Why the work on a cell ended with an error: a small note beside its folder, until somebody works on it again.

A run that was interrupted or killed leaves no note: it did not fail, and goes on when it is started again.
"""

from __future__ import annotations

import os
import socket
import traceback
from contextlib import suppress
from pathlib import Path

from headway.store import files

FORMAT = "headway failure"
SUFFIX = ".failed.json"
MOST_LETTERS = 2000
MOST_OF_TRACEBACK = 20_000


def note(folder: Path, error: BaseException) -> None:
    """Keep the error's last line and its traceback; a disk that is full or read-only keeps nothing."""
    words = "".join(traceback.format_exception_only(error)).strip()[:MOST_LETTERS]
    way = "".join(traceback.format_exception(error))[-MOST_OF_TRACEBACK:].splitlines()
    told = {"format": FORMAT, "error": words, "host": socket.gethostname(), "pid": os.getpid(), "traceback": way}
    with suppress(OSError):
        files.write(note_of(folder), files.seal(told))


def forget(folder: Path) -> None:
    """Remove the note: whatever happened before, the cell is being worked on."""
    with suppress(OSError):
        note_of(folder).unlink()


def read(folder: Path) -> str | None:
    """What the note says; None where there is none."""
    try:
        content = files.read_sealed(note_of(folder), 10 * (MOST_LETTERS + MOST_OF_TRACEBACK))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        return f"it failed, and the note that says why cannot be read ({error})"
    return str(content.get("error", "it failed"))


def note_of(folder: Path) -> Path:
    """runs/markov-0123456789abcdef -> runs/markov-0123456789abcdef.failed.json"""
    return folder.with_name(folder.name + SUFFIX)
