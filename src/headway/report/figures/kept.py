"""Figures whose records and drawing code are as they were lie in their folder already: they are not drawn again.

key = hash of the records' checksums, of Headway's own code and of the libraries that draw
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import headway
from headway.store.output import write_output

if TYPE_CHECKING:
    from headway.store import Record

NAME = ".drawn.json"
"""Beside the figures: group -> {"key", "files": {name: checksum}}."""
LIBRARIES = ("matplotlib", "numpy", "scipy")


def key_of(records: Mapping[str, Record]) -> str:
    """Of the records that are drawn, by the names of their runs: other numbers, or other code, have another key."""
    runs = {
        name: [record.identity, sorted((file, stamp["sha256"]) for file, stamp in record.files.items())]
        for name, record in records.items()
    }
    return _hash(json.dumps([_code(), runs]).encode())


def drawn_before(folder: Path, group: str, key: str) -> list[Path] | None:
    """The files of the group if all of them were drawn under this key and nobody changed them since."""
    known = _read(folder).get(group)
    if not isinstance(known, dict) or known.get("key") != key or not known.get("files"):
        return None
    with suppress(OSError, AttributeError):
        paths = {folder / name: checksum for name, checksum in known["files"].items()}
        if all(_hash(path.read_bytes()) == checksum for path, checksum in paths.items()):
            return list(paths)
    return None


def keep(folder: Path, group: str, key: str, paths: Sequence[Path]) -> None:
    """Note under which key the files were drawn; of two who write at once one is forgotten, and draws again."""
    if paths:
        own = {"key": key, "files": {path.name: _hash(path.read_bytes()) for path in paths}}
        write_output(folder / NAME, json.dumps({**_read(folder), group: own}).encode())


def _read(folder: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        content = json.loads((folder / NAME).read_bytes())
        return content if isinstance(content, dict) else {}
    return {}


@cache
def _code() -> str:
    """Every module of the package: a figure may depend on any of them."""
    root = Path(headway.__file__).parent
    sources = b"\0".join(path.read_bytes() for path in sorted(root.rglob("*.py")))
    return " ".join([_hash(sources), *(f"{name} {version(name)}" for name in LIBRARIES)])


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
