"""Pages, figures and tables: whole or not at all, whoever else writes the same one at the same time.

The bytes go to a name by chance beside the file, which is locked as long as its writer lives: what a killed process
left is distinguished from what another one is writing.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from headway.store import files
from headway.store.errors import StoreError
from headway.store.lock import is_locked

NAME = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")
OLD = 60.0
"""Seconds after which an unlocked one is a leftover, should locks not reach the machine that writes it."""


def write_output(path: Path, data: bytes) -> None:
    """Put `data` under the name `path` and force it to the disk; a link in its place is replaced, not followed."""
    with written(path) as file:
        file.write(data)


@contextmanager
def written(path: Path) -> Generator[IO[bytes]]:
    """A file to write, which takes its name when all went well; an error of the disk names `path`."""
    temporary = None
    try:
        descriptor, temporary = _begun(path)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            temporary.replace(path)
    except BaseException as error:
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink()
        if isinstance(error, OSError):  # which names the temporary file, or none
            raise OSError(error.errno, error.strerror or str(error), str(path)) from error
        raise
    with suppress(OSError):  # Some file systems cannot; the page is there all the same.
        files.settle(path.parent)


def own_folder(folder: Path) -> Path:
    """The folder, made if need be; a link in its place would lead what is written somewhere else."""
    if folder.is_symlink():
        remedy = "Remove the link, or choose another folder to write into."
        raise StoreError(folder, "this is a link, and nothing is written through one", remedy, "foreign")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def tidy_outputs(folder: Path) -> None:
    """Remove what killed processes left half written; nothing that anybody may still be writing."""
    with suppress(OSError):
        for path in [path for path in folder.iterdir() if NAME.fullmatch(path.name)]:
            with suppress(OSError):
                if abs(time.time() - os.lstat(path).st_mtime) > OLD and not is_locked(path):
                    path.unlink()


def _begun(path: Path) -> tuple[int, Path]:
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}{files.TEMPORARY}")
        descriptor = files.create(temporary)
        try:
            with suppress(OSError):  # Where there are no locks, age alone shows a leftover.
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.lexists(temporary):
                return descriptor, temporary
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
