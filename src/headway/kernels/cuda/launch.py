"""CUDA C from inside a compiled JAX program: NVRTC makes PTX for one shape, XLA launches it.

Nothing is built when Headway is installed. NVRTC comes with `jax[cuda12]` and `jax[cuda13]`,
and XLA's own custom call for PTX runs the result on the program's stream.

A launch is an operation of its own until a program is lowered: only then PTX is wanted, and only of what is lowered.
Tracing sees more, such as the form for one member of what then runs for all.
"""

import ctypes
import functools
import hashlib
import re
import sysconfig
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.resources import files
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import mlir
from jaxtyping import Array

from headway.kernels import keeping

HEADERS = ("tensor_cores.cuh", "rows.cuh")
"""What several kernels include."""
ONLY = "ONLY"
"""The macro that names the kernel that is wanted of a file; to the compiler of the others nothing is left."""
SIDE_BY_SIDE = 8
"""Kernels that are made at a time."""
_KERNEL = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\([^()]*\) )?(\w+)\(')
_ahead = ContextVar("headway_ptx_ahead", default=False)
_under_way: dict[tuple[Any, ...], Future[str]] = {}
_launch = Primitive("headway_cuda_launch")
_launch.multiple_results = True


def call(
    source: str,
    function: str,
    macros: Mapping[str, int | str],
    operands: Sequence[Array],
    results: Sequence[jax.ShapeDtypeStruct],
    *,
    blocks: int,
    threads: int,
    shared_bytes: int = 0,
    in_place: Mapping[int, int] | None = None,
) -> Sequence[Array]:
    """Launch `function` of the file `source`; it gets pointers to the operands, then to the results.

    `in_place` maps operands to the results that begin as their copy.
    """
    asked = source, tuple(sorted({**macros, ONLY: function}.items()))
    if _ahead.get():
        _start(*asked)
    return _launch.bind(
        *operands,
        asked=asked,
        results=tuple((each.shape, np.dtype(each.dtype)) for each in results),
        blocks=blocks,
        threads=threads,
        shared_bytes=shared_bytes,
        in_place=tuple(sorted((in_place or {}).items())),
    )


@contextmanager
def ahead() -> Generator[None]:
    """The PTX of what is traced meanwhile is made in threads, one for each kernel: all of it will be lowered."""
    token = _ahead.set(True)
    try:
        yield
    finally:
        _ahead.reset(token)


@_launch.def_abstract_eval
def _shapes(*_operands: Any, results: Any, **_rest: Any) -> list[Any]:
    return [ShapedArray(*each) for each in results]


@_launch.def_impl
def _alone(*operands: Any, **parameters: Any) -> Any:
    """Outside of any program: one of its own."""
    return jax.jit(functools.partial(_launch.bind, **parameters))(*operands)


def _lowered(
    *operands: Any, asked: Any, results: Any, blocks: int, threads: int, shared_bytes: int, in_place: Any
) -> Any:
    ones = {"grid_y": 1, "grid_z": 1, "block_y": 1, "block_z": 1}
    launch = {"grid_x": blocks, "block_x": threads, "shared_mem_bytes": shared_bytes, **ones}
    shapes = [jax.ShapeDtypeStruct(*each) for each in results]
    return jax.ffi.ffi_call("__gpu$xla.gpu.ptx", shapes, input_output_aliases=dict(in_place))(
        *operands,
        name=dict(asked[1])[ONLY],
        kernel_type="ptx",
        kernel_data=_wanted(*asked),
        **{field: np.int32(number) for field, number in launch.items()},
    )


mlir.register_lowering(_launch, mlir.lower_fun(_lowered, multiple_results=True), platform="cuda")


def usable() -> bool:
    """Whether this device and this installation can run these kernels."""
    device = jax.devices()[0]
    return device.platform == "gpu" and float(getattr(device, "compute_capability", 0)) >= 8 and _library() is not None


def multiprocessors() -> int:
    """How many blocks run side by side when each takes a multiprocessor for itself."""
    return int(getattr(jax.devices()[0], "core_count", 108))


def shared_limit() -> int:
    """Bytes of shared memory that a block may ask for."""
    return int(getattr(jax.devices()[0], "shared_memory_per_block_optin", 99 * 1024))


def _architecture() -> str:
    return "compute_" + str(jax.devices("gpu")[0].compute_capability).replace(".", "")


@functools.cache
def _library() -> ctypes.CDLL | None:
    """NVRTC, from the wheels beside JAX or from the system."""
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    for name in [*sorted(map(str, packages.glob("*/lib/libnvrtc.so.*"))), *(f"libnvrtc.so.{v}" for v in (13, 12))]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def _start(source: str, macros: tuple[tuple[str, int | str], ...]) -> None:
    wanted = source, macros, _architecture()
    if wanted not in _under_way:
        _under_way[wanted] = _pool().submit(_ptx, *wanted)


def _wanted(source: str, macros: tuple[tuple[str, int | str], ...]) -> str:
    """The PTX, whether or not somebody has begun to make it."""
    wanted = source, macros, _architecture()
    begun = _under_way.pop(wanted, None)
    return _ptx(*wanted) if begun is None else begun.result()


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(SIDE_BY_SIDE, "headway-nvrtc")


@functools.cache
def _ptx(source: str, macros: tuple[tuple[str, int | str], ...], architecture: str) -> str:
    library = _library()
    assert library is not None, "ask `usable` first"
    folder = files("headway.kernels.cuda")
    text, *included = ((folder / name).read_text() for name in (source, *HEADERS))
    function = dict(macros).get(ONLY, "")
    text = alone_in(text, str(function))
    options = [f"--gpu-architecture={architecture}", *(f"-D{name}={value}" for name, value in macros)]
    told = repr((source, text, included, options, _version(library)))
    name = f"{function}-{hashlib.sha256(told.encode()).hexdigest()[:32]}.ptx"

    def make() -> str:
        return _compiled(library, source, text, included, options)

    return keeping.kept(name, make, lambda made: ({}, made.encode()), lambda _head, body: body.decode())


def alone_in(text: str, function: str) -> str:
    """The source with this kernel alone: the others are functions that nobody calls, on which no time is spent."""

    def rest(found: re.Match[str]) -> str:
        return found[0] if found[1] == function else f"static __device__ void {found[1]}("

    return _KERNEL.sub(rest, text) if function in _KERNEL.findall(text) else text


def _version(library: ctypes.CDLL) -> tuple[int, int]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    _check(library, library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)))
    return major.value, minor.value


def _compiled(library: ctypes.CDLL, source: str, text: str, included: Sequence[str], options: Sequence[str]) -> str:
    program = ctypes.c_void_p()
    several = ctypes.c_char_p * len(HEADERS)
    headers, names = (several(*(each.encode() for each in texts)) for texts in (included, HEADERS))
    created = library.nvrtcCreateProgram(
        ctypes.byref(program), text.encode(), source.encode(), len(HEADERS), headers, names
    )
    _check(library, created)
    try:
        pointers = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        code = library.nvrtcCompileProgram(program, len(options), pointers)
        if code:
            raise RuntimeError(f"{source} does not compile with {options}:\n{_text(library, program, 'ProgramLog')}")
        return _text(library, program, "PTX")
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _text(library: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> str:
    size = ctypes.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(library, getattr(library, f"nvrtcGet{what}")(program, buffer))
    return buffer.value.decode()


def _check(library: ctypes.CDLL, code: int) -> None:
    if code:
        library.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise RuntimeError(f"NVRTC says: {library.nvrtcGetErrorString(code).decode()}")
