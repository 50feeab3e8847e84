"""How the processes of one machine share it: how many, on which device, with how much of its memory."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace

from headway.sweep.engines.gpus import VISIBLE, Gpu
from headway.sweep.queue import Place
from headway.training.limits import OWN, Limit, limits, smallest
from headway.training.memory import SHARE

FRACTION, AHEAD = "XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_PREALLOCATE"
BLAS = "OPENBLAS_NUM_THREADS"
"""One for each worker of a GPU: as many as there are cores would wait for each other without sleeping, and on a busy
machine draw a matrix of 50 x 50 in 0.4 s instead of 3 ms."""
GPU_SHARE = 0.9
"""Of a device's memory for all workers that share it; contexts of CUDA take some of the rest."""
MOST = 12
"""Workers of one GPU: nine to fourteen small transformers were measured to share an H200 well."""
BESIDE = 4
"""Most workers that use the CPU beside a GPU."""


@dataclass(frozen=True)
class Layout:
    """Workers of one machine."""

    workers: int
    """On the devices that JAX would use: all GPUs, or the CPU."""
    gpus: tuple[Gpu, ...] = ()
    beside: int = 0
    """On the CPU, where there are GPUs."""
    fraction: float = GPU_SHARE
    """Of a GPU's memory for all of its workers."""

    @property
    def share(self) -> float:
        """Of a GPU's memory for each worker."""
        return self.fraction / max(1, -(-self.workers // max(1, len(self.gpus))))

    @property
    def memory(self) -> int | None:
        """Bytes of a GPU that each worker's XLA may take; None without one."""
        return int(self.share * min(gpu.memory for gpu in self.gpus)) if self.gpus else None

    @property
    def limit(self) -> Limit | None:
        """What a program may take of it."""
        if self.memory is None:
            return None
        each = f", for each of {self.workers} processes" if self.workers > 1 else ""
        return Limit(int(SHARE * self.memory), f"{self.share:.0%} of the GPU's memory{each}", shared=False)

    def alone(self) -> Layout:
        """One worker with everything."""
        return replace(self, workers=1, beside=0)

    def environment(self, number: int, place: Place) -> dict[str, str]:
        """What is set for a worker, besides what is set for us."""
        every = self.workers + self.beside
        memory = smallest(limits(), every)
        own = {} if memory is None else {OWN: str(memory.free)}  # it cannot know how much the others are about to take
        if not self.gpus:
            return own
        if place == "cpu":
            return {**own, VISIBLE: "", "JAX_PLATFORMS": "cpu"}
        gpu = self.gpus[number % len(self.gpus)]
        # Named, because JAX would go on with the CPU where a full GPU takes no further process.
        named = {"JAX_PLATFORMS": "cuda,cpu", VISIBLE: gpu.index}
        return {**own, **named, FRACTION: f"{self.share:.4f}", AHEAD: "true", BLAS: os.environ.get(BLAS, "1")}


def widest(gpus: tuple[Gpu, ...], cores: int, environ: Mapping[str, str] = os.environ) -> Layout:
    """As many workers as share these GPUs well: each needs a core that launches kernels, and compiling needs some."""
    try:
        fraction = float(environ.get(FRACTION, GPU_SHARE))
    except ValueError:
        fraction = GPU_SHARE
    workers = max(1, min(MOST * len(gpus), 3 * cores // 4))
    return Layout(workers, gpus, max(1, min(BESIDE, cores // 4)), fraction if 0 < fraction <= 1 else GPU_SHARE)
