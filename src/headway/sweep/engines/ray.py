"""`--on ray`: a task for each bundle; Ray schedules them and starts those again whose process or node dies."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import headway
from headway.settings import SettingsError
from headway.settings.extras import to_install
from headway.sweep.engines import Engine, Order, Unheard
from headway.sweep.engines.launch import attend, command, spawn
from headway.sweep.engines.options import Option, read_options

OPTIONS = {
    "address": Option(str, "the address of the cluster, such as auto, 10.0.0.1:6379 or ray://head:10001"),
    "cpus": Option(float, "cores of a task", least=0),
    "gpus": Option(float, "GPUs of a task", least=0),
    "memory": Option(str, "memory of a task, such as 8G"),
    "tasks": Option(int, "into how many tasks cells of one shape are cut", least=1),
    "retries": Option(int, "how often a lost task is started again", least=0),
}
UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def ray_engine(options: Mapping[str, Any]) -> Engine:
    """An engine of Ray tasks."""
    chosen = read_options("ray", options, OPTIONS, prefixes=("resources",))
    needs = resources(chosen)
    try:
        import ray
    except ModuleNotFoundError:
        raise SettingsError(f"--on ray needs Ray, which is not installed. {to_install('ray')}") from None
    return Engine(
        "ray",
        lambda order, _after: Tasks(ray, order, chosen, needs),
        chosen.get("tasks"),
        chosen.get("retries", 2),
        elsewhere=True,
        memory=needs.get("memory"),
    )


def resources(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """What Ray calls the options."""
    needs: dict[str, Any] = {"num_cpus": chosen.get("cpus", 1), "num_gpus": chosen.get("gpus", 0)}
    if "memory" in chosen:
        needs["memory"] = number_of_bytes(chosen["memory"])
    if "resources" in chosen:
        needs["resources"] = {name: _amount(name, told) for name, told in chosen["resources"].items()}
    # What fails by an error is noted in its folder and not raised: an exception here is a lost worker.
    return {**needs, "max_retries": chosen.get("retries", 2), "retry_exceptions": True}


def number_of_bytes(text: str) -> int:
    """8G -> 8 * 2**30."""
    unit = UNITS.get(text[-1:].upper(), 0)
    try:
        return int(float(text[:-1]) * unit) if unit else int(text)
    except (ValueError, OverflowError):
        raise SettingsError(f"ray option memory is {text!r}, but it is a number of bytes, such as 8G.") from None


def task(root: str, order: str, code: tuple[str, ...], number: int) -> int:
    """What a task does: a worker in a process of its own, which ends with the task."""
    left = attend(spawn(command(Path(root), Path(order), code, only=number)))
    if left not in (0, 1):
        raise RuntimeError(f"the worker exited with code {left}")
    return left


class Tasks(Unheard):
    """Tasks of a Ray cluster, which end with this process: Ray cancels what its driver leaves."""

    def __init__(self, ray: Any, order: Order, chosen: Mapping[str, Any], needs: Mapping[str, Any]) -> None:
        self._ray = ray
        if not ray.is_initialized():
            _connect(ray, chosen.get("address", os.environ.get("RAY_ADDRESS", "auto")))
        root, path = str(order.root.resolve()), str(order.path.resolve())
        remote = ray.remote(**needs)(task)
        self._left = [remote.remote(root, path, order.code, number) for number in range(order.bundles)]
        self._trouble = ""

    def going(self) -> bool:
        done, self._left = (
            self._ray.wait(self._left, num_returns=len(self._left), timeout=0) if self._left else ([], [])
        )
        for each in done:
            try:
                self._ray.get(each)
            except Exception as error:
                self._trouble = " ".join(str(error).split())[-500:]
        return bool(self._left)

    def stop(self) -> None:
        for each in self._left:
            self._ray.cancel(each)
        self._ray.wait(self._left, num_returns=len(self._left), timeout=120) if self._left else None

    def words(self) -> str:
        return ""

    def trouble(self) -> str:
        return self._trouble


def _connect(ray: Any, address: str) -> None:
    source = str(Path(headway.__file__).parents[1])
    places = os.pathsep.join(dict.fromkeys([source, *filter(None, [os.environ.get("PYTHONPATH")])]))
    try:
        ray.init(
            address=address, namespace="headway", log_to_driver=False, logging_level="WARNING",
            runtime_env={"env_vars": {"PYTHONPATH": places}},
        )  # fmt: skip
    except ConnectionError as error:
        raise SettingsError(
            f"there is no Ray cluster at {address}: {' '.join(str(error).split())[:200]} Start one with "
            "`ray start --head`, or name one with --engine address=HOST:6379."
        ) from None


def _amount(name: str, told: Any) -> float:
    try:
        return float(told)
    except (TypeError, ValueError):
        raise SettingsError(f"ray option resources.{name} is {told!r}, but it is an amount, such as 1.") from None
