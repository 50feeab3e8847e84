"""A watch for logs: plain lines, one now and then."""

import sys
import time
from collections.abc import Sequence
from typing import TextIO

import numpy as np

from headway.records import Cell
from headway.store.texts import visible
from headway.sweep.watch import Silence, middle

EVERY = 30.0
"""Seconds between two lines about steps."""


class LogProgress(Silence):
    """Writes what it hears, with the time of day."""

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file or sys.stderr
        self._last = 0.0
        self._steps = 0

    def note(self, text: str) -> None:
        self._file.write(f"{time.strftime('%H:%M:%S')} {visible(text)}\n")
        self._file.flush()

    def begin(self, cells: Sequence[Cell], position: int, steps: int) -> None:
        self._last, self._steps = time.monotonic(), steps
        self.note(f"training {' '.join(cell.identity for cell in cells)} from step {position} to {steps}")

    def advance(self, step: int, losses: np.ndarray, rungs: np.ndarray | None) -> None:
        if time.monotonic() - self._last > EVERY:
            self._last = time.monotonic()
            self.note(f"step {step}/{self._steps}, median loss {middle(losses):.3f}")

    def end(self, cells: Sequence[Cell]) -> None:
        self.note(f"done: {' '.join(cell.identity for cell in cells)}")
