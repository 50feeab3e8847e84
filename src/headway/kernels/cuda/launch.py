"""CUDA C from inside a compiled JAX program: NVRTC makes PTX for one shape, XLA launches it.

Nothing is built when Headway is installed. NVRTC comes with `jax[cuda12]` and `jax[cuda13]`,
and XLA's own custom call for PTX runs the result on the program's stream.
"""

import ctypes
import functools
import sysconfig
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import jax
import numpy as np
from jaxtyping import Array

HEADERS = ("tensor_cores.cuh", "rows.cuh")
"""What several kernels include."""


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
    ones = {"grid_y": 1, "grid_z": 1, "block_y": 1, "block_z": 1}
    launch = {"grid_x": blocks, "block_x": threads, "shared_mem_bytes": shared_bytes, **ones}
    return jax.ffi.ffi_call("__gpu$xla.gpu.ptx", list(results), input_output_aliases=dict(in_place or {}))(
        *operands,
        name=function,
        kernel_type="ptx",
        kernel_data=_ptx(source, tuple(sorted(macros.items())), _architecture()),
        **{field: np.int32(number) for field, number in launch.items()},
    )


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


@functools.cache
def _ptx(source: str, macros: tuple[tuple[str, int | str], ...], architecture: str) -> str:
    library = _library()
    assert library is not None, "ask `usable` first"
    folder = files("headway.kernels.cuda")
    text, *included = ((folder / name).read_text().encode() for name in (source, *HEADERS))
    options = [f"--gpu-architecture={architecture}", *(f"-D{name}={value}" for name, value in macros)]
    program = ctypes.c_void_p()
    several = ctypes.c_char_p * len(HEADERS)
    headers, names = several(*included), several(*(name.encode() for name in HEADERS))
    created = library.nvrtcCreateProgram(ctypes.byref(program), text, source.encode(), len(HEADERS), headers, names)
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
