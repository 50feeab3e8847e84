"""How far a sweep is, read from the names in its folder: whoever computes, and whatever they remember."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from headway.records import Cell
from headway.store import failure, heartbeat


@dataclass(frozen=True)
class Tally:
    """Numbers of cells: done + failed + running + stale + left is all of them."""

    done: int
    failed: int
    running: int
    stale: int
    """Somebody began them and has given no sign of life for long."""
    left: int

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
        numbers = dict.fromkeys(("done", "failed", "running", "stale", "left"), 0)
        for name in self._names:
            numbers[self._state(name, there)] += 1
        return Tally(**numbers)

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
