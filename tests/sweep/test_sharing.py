"""Two sweeps over the same cells, and cells that fail: the good ones are stored, once, and the bad ones named."""

import json

import pytest
from tests.training.tiny import TINY, changed

from headway.records import Cell
from headway.store import Busy, Store, failure
from headway.sweep import here
from headway.sweep.bundle import pack
from headway.sweep.here import run_bundles, run_cells
from headway.sweep.watch import Silence
from headway.tasks.construction import ConstructionSettings

# The same runs are made with every shape and type checked in `test_here.py`.
pytestmark = pytest.mark.usefixtures("unchecked")

CELL = Cell(TINY, (0, 1, 2))
OTHER = Cell(changed(TINY, training={"learning_rate": 0.2}), (0, 1, 2))
HAND_MADE = Cell(ConstructionSettings(TINY.task, (0, 5), test_samples=8), (0,))


class Notes(Silence):
    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


@pytest.mark.parametrize("finished", [False, True], ids=["given-up", "finished"])
def test_what_another_sweep_works_on_is_passed_over_and_asked_for_again(
    store, monkeypatch, built, finished, undisturbed
):
    """The other one works on CELL until this one has nothing else to do, and then gives up, or is done."""
    other = store.open(CELL)
    work = other.__enter__()
    seen = []

    def looks_again(seconds):
        seen.append(store.has(OTHER))
        if len(seen) == 3:
            if finished:
                work.place(undisturbed.trajectory, {}, undisturbed.weights())
            other.__exit__(None, None, None)

    monkeypatch.setattr(here.time, "sleep", looks_again)
    notes = Notes()
    run_cells([CELL, OTHER], store, notes)
    assert seen == [True] * 3, "the other cell was done before anybody waited"
    assert built == ([(OTHER,)] if finished else [(OTHER,), (CELL,)])
    assert store.has(CELL)
    assert notes.notes == [f"another process is computing {CELL.identity}; waiting for it"], "told once"


def test_what_is_computed_in_one_go_is_shared_too(store, monkeypatch):
    other = store.open(HAND_MADE)
    other.__enter__()
    monkeypatch.setattr(here.time, "sleep", lambda seconds: other.__exit__(None, None, None))
    run_cells([HAND_MADE], store)
    assert store.has(HAND_MADE)


@pytest.fixture
def sick(monkeypatch):
    """Hand-made cells fail."""

    def fail(cell):
        raise ValueError("too hot")

    monkeypatch.setattr("headway.laboratory.hand_made.hand_made", fail)


def test_a_cell_that_fails_does_not_stop_the_others_and_is_an_error_in_the_end(store, sick):
    with pytest.raises(ValueError, match="too hot"):
        run_cells([HAND_MADE, CELL], store)
    assert store.has(CELL)
    note = json.loads(failure.note_of(store.root / HAND_MADE.identity).read_text())
    assert note["error"] == "ValueError: too hot"
    assert any('raise ValueError("too hot")' in line for line in note["traceback"])
    assert note["pid"] and note["host"]


def test_a_cell_that_failed_is_not_tried_again_by_other_workers_but_by_the_next_sweep(store, sick, monkeypatch):
    assert [str(error) for error in run_bundles(pack([HAND_MADE]), store, Silence(), once=True)] == ["too hot"]
    assert run_bundles(pack([HAND_MADE]), store, Silence(), once=True) == []
    monkeypatch.undo()
    run_cells([HAND_MADE], store)
    assert store.has(HAND_MADE)
    assert failure.read(store.root / HAND_MADE.identity) is None


def test_a_program_that_is_too_large_for_the_memory_is_halved(store, monkeypatch, built):
    group = here._run_group

    def out_of_memory(bundle, *more):
        if len(bundle.cells) > 1:
            raise RuntimeError("RESOURCE_EXHAUSTED: out of memory while trying to allocate 1 byte")
        return group(bundle, *more)

    monkeypatch.setattr(here, "_run_group", out_of_memory)
    notes = Notes()
    run_cells([CELL, OTHER], store, notes)
    assert built == [(CELL,), (OTHER,)]
    assert notes.notes == ["6 runs at once do not fit the memory of the device: splitting them into two halves"]


def test_something_else_in_the_place_of_a_cell_stops_no_other_one(store):
    (store.root / OTHER.identity).mkdir(parents=True)
    [error] = run_bundles(pack([OTHER, CELL]), store, Silence())
    assert OTHER.identity in str(error)
    assert store.has(CELL)


def test_a_store_that_cannot_be_written_ends_the_sweep_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Exception, match="making the folder"):
        run_bundles(pack([HAND_MADE, CELL]), Store(tmp_path / "file" / "runs"), Silence())


def test_a_cell_that_somebody_holds_is_busy_for_who_does_not_wait(store):
    with store.open(CELL), pytest.raises(Busy), store.open(CELL, wait=False):
        pass
