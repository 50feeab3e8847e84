"""What the faults are done to: two tiny trainings that share a program, and every bit of what they come to."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from tests.training.tiny import TINY, changed

from headway.records import Cell
from headway.store import Record, Store

SEEDS = (0, 1, 2)
CELLS = (Cell(TINY, SEEDS), Cell(changed(TINY, training={"samples": 11}), SEEDS))


def bits(record: Record) -> str:
    """A digest of every number that a record holds, its name, its type and its shape."""
    digest = hashlib.sha256()
    found = record.trajectory
    for part in (found.clocks, found.arrays, found.facts, record.weights()):
        for name, values in sorted(part.items()):
            digest.update(f"{name} {values.dtype} {values.shape}".encode() + np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def outcome(root: Path, cells: tuple[Cell, ...] = CELLS) -> list[str]:
    """The bits of every cell, which are all there and whole."""
    store = Store(root)
    return [bits(store.load(cell)) for cell in cells]


def leftovers(root: Path, cells: tuple[Cell, ...] = CELLS) -> set[str]:
    """What lies beside the records and the compiled programs."""
    return {path.name for path in root.iterdir()} - {".compiled", *(cell.identity for cell in cells)}
