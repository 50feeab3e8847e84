"""How far a sweep is, read from the names in its folder: whoever computes, and whatever they remember."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from headway.records import Cell
from headway.store import failure, heartbeat
from headway.sweep.queue import Place
from headway.training import spent

SPENT = spent.NAMES
"""What the seconds of a worker are counted by."""


@dataclass(frozen=True)
class Working:
    """What a worker does, where somebody hears from it, and what it has done."""

    number: int
    place: Place
    state: Literal["starting", "working", "waiting", "ended"]
    run: str = ""
    """The run that it trains."""
    members: int = 0
    """How many side by side."""
    step: int = 0
    steps: int = 0
    loss: float = float("nan")
    since: float = 0.0
    """Seconds since it began with this."""
    programs: int = 0
    """How many it has computed."""
    spent: Mapping[str, float] = field(default_factory=dict)
    """Seconds by `SPENT`, when it last reported."""
    seconds: float = 0.0
    """Since it was started."""


@dataclass(frozen=True)
class Tally:
    """Numbers of cells: done + failed + running + stale + left is all of them."""

    done: int
    failed: int
    running: int
    stale: int
    """Somebody began them and has given no sign of life for long."""
    left: int
    working: tuple[Working, ...] = field(default=(), compare=False)
    """Those who compute, where they tell; others are only seen by their cells."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What they reported since the last tally."""
    ahead: float | None = field(default=None, compare=False)
    """Seconds that are left by the plan, where there is one."""

    @property
    def over(self) -> bool:
        """Whether nothing is left to wait for."""
        return self.done + self.failed == self.all

    @property
    def all(self) -> int:
        return self.done + self.failed + self.running + self.stale + self.left


class Count:
    """Looks at a folder as often as one likes: one list of names a look, and one look at each heartbeat."""

    def __init__(self, root: Path, cells: Iterable[Cell]) -> None:
        self._root = root
        self._names = [cell.identity for cell in dict.fromkeys(cells)]
        self._pulse = heartbeat.Pulse()

    def look(self) -> Tally:
        there = names(self._root)
        found = Counter(self._state(name, there) for name in self._names)
        return Tally(found["done"], found["failed"], found["running"], found["stale"], found["left"])

    def _state(self, name: str, there: set[str]) -> str:
        if name in there:
            return "done"
        if f"{name}.lock" in there or name + heartbeat.SUFFIX in there:
            state = self._pulse.state(self._root / name)
            if state is not None:
                return state
        return "failed" if name + failure.SUFFIX in there else "left"


def failures(root: Path, cells: Sequence[Cell]) -> dict[Cell, str]:
    """The cells that failed and are not done, each with its last words."""
    there = names(root)
    noted = (cell for cell in cells if cell.identity not in there and cell.identity + failure.SUFFIX in there)
    return {cell: failure.read(root / cell.identity) or "it failed" for cell in noted}


def names(root: Path) -> set[str]:
    """Every name in the folder."""
    try:
        with os.scandir(root) as entries:
            return {entry.name for entry in entries}
    except FileNotFoundError:
        return set()
