"""A file is either the old one or the new one, never half of it.

Bytes go to a temporary name, are forced to the disk, and then take the name in one step. Names are
forced to the disk by `settle`, so that one call serves several files.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from headway.settings.plain import canonical

TEMPORARY = ".tmp"
PIECE = 2**24
MOST_JSON = 16_000_000
"""Bytes of a file that says what lies beside it; a hundred thousand seeds take one."""
LEAST_MEMORY = 2**30
MOST_NESTED = 12


class Stamp(TypedDict):
    """What a file must be: its size and its SHA-256."""

    bytes: int
    sha256: str


def write(path: Path, data: bytes) -> Stamp:
    """Put `data` under the name `path`, whole or not at all."""
    temporary = path.with_name(path.name + TEMPORARY)
    descriptor = create(temporary)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        # A full disk is short of exactly these bytes.
        with suppress(OSError):
            temporary.unlink()
        raise
    return {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def create(path: Path) -> int:
    """A descriptor of a new file at `path`; what lay there is removed and never written to or through."""
    with suppress(FileNotFoundError):
        path.unlink()
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)


def settle(folder: Path) -> None:
    """Force the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(path: Path, most: int | None = None) -> bytes:
    """The bytes of an ordinary file; a link, a pipe or a folder in its place is a ValueError.

    So is a file of more than `most` bytes, of which nothing is read: by itself, what this machine's memory can hold.
    """
    try:
        # Neither follows a link nor waits for somebody at the other end of a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENXIO):
            raise ValueError(f"{path.name} is not an ordinary file") from error
        raise
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(f"{path.name} is not an ordinary file")
        limit = memory_share() if most is None else most
        require_small(path, found.st_size, limit)
        parts, piece, size = [], min(found.st_size + 1, PIECE), 0
        while part := os.read(descriptor, piece):
            parts.append(part)
            size += len(part)
            require_small(path, size, limit)  # it may grow while it is read
        return b"".join(parts)
    finally:
        os.close(descriptor)


def require_small(path: Path, size: int, most: int) -> None:
    if size > most:
        raise ValueError(f"{path.name} has {size} bytes, and at most {most} are read of such a file")


@cache
def memory_share() -> int:
    """A quarter of this machine's memory: arrays are copied while they are read."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
    except (ValueError, OSError):
        return LEAST_MEMORY


def read_stamped(path: Path, stamp: Stamp) -> bytes:
    """The bytes of a file that is exactly what its stamp says."""
    data = read(path, min(stamp["bytes"], memory_share()))
    if len(data) != stamp["bytes"]:
        raise ValueError(f"{path.name} has {len(data)} bytes where {stamp['bytes']} were written")
    if hashlib.sha256(data).hexdigest() != stamp["sha256"]:
        raise ValueError(f"{path.name} does not have the SHA-256 it was written with")
    return data


def seal(content: Mapping[str, Any]) -> bytes:
    """JSON for people that carries a checksum of its own content; refuses NaN."""
    return (json.dumps({**content, "seal": _digest(content, {})}, indent=1, allow_nan=False) + "\n").encode()


def parse(data: bytes) -> dict[str, Any]:
    """The content of a JSON file, its seal not yet checked."""
    try:
        content = json.loads(data, parse_constant=_refuse_constant, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not valid JSON ({error})") from error
    if not isinstance(content, dict):
        raise ValueError("it is JSON, but not an object")
    return content


def read_sealed(path: Path, most: int) -> dict[str, Any]:
    """The content of a small JSON file of at most so many bytes whose seal fits."""
    return unseal(parse(read(path, most)))


def unseal(content: Mapping[str, Any], known: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The content without its seal, if the seal fits; `known` are texts of parts that the caller has made already."""
    rest = {name: value for name, value in content.items() if name != "seal"}
    try:
        fits = content.get("seal") == _digest(rest, known or {})
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not fits:
        raise ValueError("its content does not fit the checksum in it")
    return rest


def require_shallow(content: Any, most: int = MOST_NESTED) -> None:
    """Refuse what is nested more deeply than anything of ours: whoever shows or copies it would not come back."""
    inner = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    if inner and most == 0:
        raise ValueError("it is nested too deeply")
    for each in inner:
        if isinstance(each, (dict, list)):
            require_shallow(each, most - 1)


def _digest(content: Mapping[str, Any], known: Mapping[str, str]) -> str:
    # Part by part, with the letters of canonical(content): what is known is not put into words again.
    parts = [f"{canonical(name)}:{known.get(name) or canonical(content[name])}" for name in sorted(content)]
    return hashlib.sha256(f"{{{','.join(parts)}}}".encode()).hexdigest()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two readers could take two different values of a name that comes twice."""
    content = dict(pairs)
    if len(content) != len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"it has {next(name for name in names if names.count(name) > 1)[:40]!r} twice")
    return content


def _refuse_constant(name: str) -> float:
    raise ValueError(f"it contains {name}")
