"""What a compiler made of a kernel is kept, whole or not at all, where JAX keeps its programs: once for all runs.

Its code runs as the user, so it is taken from that folder alone, which `sweep/cache_folder.py` guards. A file that is
damaged counts as none.
"""

import hashlib
import json
import os
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

import jax

Head = dict[str, Any]
Made = TypeVar("Made")
made_once: list[Callable[[str], AbstractContextManager[None]]] = []
"""Where processes share what they compile: `made_once[-1](name)` surrounds the making of a file, so that of several
processes one makes it and the others, which wait meanwhile, get it."""


def kept(
    name: str,
    make: Callable[[], Made],
    write: Callable[[Made], tuple[Head, bytes]],
    read: Callable[[Head, bytes], Made | None],
) -> Made:
    """What is kept under this name, or what `make` makes, and then it is kept.

    `write` and `read` turn it into a file and back; what is of no use here is read as None, or raises KeyError,
    TypeError or ValueError.
    """
    folder = getattr(jax.config, "jax_compilation_cache_dir", None)
    if folder is None:
        return make()
    path = Path(folder) / name
    found = _found(path, read)
    if found is not None:
        return found
    with made_once[-1](name) if made_once else nullcontext():
        found = _found(path, read)  # of another process, by now
        if found is None:
            found = make()
            with suppress(OSError):  # a cache that cannot be written is none
                _write(path, *write(found))
    return found


def _found(path: Path, read: Callable[[Head, bytes], Made | None]) -> Made | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        line, body = path.read_bytes().split(b"\n", 1)
        head = json.loads(line)
        if head["sha256"] == hashlib.sha256(body).hexdigest():
            return read(head, body)
    return None


def _write(path: Path, head: Head, body: bytes) -> None:
    """Whole, and under its name in one step."""
    line = json.dumps({**head, "sha256": hashlib.sha256(body).hexdigest()}).encode()
    draft = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with open(draft, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(line + b"\n" + body)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
