"""How much is computed at a time: members in a pack, packs at once, and examples that are differentiated together."""

import os
from collections.abc import Generator
from contextlib import contextmanager

import jax

SIDE_BY_SIDE = 20 * 2**20
"""On a CPU, of small members that are computed together."""
CPU_BYTES = 5 * 2**20
"""Activations of a chunk on a CPU. Measured with a pack on each of two cores: twice as much takes up to a tenth longer,
four times up to a quarter, the more the busier the machine's other cores are, which share its last cache."""
CPU_EXAMPLES = 2
"""At least: products of a single example take half as long again."""
GPU_SHARE = 0.4
"""Of the device's memory, for the activations of members side by side; temporaries need about as much again."""

_planned: int | None = None


def together(members: int, batch: int, bytes_per_example: int, small: bool = False) -> int:
    """How many members are a pack, one computation: one on a CPU, on a GPU as many as fit, in even groups.

    `small` ones, of a few numbers, side by side on a CPU, too, as many as fit its cache: one alone would be overhead.
    """
    if _on_cpu() and not small:
        return 1
    room = SIDE_BY_SIDE if _on_cpu() else _room()
    groups = -(-members // max(1, int(room // max(1, batch * bytes_per_example))))
    return -(-members // groups)


def at_once(packs: int) -> int:
    """How many packs are under way at once: one for each core of a CPU, and one on a GPU, which it fills.

    A step of a small model leaves the second core idle between its products. Two seeds on two cores take 0.5 to 0.85 of
    the time of one after the other (docs/log.md), and the bits are the same: no sum is cut otherwise.
    """
    return min(packs, cores()) if _on_cpu() else 1


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chunk_size(batch: int, bytes_per_example: int, members: int, least: int = 0) -> int:
    """The largest chunk that fits the cache of a CPU or the memory of a GPU, cut into even pieces.

    `least` bytes are taken on a CPU even beyond its cache (`sizes.least_bytes`).
    """
    if _on_cpu():
        room: float = max(CPU_BYTES, least, CPU_EXAMPLES * bytes_per_example)
    else:
        room = _room() / members
    chunks = max(1, -(-batch * bytes_per_example // max(1, int(room))))
    return -(-batch // min(batch, chunks))


def _on_cpu() -> bool:
    return jax.devices()[0].platform == "cpu"


@contextmanager
def planned(memory: int | None) -> Generator[None]:
    """Count meanwhile as if XLA had so many bytes of a GPU: other processes have them, and this one only plans."""
    global _planned
    before, _planned = _planned, memory
    try:
        yield
    finally:
        _planned = before


def _room() -> float:
    if _planned is not None:
        return GPU_SHARE * _planned
    return GPU_SHARE * (jax.devices()[0].memory_stats() or {}).get("bytes_limit", 16 * 2**30)


def device() -> str:
    """The device that will be used, in words."""
    first = jax.devices()[0]
    return f"{first.platform}: {first.device_kind}"
