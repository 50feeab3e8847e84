"""What a sweep reports to whoever watches it."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from headway.records import Cell


@runtime_checkable
class Watch(Protocol):
    """A screen, a log, a test: the sweep speaks and never asks."""

    def note(self, text: str) -> None:
        """Something worth a line."""

    def begin(self, cells: Sequence[Cell], position: int, steps: int) -> None:
        """These cells now train together, from `position` to `steps`."""

    def advance(self, step: int, losses: np.ndarray, rungs: np.ndarray | None) -> None:
        """One number per member: the last batch loss and, at an evaluation, the rung it is at."""

    def end(self, cells: Sequence[Cell]) -> None:
        """These cells are done and stored."""


def name(cell: Cell) -> str:
    """What sets a cell apart for a person."""
    settings = cell.settings
    task, is_trained = getattr(settings, "task", None), hasattr(settings, "model")
    label = task.label(settings) if is_trained and hasattr(task, "label") else cell.kind
    frozen = getattr(getattr(settings, "training", None), "frozen", ())
    return f"{label}, {' and '.join(frozen)} frozen" if frozen else label


def middle(losses: np.ndarray) -> float:
    """The median of those that go on: a seed that has stopped has none."""
    known = losses[np.isfinite(losses)]
    return float(np.median(known)) if len(known) else float("nan")


class Silence:
    """Watches nothing."""

    def note(self, text: str) -> None: ...

    def begin(self, cells: Sequence[Cell], position: int, steps: int) -> None: ...

    def advance(self, step: int, losses: np.ndarray, rungs: np.ndarray | None) -> None: ...

    def end(self, cells: Sequence[Cell]) -> None: ...
