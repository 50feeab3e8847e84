"""Cells in this process: each once, in as few programs as there are shapes."""

import shutil

import numpy as np
import pytest
from tests.training.tiny import EVALUATIONS, TINY, changed

from headway.laboratory.hand_made import hand_made
from headway.laboratory.toy_flow import toy_flows
from headway.records import Cell
from headway.settings import ToyFlowSettings
from headway.store import Store
from headway.sweep import here
from headway.sweep.here import run_cells
from headway.sweep.watch import Silence
from headway.tasks.construction import ConstructionSettings

SEEDS = (0, 1, 2)
CELL = Cell(TINY, SEEDS)
FAST = changed(TINY, training={"learning_rate": 0.2})
OTHERWISE = changed(TINY, evaluation={"also": (8,)})
"""Another shape."""


class Diary(Silence):
    """Writes down what it hears."""

    def __init__(self):
        self.lines = []

    def begin(self, cells, position, steps):
        self.lines.append(("begin", tuple(cells), position, steps))

    def advance(self, step, losses, rungs):
        self.lines.append(("advance", step, losses, rungs))

    def end(self, cells):
        self.lines.append(("end", tuple(cells)))

    def note(self, text):
        self.lines.append(("note", text))

    def of(self, kind):
        return [line[1:] for line in self.lines if line[0] == kind]


def of_seed(record, seed):
    """Every bit that a seed led to."""
    row = record.cell.seeds.index(seed)
    parts = (record.trajectory.arrays, record.trajectory.facts, record.weights())
    return {name: values[row].tobytes() for part in parts for name, values in part.items()}


def test_a_record_is_whole(undisturbed):
    found = undisturbed.trajectory
    assert list(found.clocks["step"]) == list(range(1, 13))
    assert list(found.clocks["evaluation"]) == EVALUATIONS
    assert set(found.arrays) == {
        "train_loss", "learning_rate", "gradient_norm", "loss", "accuracy", "excess_loss", "excess_halves", "kl_rungs",
        "attention_by_lag", "attention", "value_alignment",
    }  # fmt: skip
    assert set(found.facts) == {"entropy", "rung_excess", "rung_loss", "kl_stageless", "diverged_at"}
    assert (found.facts["diverged_at"] == -1).all()
    assert {name.split(".")[-1]: values.shape for name, values in undisturbed.weights().items()} == {
        "query": (3, 2, 10, 10),
        "value": (3, 2, 10, 10),
    }
    origin = undisturbed.provenance
    assert origin["device"].startswith("cpu")
    assert origin["seconds"] > 0
    assert {"versions", "commit", "created"} <= set(origin)


def test_cells_that_differ_in_numbers_share_a_program_and_others_do_not(store, built):
    cells = [Cell(TINY, (0,)), Cell(OTHERWISE, SEEDS), Cell(FAST, (1, 2))]
    run_cells(cells, store)
    assert sorted(len(group) for group in built) == [1, 2]
    assert {frozenset(group) for group in built} == {frozenset((cells[0], cells[2])), frozenset(cells[1:2])}
    assert all(store.has(cell) for cell in cells)


def test_two_cells_in_one_program_are_what_each_is_on_its_own(store, undisturbed):
    together = [Cell(TINY, (0,)), Cell(FAST, (1, 2))]
    run_cells(together, store)
    assert of_seed(store.load(together[0]), 0) == of_seed(undisturbed, 0)
    apart = Cell(FAST, SEEDS)
    run_cells([apart], store)
    for seed in (1, 2):
        assert of_seed(store.load(together[1]), seed) == of_seed(store.load(apart), seed)
        assert of_seed(store.load(apart), seed) != of_seed(undisturbed, seed)


def test_sets_smaller_than_the_batch_have_programs_of_their_own_and_larger_ones_share(store, monkeypatch):
    """With room for the largest of a program; batches of 8."""
    programs = []
    monkeypatch.setattr(here, "_run_group", lambda bundle, *_: programs.append((bundle.cells, bundle.capacity)) or ())
    small, middle, large = (Cell(changed(TINY, training={"samples": samples}), SEEDS) for samples in (5, 11, 20))
    run_cells([middle, small, large], store)
    assert sorted(programs, key=lambda program: program[1]) == [((small,), 5), ((middle, large), 20)]


def test_what_is_done_is_not_done_again(store, built):
    run_cells([CELL, CELL], store)
    made = store.load(CELL).provenance["created"]
    assert built == [(CELL,)]
    diary = Diary()
    run_cells([CELL], store, diary)
    assert built == [(CELL,)]
    assert diary.lines == []
    assert store.load(CELL).provenance["created"] == made


def test_only_what_is_missing_is_computed(store, built):
    run_cells([CELL], store)
    other = Cell(FAST, SEEDS)
    run_cells([CELL, other], store)
    assert built == [(CELL,), (other,)]


def test_a_seed_that_diverges_stops_nobody_and_its_record_says_when(store, undisturbed):
    sick, sound = Cell(changed(TINY, training={"learning_rate": 1e30}), (0,)), Cell(TINY, (1, 2))
    run_cells([sick, sound], store)
    assert list(store.load(sick).trajectory.facts["diverged_at"]) == [2]
    assert all(np.isfinite(values).all() for values in store.load(sick).weights().values())
    assert len(store.load(sick).trajectory["excess_loss"][0]) == len(EVALUATIONS)
    for seed in (1, 2):
        assert of_seed(store.load(sound), seed) == of_seed(undisturbed, seed)


def test_a_watch_hears_of_every_step_that_was_measured_and_the_rungs_there(store):
    diary = Diary()
    run_cells([CELL], store, diary)
    assert diary.of("begin") == [((CELL,), 0, 12)]
    assert diary.of("end") == [((CELL,),)]
    heard = diary.of("advance")
    assert [step for step, _, _ in heard] == EVALUATIONS[1:]
    recorded = store.load(CELL).trajectory["train_loss"]
    for step, losses, rungs in heard:
        assert (losses == recorded[:, step - 1]).all()
        assert rungs.shape == (3,)
        assert set(rungs) <= {1, 2}


HAND_MADE = Cell(ConstructionSettings(TINY.task, (0, 5, 20), test_samples=8), SEEDS)


@pytest.fixture
def computed(monkeypatch):
    """The cells that were computed at once."""
    made = []

    def counted(cell):
        made.append(cell)
        return hand_made(cell)

    monkeypatch.setattr("headway.laboratory.hand_made.hand_made", counted)
    return made


def test_the_hand_made_solution_is_computed_once_and_kept(store, built, computed):
    diary = Diary()
    run_cells([HAND_MADE, HAND_MADE], store, diary)
    assert diary.lines == [("note", "computing construction, 3 seeds")]
    run_cells([HAND_MADE], store, diary)
    assert (computed, built) == ([HAND_MADE], [])
    record = store.load(HAND_MADE)
    np.testing.assert_array_equal(record.trajectory["excess_loss"], hand_made(HAND_MADE)["excess_loss"])
    assert record.provenance["device"].startswith("cpu")
    assert record.provenance["seconds"] > 0
    assert len(diary.lines) == 1


def test_flows_of_the_toy_are_solved_side_by_side_and_each_is_kept_for_itself(store):
    diary = Diary()
    first, *others = (Cell(ToyFlowSettings(dimension=size, length=8, points=3), SEEDS) for size in (2, 3, 4))
    run_cells([first], store)
    run_cells([first, *others], store, diary)
    assert diary.lines == [("note", "computing toy-flow, 6 seeds")]
    for cell, alone in zip([first, *others], toy_flows([first]) + toy_flows(others), strict=True):
        np.testing.assert_array_equal(store.load(cell).trajectory["loss"], alone["loss"])
    assert len({store.load(cell).provenance["seconds"] for cell in others}) == 1


def test_cells_of_both_kinds_may_be_asked_for_together(store, built, computed):
    run_cells([CELL, HAND_MADE], store)
    assert (computed, built) == ([HAND_MADE], [(CELL,)])
    assert store.has(CELL) and store.has(HAND_MADE)


COMPARING = Cell(changed(TINY, task={"references": (1,)}), SEEDS)
[REFERENCE] = COMPARING.references()


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    store, diary = Store(tmp_path_factory.mktemp("references")), Diary()
    run_cells([COMPARING], store, diary)
    return store, diary


def test_references_are_computed_first_and_stored(compared):
    store, diary = compared
    assert [cells for cells, *_ in diary.of("begin")] == [(REFERENCE,), (COMPARING,)]
    assert [kind for kind, *_ in diary.lines if kind != "advance"] == ["begin", "end", "begin", "end"]
    assert REFERENCE.settings.task.context == 1
    assert store.load(REFERENCE).trajectory.seeds == SEEDS


def test_references_change_nothing_but_that_the_run_is_compared_with_them(compared, undisturbed):
    found = compared[0].load(COMPARING).trajectory
    assert found["kl_references"].shape == (3, len(EVALUATIONS), 1)
    assert (found["kl_references"] > 0).all()
    np.testing.assert_allclose(found["train_loss"], undisturbed.trajectory["train_loss"], rtol=1e-6)


def test_references_that_are_done_are_used(compared, tmp_path, built):
    copied = Store(shutil.copytree(compared[0].root, tmp_path / "runs"))
    shutil.rmtree(copied.root / COMPARING.identity)
    run_cells([REFERENCE, COMPARING], copied)
    assert built == [(COMPARING,)]
