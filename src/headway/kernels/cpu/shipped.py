"""Kernels that come with Headway as LLVM's text, so that the first run need not wait for numba.

They are those of paper A's two models in the shapes that nearly all of their runs have. Numba has done its part, which
does not depend on the machine; what does, LLVM does here, so the bits are those of a kernel that numba makes. A text
counts only as long as the files that it was made from are the same, and where the system is of the same kind.
`python -m headway.kernels.cpu.shipped` makes them again.
"""

import functools
import gzip
import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from zlib import error as Damaged  # noqa: N812 - a class, whatever it is called

import llvmlite.binding as llvm

from headway.kernels.cpu import attention_shape, dropped_shape, one_hot_shape
from headway.kernels.cpu.objects import CALL, HELPER, WORK, Object, Text, load, of, provide

MINIMAL = one_hot_shape.Shape(heads=3, tokens=50, length=25, queries=20)
FULL = attention_shape.Shape(heads=3, tokens=50, length=31, queries=20, coordinates=255)
A_TENTH = round(0.1 * 2**32)
DROPPED = dropped_shape.Shape(255, 31, queries=20, tokens=50, rate=A_TENTH, key=255, value=255, query=255)
PARTS = {MINIMAL: ("gradient", "read"), FULL: ("forward", "backward", "scatter"), DROPPED: ("forward", "backward")}
MADE_FROM = (
    *("__init__", "calls", "tiles", "vectors"),
    *("one_hot_backward", "one_hot_forward", "one_hot_shape"),
    *("attention_backward", "attention_forward", "attention_shape"),
    *("dropped_backward", "dropped_forward", "dropped_rows", "dropped_shape"),
)
"""The files on which the texts depend."""
MADE_FOR = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": ""}
"""What numba prefers where it has a choice, such as between loops and vectors; the text runs on any machine."""
TEXTS = Path(__file__).parent / "texts"


def shipped(name: str) -> Object | None:
    """The kernel of this name for this machine; None if it does not come along, or was made from other files."""
    with suppress(OSError, EOFError, Damaged, ValueError, KeyError, RuntimeError):
        head, text = gzip.decompress(_path(name).read_bytes()).decode().split("\n", 1)
        told = json.loads(head.removeprefix(";"))
        if told["made from"] == _sources() and told["system"] == llvm.get_process_triple():
            return of(Text(text, told["function"]))
    return None


def _path(name: str) -> Path:
    return TEXTS / f"{name}.ll.gz"


@functools.cache
def _sources() -> str:
    told = hashlib.sha256()
    for name in MADE_FROM:
        told.update(Path(__file__).with_name(f"{name}.py").read_bytes())
    return told.hexdigest()


def _write() -> None:
    """All texts, by numba."""
    os.environ.update(MADE_FOR)  # before numba is imported
    from headway.kernels.cpu import attention, calls, dropped, one_hot

    TEXTS.mkdir(exist_ok=True)
    for shape, module in {MINIMAL: one_hot, FULL: attention, DROPPED: dropped}.items():
        for part in PARTS[shape]:
            _put(shape.name(part), made := calls.working(module.work_of(part)(shape)))
    # Numba loads what it makes, so that what this calls must be there.
    provide(WORK, load(of(made)))
    _put(HELPER, made := calls.helping())
    provide(HELPER, load(of(made)))
    _put(CALL, calls.handling())


def _put(name: str, made: Text) -> None:
    told = {"function": made.function, "made from": _sources(), "system": llvm.get_process_triple()}
    _path(name).write_bytes(gzip.compress(f";{json.dumps(told)}\n{made.text}".encode(), mtime=0))


if __name__ == "__main__":
    _write()
