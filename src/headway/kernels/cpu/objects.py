"""A compiled kernel is an object file, and it is kept: a shape is compiled once for all runs.

One that needs a function which this process does not have counts as none, as one that is damaged does.
"""

import ctypes
import functools
import hashlib
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm

from headway.kernels import keeping
from headway.kernels.keeping import Head

_UNREACHED = ("numba_", "NRT_")
"""Numba's functions that raise an exception in Python: kernels raise none, but the code that would do it is there."""


WORK, HELPER, CALL = "headway_work", "headway_helper", "headway_call"
"""What `calls.py` calls a kernel, what a thread does with it, and what XLA calls; a kernel has its own of each."""
_PROCESS = ctypes.CDLL(None)
"""What C's library and Python have."""


class Text(NamedTuple):
    """LLVM's text of a function, and its name."""

    text: str
    function: str


class Object(NamedTuple):
    """An object file, the name of its function, and the functions that it needs from others."""

    code: bytes
    function: str
    needs: tuple[str, ...]


def kept(name: str, make: Callable[[], Object]) -> Object:
    """The object of this name from the folder of compiled programs, or from `make`, and then it is kept there."""
    return keeping.kept(f"{name}-{_compiled_by()}.kernel", make, _as_file, _from_file)


def _as_file(made: Object) -> tuple[Head, bytes]:
    return {"function": made.function, "needs": made.needs}, made.code


def _from_file(head: Head, body: bytes) -> Object | None:
    found = Object(body, head["function"], tuple(head["needs"]))
    return found if all(map(_is_there, found.needs)) else None


def of(made: Text) -> Object:
    """Compile LLVM's text for this machine."""
    module = llvm.parse_assembly(made.text)
    needs = (other.name for other in module.functions if other.is_declaration and not other.name.startswith("llvm."))
    return Object(_machine().emit_object(module), made.function, tuple(sorted(needs)))


def provide(name: str, address: int) -> None:
    """Whatever is loaded from now on finds this function under this name."""
    llvm.add_symbol(name, address)


def load(found: Object) -> int:
    """The address of its function, for as long as the process lives."""
    for name in found.needs:
        if name.startswith(_UNREACHED) and llvm.address_of_symbol(name) is None:
            llvm.add_symbol(name, _abort())
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(found.code))
    engine.finalize_object()
    _KEPT.append(engine)
    return engine.get_function_address(found.function)


_KEPT: list[Any] = []
"""XLA holds bare addresses, so that what they lead to must not be thrown away."""


def _is_there(name: str) -> bool:
    return name in (WORK, HELPER) or name.startswith(_UNREACHED) or hasattr(_PROCESS, name)


@functools.cache
def _machine() -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=3, jit=True)


@functools.cache
def _compiled_by() -> str:
    """A digest of these files, the compilers and the processor: with another of them, it is another object."""
    told = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        told.update(path.read_bytes())
    for name in ("numba", "llvmlite"):
        told.update(version(name).encode())
    told.update(f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}".encode())
    return told.hexdigest()[:16]


@functools.cache
def _abort() -> int:
    """The address of C's `abort`: better no process than one that goes on with wrong numbers."""
    return ctypes.cast(_PROCESS.abort, ctypes.c_void_p).value or 0
