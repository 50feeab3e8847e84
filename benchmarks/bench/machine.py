"""What the numbers were measured on: processor, memory, system, versions. Nothing about who or where."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from headway.store.origin import commit

PACKAGES = ("headway", "jax", "jaxlib", "equinox", "optax", "numba", "numpy", "torch")


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def describe(device: str) -> dict[str, Any]:
    """The machine in plain words and numbers, and now (UTC); None where something cannot be known."""
    source = commit()
    return {
        "device": device,
        "processor": _processor(),
        "cores": cores(),
        "memory_bytes": _memory(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in PACKAGES},
        "load": round(os.getloadavg()[0], 2),
        "commit": source["commit"],
        "changed": source["changed"] or commit(Path(__file__).parent)["changed"],  # Headway's code, or the rivals'
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def disturbance(machine: Mapping[str, Any]) -> str | None:
    """What to say if others seem to use the machine: threads that wait for each other suffer most."""
    if machine["load"] < 0.25 * machine["cores"]:
        return None
    return (
        f"This machine was busy in the last minute: {machine['load']:g} processes on {machine['cores']} cores. If they "
        "go on, the numbers will be noisy, and worst for whoever has many threads: then measure again when it is quiet."
    )


class Others:
    """share = (busy seconds of all cores - our own) / (cores * wall seconds), since the last look.

    Threads that wait for each other, as PyTorch's do, lose far more than this share: it tells which ratios to trust.
    """

    def __init__(self) -> None:
        self._before = self._now()

    def share(self) -> float | None:
        """What others had since the last call; None where the system does not tell."""
        before, self._before = self._before, self._now()
        if before is None or self._before is None:
            return None
        busy, own, wall = (after - earlier for after, earlier in zip(self._before, before, strict=True))
        return max(0.0, (busy - own) / (os.cpu_count() or 1) / max(wall, 1e-9))

    @staticmethod
    def _now() -> tuple[float, float, float] | None:
        counters = Path("/proc/stat")
        if not counters.exists():
            return None
        # user, nice, system, idle, waiting for disks, interrupts, soft interrupts, stolen by the host
        user, nice, system, _, _, *interrupts = map(int, counters.read_text().splitlines()[0].split()[1:9])
        ticks = user + nice + system + sum(interrupts)
        return ticks / os.sysconf("SC_CLK_TCK"), sum(os.times()[:2]), time.monotonic()


def peak_memory() -> int:
    """Bytes of real memory that this process had at most, since it became this program."""
    status = Path("/proc/self/status")
    if status.exists():
        # getrusage would count what the parent held when it started this process; this line does not.
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if platform.system() == "Darwin" else 1024 * peak


def _processor() -> str | None:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    if platform.system() == "Darwin":
        asked = subprocess.run(["sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True)
        return asked.stdout.strip() or None
    return platform.processor() or None


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
