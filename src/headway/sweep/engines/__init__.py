"""Who starts the workers: this process, processes of its own, Slurm or Ray. The work itself is the same everywhere.

An engine is `start(order, after) -> Started`: it lets workers begin on an order of bundles and returns at once. What
has become of the cells is read from their folders, never from the engine, which may forget.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from headway.records import Cell
from headway.settings import SettingsError
from headway.sweep.queue import Job
from headway.sweep.tally import Working
from headway.training.limits import Limit

NAMES = ("here", "processes", "slurm", "ray")
"""`auto` stands for one of the first two."""


@dataclass(frozen=True)
class Order:
    """Bundles that wait in a file for their workers."""

    root: Path
    """The folder of the records."""
    path: Path
    """The file, as `bundle.encode` writes it."""
    bundles: int
    """How many there are."""
    code: tuple[str, ...] = ()
    """Users' files that define their tasks."""
    jobs: tuple[Job, ...] = ()
    """The same for an engine that takes everything at once: how long each takes, and what it waits for."""
    cells: tuple[tuple[Cell, ...], ...] = ()
    """What is in each of them."""


@runtime_checkable
class Started(Protocol):
    """Workers that were started."""

    def going(self) -> bool:
        """Whether any of them still works, or waits for its turn, as far as can be known."""

    def wait(self, seconds: float) -> None:
        """So long, or until something has changed."""

    def stop(self) -> None:
        """Let them save what they have and leave; return when they have."""

    def words(self) -> str:
        """How to look after them and how to cancel them, once nobody here does; nothing if they do not outlive us."""

    def trouble(self) -> str:
        """The last words of a worker that ended badly, if any."""

    def working(self) -> tuple[Working, ...]:
        """What each of them does, where they tell."""

    def notes(self) -> list[str]:
        """What there is to report since the last time."""

    def ahead(self) -> float | None:
        """Seconds that are left by the plan, if there is one and its jobs are asked for here."""


class Unheard:
    """Workers of whom one sees only what is in the folders."""

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    def working(self) -> tuple[Working, ...]:
        return ()

    def notes(self) -> list[str]:
        return []

    def ahead(self) -> float | None:
        return None


@dataclass(frozen=True)
class Engine:
    """How to start workers, and how often again if they are lost."""

    name: str
    start: Callable[[Order, Started | None], Started]
    """Lets workers begin on an order; if others are named too, when they are through."""
    workers: int | None = None
    """How many work at once, where this is known."""
    retries: int = 2
    """How often cells are handed out again whose workers were lost; one that failed by an error is not."""
    outlives: bool = False
    """Whether workers go on when this process ends."""
    elsewhere: bool = False
    """Whether they have other machines' memory."""
    memory: int | None = None
    """Bytes that each of them was given there."""
    limit: Limit | None = None
    """What each of them may take, where the engine itself says so."""
    layout: Any = None
    """How they share this machine (`layout.Layout`): such workers are asked for one program after the other."""


def engine(on: str, options: Mapping[str, Any]) -> Engine:
    """The engine of that name: here, processes:N, slurm or ray; `options` give what it cannot know."""
    name, _, count = on.partition(":")
    if name == "processes":
        from headway.sweep.engines.processes import processes

        return processes(count, options)
    if count or name not in NAMES or name == "here":
        raise SettingsError(
            f"--on is {on!r}, but it must be here, processes:N (as in processes:4), slurm, ray or auto."
        )
    if name == "slurm":
        from headway.sweep.engines.slurm import slurm

        return slurm(options)
    from headway.sweep.engines.ray import ray_engine

    return ray_engine(options)
