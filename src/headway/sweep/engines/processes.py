"""`--on processes:N`: N workers on this machine with the same order, each beginning at another end of it.

Nobody hands out work: a worker takes what is not locked, passes over what is, and at the end asks again for what was
locked. So the last cells are shared as well as the first, and what a killed worker left is taken by the others.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headway.settings import SettingsError
from headway.store import files
from headway.sweep.engines import Engine, Order
from headway.sweep.engines.launch import ask_to_stop, command, spawn
from headway.sweep.engines.options import Option, read_options
from headway.training.limits import OWN, limits, smallest

OPTIONS = {"retries": Option(int, "how often lost cells are handed out again", least=0)}
PATIENCE = 120.0
"""Seconds that a worker has to save what it has before it is killed."""
GPU_SHARE = 0.9
"""Of a device's memory for all workers that share it."""
LAST_WORDS = 2000


def processes(count: str, options: Mapping[str, Any]) -> Engine:
    """An engine of `count` processes."""
    if not (count.isascii() and count.isdigit() and 1 <= int(count) <= 4096):
        raise SettingsError(
            f"--on is 'processes:{count}', but the number of processes is from 1 to 4096, as in processes:4."
        )
    chosen = read_options("processes", options, OPTIONS)
    workers = int(count)
    return Engine("processes", lambda order, _after: Processes(order, workers), workers, chosen.get("retries", 2))


class Processes:
    """Workers of this machine, which end with this process."""

    def __init__(self, order: Order, workers: int) -> None:
        devices, self._workers = gpus(), []
        started = min(workers, order.bundles)
        memory = memory_of_each(started)
        for number in range(started):
            log = order.path.with_name(f"{order.path.stem}-{number}.log")
            words = command(order.root, order.path, order.code, start=number * order.bundles // workers)
            with os.fdopen(files.create(log), "wb") as file:
                self._workers.append((spawn(words, file, surroundings(number, workers, devices) | memory), log))

    def going(self) -> bool:
        return any(process.poll() is None for process, _ in self._workers)

    def stop(self) -> None:
        for process, _ in self._workers:
            ask_to_stop(process)
        until = time.monotonic() + PATIENCE
        for process, _ in self._workers:
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def words(self) -> str:
        return ""

    def trouble(self) -> str:
        told = (_end_of(log) for process, log in self._workers if process.poll())
        return next(filter(None, told), "")


def surroundings(number: int, workers: int, devices: int) -> dict[str, str]:
    """The GPU of a worker, and its share of it; nothing where there are none, or where somebody chose already."""
    if not devices or "CUDA_VISIBLE_DEVICES" in os.environ:
        return {}
    share = GPU_SHARE / -(-workers // devices)
    return {"CUDA_VISIBLE_DEVICES": str(number % devices), "XLA_PYTHON_CLIENT_MEM_FRACTION": f"{share:.3f}"}


def memory_of_each(workers: int) -> dict[str, str]:
    """What each worker may take: it cannot know how much the others are about to."""
    found = smallest(limits(), workers)
    return {} if found is None else {OWN: str(found.free)}


def gpus() -> int:
    """How many GPUs this machine has, without taking hold of any."""
    if shutil.which("nvidia-smi") is None:
        return 0
    try:
        told = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return 0
    return sum(line.startswith("GPU ") for line in told.splitlines())


def _end_of(log: Path) -> str:
    try:
        return log.read_bytes()[-LAST_WORDS:].decode(errors="replace").strip()
    except OSError:
        return ""
