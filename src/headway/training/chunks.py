"""How many examples to differentiate together."""

import jax

CPU_BYTES = 12 * 2**20
"""Measured: on two cores a step is fastest while the activations of a chunk stay in the last-level cache."""
GPU_SHARE = 0.25
"""Of the device's memory, for the activations of all members; temporaries need about as much again."""


def chunk_size(batch: int, bytes_per_example: int, members: int) -> int:
    """The largest chunk that fits the cache of a CPU or the memory of a GPU, cut into even pieces."""
    device = jax.devices()[0]
    if device.platform == "cpu":
        room = CPU_BYTES
    else:
        limit = (device.memory_stats() or {}).get("bytes_limit", 16 * 2**30)
        room = GPU_SHARE * limit / members
    chunks = max(1, -(-batch * bytes_per_example // max(1, int(room))))
    return -(-batch // min(batch, chunks))
