"""A long run keeps little in memory: what was measured since the last save, and the states of one evaluation."""

import gc
from itertools import pairwise

import jax
import numpy as np
import pytest
from tests.training.tiny import EVALUATIONS, TINY

from headway.records import Cell
from headway.store import Work
from headway.sweep.here import run_cells
from headway.sweep.watch import Silence

CELL = Cell(TINY, (0, 1, 2))
SHAPE = (3, 2, 10, 10)
"""Of the three members' queries and of their values, and of their moments."""


class Census(Silence):
    """Counts the arrays on the device that are as large as the weights."""

    def __init__(self):
        self.counted = []

    def advance(self, step, losses, rungs):
        gc.collect()
        self.counted.append(sum(array.shape == SHAPE for array in jax.live_arrays()))


@pytest.mark.usefixtures("save_never")
def test_states_of_earlier_evaluations_are_let_go_even_if_nothing_is_saved(store):
    """Queries and values with two moments each make six arrays; two states may be there at a time."""
    census = Census()
    before = sum(array.shape == SHAPE for array in jax.live_arrays())
    run_cells([CELL], store, census)
    assert len(census.counted) == len(EVALUATIONS) - 1
    assert max(census.counted) - before <= 2 * 6


@pytest.mark.usefixtures("save_always")
def test_what_is_saved_is_not_kept(store, monkeypatch, undisturbed):
    """Every part holds the steps since the last one, and nothing else."""
    parts, save = [], Work.save

    def look(work, part, *more):
        parts.append(part)
        save(work, part, *more)

    monkeypatch.setattr(Work, "save", look)
    run_cells([CELL], store)
    assert [list(part.clocks["step"]) for part in parts] == [
        list(range(start + 1, stop + 1)) for start, stop in pairwise(EVALUATIONS)
    ]
    assert [list(part.clocks["evaluation"]) for part in parts] == [[0, 1], [2], [5], [7], [12]]
    losses = np.concatenate([part["train_loss"] for part in parts], axis=1)
    assert losses.tobytes() == undisturbed.trajectory["train_loss"].tobytes()
