"""One contestant in a process of its own: when it was ready, and how much memory it had at most.

    python -m benchmarks.bench.alone '{"case": "minimal", "contestant": "torch", ...}'

A PyTorch process imports nothing of JAX, and the other way round, so that each is charged its own memory only.
Rivals get random weights and sequences of the right shapes: neither time nor memory depends on the numbers.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from benchmarks.bench.alternate import seconds_per_step
from benchmarks.bench.cases import case
from benchmarks.bench.contestant import HEADWAY
from benchmarks.bench.machine import peak_memory


def live(task: dict[str, Any]) -> dict[str, float | int | None]:
    """Seconds since the process was started, and bytes, at the milestones of a contestant's life."""

    def since() -> float:
        return time.time() - task["started"]

    chosen = case(task["case"], task["scale"], task["gpu"])
    if task["contestant"] == HEADWAY:
        from benchmarks.bench.headway_side import begin

        imported, memory = since(), peak_memory()
        contestant = begin(chosen.settings, chosen.seeds, ahead=True).contestant(chosen.pace.headway_steps)
    else:
        import numpy as np

        from benchmarks.bench import rivals

        generator = np.random.default_rng(0)
        task_settings, samples = chosen.settings.task, chosen.settings.training.samples
        sequences = generator.integers(task_settings.vocab, size=(samples, task_settings.length + 1)).astype(np.int32)
        weights = {
            name: generator.uniform(-0.1, 0.1, shape).astype(np.float32) for name, shape in task["shapes"].items()
        }
        # What a rival imports, it imports here.
        rivals.make(task["contestant"], chosen.settings, weights, sequences[:1], 1, task["gpu"])
        imported, memory = since(), peak_memory()
        contestant = rivals.make(
            task["contestant"], chosen.settings, weights, sequences, chosen.pace.rival_steps, task["gpu"]
        ).contestant
    begun = since()
    contestant.advance()
    first = since()
    step = seconds_per_step(contestant)
    return {
        "imported_seconds": imported,
        "begun_seconds": begun,
        "first_seconds": first,
        "step_seconds": step,
        "steps": contestant.steps,
        "seeds": contestant.seeds,
        "imported_bytes": memory,
        "peak_bytes": peak_memory(),
        "device_bytes": _device_memory(task["contestant"]) if task["gpu"] else None,
    }


def _device_memory(contestant: str) -> int:
    """Bytes that a contestant had at most on the GPU."""
    if contestant.startswith("torch"):
        from benchmarks.bench.rivals.torch_training import peak_on_gpu

        return peak_on_gpu()
    import jax

    return int((jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(live(json.loads(sys.argv[1]))) + "\n")
