"""Cells that stop each at its own time: stored as they are done, and going on after an interruption."""

import numpy as np
import pytest

from headway.records import Cell
from headway.settings import EvaluationSettings, ModelSettings, TrainingSettings
from headway.store import Store
from headway.sweep import here
from headway.sweep.here import run_cells
from headway.sweep.watch import Silence
from headway.tasks.run import Settings
from headway.tasks.single_location import SingleLocation

MODEL = ModelSettings(heads=1, layers=1, positions="sinusoidal", width=8, norm="none", mlp=0, dropout=0.0)
TRAINING = TrainingSettings(
    learning_rate=1e-2,
    schedule="constant",
    batch=8,
    data="fresh",
    steps=60,
    test_samples=16,
    threshold=0.1,
    tail=-1.0,
)
EVALUATION = EvaluationSettings(every=10, losses="mean")
LONG = Settings(SingleLocation(length=2, dimension=2), MODEL, TRAINING, EVALUATION)
SHORT = LONG.changed(task={"copies": 2}, training={"threshold": 2.0, "tail": 0.5})
CELLS = [Cell(LONG, (0, 1)), Cell(SHORT, (0, 1))]
"""One goes on to the end; the other has nothing to find, and stops when its loss is below 2."""


class Interrupts(Silence):
    """Stops the sweep from outside, once, behind a step."""

    def __init__(self, behind: int) -> None:
        self.behind, self.steps = behind, []

    def advance(self, step, losses, rungs) -> None:
        self.steps.append(step)
        if step == self.behind:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Store:
    store = Store(tmp_path_factory.mktemp("undisturbed"))
    run_cells(CELLS, store)
    return store


def test_each_cell_ends_where_its_own_seeds_stop(undisturbed):
    long, short = (undisturbed.load(cell).trajectory for cell in CELLS)
    assert long.times("loss").tolist() == [0, 10, 20, 30, 40, 50, 60]
    assert long.facts["stopped_at"].tolist() == [60, 60]
    assert short.times("loss")[-1] == short.facts["stopped_at"].max() < 60
    assert set(long.arrays) == {"train_loss", "loss", "loss_alone", "gain", "attention_relevant"}


def test_a_plateau_that_is_over_at_the_start_is_stored_like_any_other(tmp_path):
    cell, store = Cell(LONG.changed(training={"threshold": 1e6, "tail": 0.5}), (0, 1)), Store(tmp_path)
    run_cells([cell], store)
    over = store.load(cell).trajectory
    assert over.times("loss").tolist() == [0] and over.facts["plateau"].tolist() == [0, 0]


@pytest.mark.parametrize("behind", [10, 40])
def test_an_interrupted_sweep_ends_with_the_same_numbers(undisturbed, tmp_path, behind):
    """At 10 both cells have work to go on with; at 40 one of them is stored already."""
    store = Store(tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_cells(CELLS, store, Interrupts(behind))
    assert [entry.state for entry in store.status()].count("done") == (1 if behind == 40 else 0)
    watch = Interrupts(-1)
    run_cells(CELLS, store, watch)
    assert watch.steps[0] == behind + 10
    for cell in CELLS:
        wanted, found = undisturbed.load(cell).trajectory, store.load(cell).trajectory
        assert set(found.arrays) == set(wanted.arrays)
        for name, values in wanted.arrays.items():
            np.testing.assert_array_equal(found[name], values, err_msg=name)
        for name, values in wanted.facts.items():
            np.testing.assert_array_equal(found.facts[name], values, err_msg=name)


def test_what_was_saved_last_is_where_a_killed_sweep_goes_on(undisturbed, tmp_path, monkeypatch):
    """Saved at every tick; the process dies without a word."""

    class KilledError(Exception):
        pass

    class Kills(Interrupts):
        def advance(self, step, losses, rungs) -> None:
            if step == self.behind:
                raise KilledError

    monkeypatch.setattr(here, "SAVE_EVERY", -1.0)
    store = Store(tmp_path)
    with pytest.raises(KilledError):
        run_cells(CELLS, store, Kills(30))
    watch = Interrupts(-1)
    run_cells(CELLS, store, watch)
    assert watch.steps[0] == 40
    cell = CELLS[0]
    np.testing.assert_array_equal(store.load(cell).trajectory["loss"], undisturbed.load(cell).trajectory["loss"])


def test_the_same_cells_again_compute_nothing(undisturbed):
    watch = Interrupts(-1)
    run_cells(CELLS, undisturbed, watch)
    assert watch.steps == []
