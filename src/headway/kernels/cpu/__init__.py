"""Kernels for the CPU, compiled by numba when a shape first needs them and called by XLA without Python."""

import functools
import importlib.util
import re
from pathlib import Path

import jax

LANES = 8
"""Float32 numbers of a vector."""
MAJOR = "0"
"""Of XLA's interface for calls, which `calls.py` reads word by word."""


@functools.cache
def usable() -> bool:
    """Whether numba is there, and XLA calls as `calls.py` expects; its own header says so."""
    header = Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h"
    if importlib.util.find_spec("numba") is None or not header.is_file():
        return False
    version = re.search(r"#define XLA_FFI_API_MAJOR (\d+)", header.read_text())
    return version is not None and version[1] == MAJOR


def room(*sizes: int) -> jax.ShapeDtypeStruct:
    """Numbers that XLA makes room for, for a kernel to write."""
    return jax.ShapeDtypeStruct(sizes, jax.numpy.float32)
