"""A run folder at one moment: its cells, and the sweeps that are going on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from headway.records import Cell
from headway.store.plan import Plan

State = Literal["running", "stale", "waiting", "failed", "stopped", "damaged", "done"]
STATES: tuple[State, ...] = ("running", "stale", "waiting", "failed", "stopped", "damaged", "done")
"""Stale is what somebody holds who gives no sign of life: it hangs, or its machine is gone. Stopped is what was begun
and nobody works on, interrupted or killed: the same command goes on with it."""


@dataclass(frozen=True)
class Seen:
    """A cell as it was when somebody looked."""

    identity: str
    state: State
    words: str = ""
    """The settings that set it apart."""
    trouble: str = ""
    """Why it failed, or what is damaged."""
    cell: Cell | None = None
    position: int = 0
    """The step of the last checkpoint."""
    seconds: float | None = None
    """What it took to get there."""
    since: tuple[int, float] | None = None
    """Position and seconds of the first checkpoint that was seen of it."""
    changed: float = 0.0
    """When it last changed, in seconds since 1970."""
    size: int = 0
    """Bytes of what was measured."""
    clock_of: Mapping[str, str] = field(default_factory=dict)
    """Arrays that were measured so far -> their clocks: whether there is something to draw."""
    stamp: str = ""
    """Differs whenever what was measured differs."""

    @property
    def steps(self) -> int | None:
        """How many steps it has, or at most has; none for what is computed in one go."""
        training = getattr(getattr(self.cell, "settings", None), "training", None)
        return getattr(training, "steps", None)


@dataclass(frozen=True)
class Snapshot:
    """What a look at the folder found."""

    cells: dict[str, Seen]
    plans: tuple[Plan, ...]
    crowded: bool
    """Whether there were more names than one look takes in."""
