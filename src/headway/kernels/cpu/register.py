"""A kernel becomes an XLA custom call: compiled when its shape is first wanted, or taken from where it was kept."""

import ctypes
import threading
from collections.abc import Callable

import jax

from headway.kernels.cpu.objects import CALL, HELPER, WORK, Text, kept, load, of, provide
from headway.kernels.cpu.shipped import shipped

_one_at_a_time = threading.Lock()
"""Threads that compile side by side may want the same kernel, and none may find numba half imported by another."""
_registered: set[str] = set()


def register(name: str, work: Callable[[], Callable]) -> None:
    """Make `work()(slice, slices, batch, addresses)` the XLA custom call `name`, once; see `calls.py`.

    The addresses are those of the inputs and then of the outputs. The batch is the first dimension of the first input,
    the number of slices that of the first output.
    """
    with _one_at_a_time:
        if name in _registered:
            return
        provide(WORK, _loaded(name, lambda: _calls().working(work())))
        provide(HELPER, _loaded(HELPER, lambda: _calls().helping()))
        handler = _loaded(CALL, lambda: _calls().handling())
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype = ctypes.py_object
        capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        jax.ffi.register_ffi_target(name, capsule(handler, None, None), platform="cpu")
        _registered.add(name)


def _loaded(name: str, make: Callable[[], Text]) -> int:
    """The address of a function that was kept, or that Headway brings along, or that numba makes."""
    return load(kept(name, lambda: shipped(name) or of(make())))


def _calls():
    from headway.kernels.cpu import calls  # late: numba takes a while to import, and what is kept needs none

    return calls
