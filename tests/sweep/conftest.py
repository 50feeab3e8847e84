import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.training.tiny import TINY

from headway.records import Cell
from headway.store import Record, Store
from headway.sweep import here
from headway.sweep.here import run_cells
from headway.sweep.watch import Silence

SEEDS = (0, 1, 2)


@pytest.fixture(autouse=True)
def disk_that_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


@pytest.fixture
def save_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint at every evaluation."""
    monkeypatch.setattr(here, "SAVE_EVERY", 0)


@pytest.fixture
def save_never(monkeypatch: pytest.MonkeyPatch) -> None:
    """No checkpoint before the end."""
    monkeypatch.setattr(here, "SAVE_EVERY", float("inf"))


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Cell, ...]]:
    """The cells of every program that is made."""
    made: list[tuple[Cell, ...]] = []

    class Counted(here.Group):
        def __init__(self, cells, *more):
            made.append(tuple(cells))
            super().__init__(cells, *more)

    monkeypatch.setattr(here, "Group", Counted)
    return made


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The tiny run, when nobody disturbs it."""
    store, cell = Store(tmp_path_factory.mktemp("undisturbed")), Cell(TINY, SEEDS)
    run_cells([cell], store)
    return store.load(cell)


@pytest.fixture
def bits() -> Callable[[Record], dict[str, bytes]]:
    """Every bit that a record holds, by name."""

    def of(record: Record) -> dict[str, bytes]:
        found = record.trajectory
        parts = (found.clocks, found.arrays, found.facts, record.weights())
        return {name: np.asarray(values).tobytes() for part in parts for name, values in part.items()}

    return of


class Death(BaseException):
    """The end of the process: nothing is caught, nothing more is saved."""


class DeadlyWatch(Silence):
    """Looks on, and ends the process when it hears of a step."""

    def __init__(self, step: int, end: type[BaseException] = Death) -> None:
        self.step, self.end_with, self.heard = step, end, []

    def advance(self, step: int, losses: np.ndarray, rungs: np.ndarray | None) -> None:
        self.heard.append(step)
        if step == self.step:
            raise self.end_with


@pytest.fixture
def dying_at() -> type[DeadlyWatch]:
    """dying_at(step): a watch that ends the process there; dying_at(step, KeyboardInterrupt): so does Ctrl-C."""
    return DeadlyWatch


@pytest.fixture
def death() -> type[BaseException]:
    return Death
