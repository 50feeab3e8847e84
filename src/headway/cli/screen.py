"""Progress on the terminal: steps, loss and rung of every seed, time left; plain lines where there is no terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import numpy as np
from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from headway.records import Cell
from headway.store.texts import visible
from headway.sweep.watch import middle, name

PLAIN_EVERY = 10.0
"""Seconds between lines where nobody sees a live table."""
MOST_SHOWN = 24
"""Runs that are listed one by one; of more, numbers."""


class LiveScreen:
    """A part of the terminal that is drawn again and again, and leaves nothing behind; nothing without a terminal."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(stderr=True)
        self._live = Live(console=self.console, refresh_per_second=4, transient=True)

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()


class Screen(LiveScreen):
    """A `Watch` that shows what is reported to it."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__(console)
        self._cells: Sequence[Cell] = ()

    def note(self, text: str) -> None:
        self.console.print(visible(text), markup=False, highlight=False)

    def begin(self, cells: Sequence[Cell], position: int, steps: int) -> None:
        self._cells, self._start, self._step, self._steps = cells, position, position, steps
        self._members = [(cell, seed) for cell in cells for seed in cell.seeds]
        self._losses = np.full(len(self._members), np.nan)
        self._rungs: np.ndarray | None = None
        self._began = self._since = self._printed = time.monotonic()
        self._compiled = False
        self.note(f"training {describe(cells)} for {steps} steps (compiling takes a moment)")
        if self.console.is_terminal:
            self._live.update(Spinner("dots", text="compiling"))

    def advance(self, step: int, losses: np.ndarray, rungs: np.ndarray | None) -> None:
        if not self._compiled:  # The first steps include compiling, which says nothing about the rest.
            self._compiled, self._since, self._start = True, time.monotonic(), step
        self._step, self._losses = step, losses
        self._rungs = self._rungs if rungs is None else rungs
        if self.console.is_terminal:
            self._live.update(self._table())
        elif time.monotonic() - self._printed > PLAIN_EVERY or step == self._steps:
            self._printed = time.monotonic()
            self.note(f"step {step}/{self._steps}, median loss {middle(losses):.3f}{self._told()}, {self._left()}")

    def end(self, cells: Sequence[Cell]) -> None:
        self._live.update(Text(""))
        self.note(f"done: {describe(cells)}, {clock(time.monotonic() - self._began)}")

    def _left(self) -> str:
        done = self._step - self._start
        if not done:
            return "estimating the time left"
        return f"{clock((time.monotonic() - self._since) * (self._steps - self._step) / done)} left"

    def _told(self) -> str:
        """Which rung each approaches; of more than a line can hold, how many approach each."""
        if self._rungs is None:
            return ""
        if len(self._rungs) <= MOST_SHOWN:
            return f", rung that each seed approaches (not yet its stage): {' '.join(map(str, self._rungs))}"
        rungs, counts = np.unique(self._rungs, return_counts=True)
        return f", {', '.join(f'{count} approaching rung {rung}' for rung, count in zip(rungs, counts, strict=True))}"

    def _table(self) -> Group:
        table = Table(box=None, padding=(0, 2))
        for heading in ("run", "seed", "loss", "rung"):
            table.add_column(heading, justify="left" if heading in ("run", "rung") else "right")
        shown = self._members[:MOST_SHOWN]
        for row, (cell, seed) in enumerate(shown):
            top = len(getattr(cell.settings.task, "rungs", ())) - 1
            rung = "" if self._rungs is None else "●" * int(self._rungs[row]) + "○" * (top - int(self._rungs[row]))
            table.add_row(name(cell), str(seed), f"{self._losses[row]:.3f}", rung)
        if len(self._members) > len(shown):
            table.add_row("", "…", "", f"and {len(self._members) - len(shown)} more")
        bar = ProgressBar(total=self._steps, completed=self._step, width=40)
        # A bar alone does not end its line.
        return Group(Text(f"step {self._step}/{self._steps}   {self._left()}"), Padding(bar, (0, 0)), table)


def describe(cells: Sequence[Cell]) -> str:
    """A line about cells that train together."""
    names = ", ".join(dict.fromkeys(name(cell) for cell in cells))
    seeds = sum(len(cell.seeds) for cell in cells)
    return f"{names} ({seeds} seeds side by side)"


def clock(seconds: float) -> str:
    """3:05 for 185 seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
