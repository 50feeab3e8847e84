"""What a sweep is going to compute, for whoever watches: a small file that is locked while its process lives."""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from headway.records import Cell
from headway.store import files
from headway.store.kinds import summary
from headway.store.lock import is_locked

FORMAT = "headway plan"
NAME = re.compile(r"sweep-[0-9a-f]{16}\.plan")
MOST_BYTES = 16_000_000


@dataclass(frozen=True)
class Plan:
    """The cells of one sweep that is going on."""

    begun: float
    """When it began, in seconds since 1970."""
    cells: tuple[tuple[str, str], ...]
    """(identity, the settings that set it apart) of every cell, in no particular order."""


@contextmanager
def announced(root: Path, cells: Sequence[Cell]) -> Generator[None]:
    """Let others see, as long as this lasts, that this process computes these cells; nothing depends on it.

    Cells that lie there already are left out, those that the others compare themselves with are added.
    """
    wanted = dict.fromkeys(each for cell in cells for each in (*cell.needs(), cell))
    # Whether what lies there can be read, and whether there is such a kind, is found out by who opens it.
    missing = [cell for cell in wanted if not os.path.lexists(root / cell.identity)]
    path = root / f"sweep-{secrets.token_hex(8)}.plan"
    sweep(root)
    descriptor = _write(path, missing) if missing else None
    try:
        yield
    finally:
        if descriptor is not None:
            with suppress(OSError):
                path.unlink()
            os.close(descriptor)


def plans(root: Path) -> list[Plan]:
    """The sweeps that are going on; what a killed process left says nothing."""
    return [plan for path in _paths(root) if is_locked(path) and (plan := _read(path)) is not None]


def _write(path: Path, cells: Sequence[Cell]) -> int | None:
    told = [[cell.identity, summary(cell)] for cell in cells]
    temporary = path.with_name(path.name + files.TEMPORARY)
    descriptor = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        # Locked before it has its name: from then on nobody takes it for a leftover.
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(files.seal({"format": FORMAT, "begun": time.time(), "cells": told}))
        temporary.replace(path)
    except OSError:
        # A store that cannot be written will say so itself when it matters.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if descriptor is not None:
            os.close(descriptor)
        return None
    return descriptor


def sweep(root: Path) -> None:
    """Remove what killed processes left, half-written plans too; a read-only store keeps them."""
    for path in (*_paths(root), *_paths(root, files.TEMPORARY)):
        if not is_locked(path):
            with suppress(OSError):
                path.unlink()


def _paths(root: Path, suffix: str = "") -> list[Path]:
    try:
        found = [path for path in root.iterdir() if path.name.endswith(suffix)]
    except OSError:
        return []
    return sorted(path for path in found if NAME.fullmatch(path.name.removesuffix(suffix)))


def _read(path: Path) -> Plan | None:
    try:
        content = files.read_sealed(path, MOST_BYTES)
        cells = tuple((str(identity), str(words)) for identity, words in content["cells"])
        return Plan(float(content["begun"]), cells) if content["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
