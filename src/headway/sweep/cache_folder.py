"""The folder of compiled programs is the user's own: machine code is loaded from nowhere else.

Whoever can write there can run code as the user. So it lies in the user's cache folder, never among records, which
come from anybody; it is made with mode 0700, and one that others own or can write is not used.
"""

from __future__ import annotations

import hashlib
import os
import platform
import secrets
import shutil
import stat
from contextlib import suppress
from pathlib import Path

NAMES = ("headway", "compiled")
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class Untrusted(Exception):  # noqa: N818 - nothing is wrong with the run
    """A cache folder that is not used, and why, in one sentence."""


def own_folder() -> Path | None:
    """$XDG_CACHE_HOME/headway/compiled or ~/.cache/headway/compiled, made if it is not there; None if it cannot be."""
    try:
        chosen = os.environ.get("XDG_CACHE_HOME", "")
        # A relative one counts as none, as the specification wants it.
        base = Path(chosen) if os.path.isabs(chosen) else Path.home() / ".cache"  # noqa: PTH117 - "" is no path
        base.mkdir(parents=True, exist_ok=True)
        for ancestor in (base.resolve(), *base.resolve().parents):
            _require_safe_ancestor(ancestor)
        folder = base
        for name in NAMES:
            folder = folder / name
            _make(folder)
            _require_ours(folder)
        return folder
    except (OSError, RuntimeError):
        return None


def is_ours(path: Path) -> bool:
    """Whether it is an ordinary file of the user's that nobody else can write."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & WRITABLE_BY_OTHERS


def kind_of_machine() -> str:
    """Machines that share this run each other's programs; those of another processor could crash here."""
    told = platform.processor()
    with suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        told = next(line for line in lines if line.startswith(("flags", "Features")))
    return f"{platform.machine()}-{hashlib.sha256(told.encode()).hexdigest()[:8]}"


def put(path: Path, destination: Path) -> None:
    """Give a file a second name in one step; where a file can have only one, a whole copy."""
    with suppress(FileExistsError):
        try:
            os.link(path, destination)
        except FileExistsError:
            raise
        except OSError:
            copy = destination.with_name(f".{secrets.token_hex(8)}.tmp")
            try:
                shutil.copyfile(path, copy)
                copy.replace(destination)
            finally:
                copy.unlink(missing_ok=True)


def bring(source: Path, destination: Path) -> None:
    """Give every file of `source` a second name in `destination`, if it is the user's own and not there yet."""
    with suppress(OSError):
        for path in source.iterdir():
            wanted = not path.name.startswith(".") and not os.path.lexists(destination / path.name)
            if wanted and is_ours(path):
                put(path, destination / path.name)


def prune(folder: Path, most: int) -> None:
    """Remove the oldest programs beyond so many bytes; who uses one has a name of its own for it."""
    with suppress(OSError):
        found = [(path, os.lstat(path)) for path in folder.iterdir() if not path.name.startswith(".")]
        room = most
        for path, told in sorted(found, key=lambda each: -each[1].st_mtime):
            room -= told.st_size
            if room < 0:
                path.unlink(missing_ok=True)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        return


def _require_ours(folder: Path) -> None:
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise Untrusted(_words(folder, "is a link or a file"))
    if found.st_uid != os.geteuid():
        raise Untrusted(_words(folder, "belongs to another user"))
    if found.st_mode & WRITABLE_BY_OTHERS:
        raise Untrusted(_words(folder, "can be written by others"))


def _require_safe_ancestor(folder: Path) -> None:
    """Whoever can rename our folder can replace it; root could anyway, and a private group is the user."""
    found = os.lstat(folder)
    sticky = found.st_mode & stat.S_ISVTX
    others = found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and found.st_gid not in (0, os.getegid()))
    if found.st_uid not in (0, os.geteuid()) or (others and not sticky):
        raise Untrusted(_words(folder, "belongs to another user or can be written by others"))


def _words(folder: Path, why: str) -> str:
    return (
        f"{folder} {why}, so no compiled programs are taken from there or kept: "
        "everything works, and compiles anew every time."
    )
