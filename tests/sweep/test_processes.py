"""Workers in processes of their own: the same bits, whoever dies meanwhile."""

import os
import signal
import time
from pathlib import Path

import pytest
from tests.compiling import compiled
from tests.training.tiny import TINY, changed

import headway
from headway.records import Cell
from headway.store import Store, failure
from headway.sweep.bundle import encode, pack
from headway.sweep.engines import Engine, Order, Unheard, engine
from headway.sweep.engines.launch import command, spawn
from headway.sweep.handing_out import Detached, SweepError, hand_out
from headway.sweep.here import run_cells
from headway.sweep.worker import AGAIN, DONE, FAILED
from headway.tasks.construction import ConstructionSettings

CELL = Cell(TINY, (0, 1, 2))
LONG = Cell(changed(TINY, training={"steps": 600_000}, evaluation={"points": 400}), (0,))
HAND_MADE = Cell(ConstructionSettings(TINY.task, (0, 5), test_samples=8), (0,))
SICK = Cell(changed(TINY, task={"vocab": 4}, training={"steps": 3}), (0,))
HASTY = """
import sys
from headway.sweep import here, worker
here.SAVE_EVERY = 0.1
sys.exit(worker.main())
"""
"""A worker that saves at once what it has, and not after ten seconds."""


@pytest.fixture(autouse=True)
def compile_once(monkeypatch):
    """Workers find what was compiled before."""
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(compiled()))
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


@pytest.fixture
def tallies():
    return []


def position(store, cell):
    with store.open(cell) as work:
        return work.resume().position


def until(condition, seconds=120):
    """Wait for something that another process does."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.05)


@pytest.fixture
def ordered(store, tmp_path):
    """ordered(cells): a worker that was told to compute them."""
    started = []

    def start(*cells):
        path = store.root / "order.json"
        store.root.mkdir(exist_ok=True)
        path.write_text(encode(pack(cells)))
        with (tmp_path / "log").open("wb") as log:
            started.append(spawn(command(store.root, path), log))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_two_processes_compute_every_cell_once_with_the_same_bits_as_one(store, undisturbed, bits, tallies):
    """One cell for each of them; then there is nothing to do."""
    other = Cell(TINY, (1, 2))
    hand_out([CELL, other, HAND_MADE], store, engine("processes:2", {}), tallies.append)
    assert bits(store.load(CELL)) == bits(undisturbed)
    assert store.has(other) and store.has(HAND_MADE)
    assert tallies[-1].done == 3 and tallies[-1].over
    assert {path.name for path in store.root.iterdir()} == {cell.identity for cell in (CELL, other, HAND_MADE)}
    hand_out([CELL, other], store, Engine("nobody", lambda *_: pytest.fail("nothing is missing")), tallies.append)


def test_a_worker_that_is_told_to_stop_saves_says_so_and_holds_nothing(store, ordered, tmp_path, monkeypatch):
    """As Slurm does it before a time limit."""
    (tmp_path / "hasty.py").write_text(HASTY)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]))
    monkeypatch.setattr("headway.sweep.engines.launch.WORKER", "hasty")
    process = ordered(LONG)
    checkpoint = store.root / f"{LONG.identity}.partial" / "checkpoint.json"
    until(checkpoint.exists)
    process.send_signal(signal.SIGUSR2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == AGAIN
    assert "asked to stop; what was measured is saved" in (tmp_path / "log").read_text()
    assert 0 < position(store, LONG) < 600_000
    assert not list(store.root.glob("*.alive")) and not list(store.root.glob("*.lock"))


def test_a_worker_that_meets_something_else_in_the_place_of_a_cell_does_the_others(store, ordered):
    (store.root / SICK.identity).mkdir(parents=True)
    assert ordered(SICK, HAND_MADE).wait(120) == FAILED
    assert store.has(HAND_MADE)


class Lost(Unheard):
    """Workers that die before they have done anything."""

    def __init__(self, orders, order):
        orders.append(order)

    def going(self):
        return False

    def stop(self): ...

    def words(self):
        return "look there"

    def trouble(self):
        return "first line\nkilled"


def test_cells_whose_workers_are_lost_are_handed_out_again_so_many_times(store, tallies):
    orders: list[Order] = []
    nobody = Engine("nobody", lambda order, after: Lost(orders, order), retries=2)
    with pytest.raises(SweepError, match=r"1 of 1 cells were lost .* The last words of a worker: killed"):
        hand_out([CELL], store, nobody, tallies.append)
    assert len(orders) == 3
    assert [path for path in store.root.iterdir() if not path.is_dir()] == [], "no order is left"


def test_cells_that_fail_are_named_and_not_handed_out_again(store, tallies, undisturbed):
    orders = []

    class Fails(Lost):
        def __init__(self, order):
            super().__init__(orders, order)
            failure.note(store.root / CELL.identity, ValueError("too hot"))

    compared = Cell(changed(TINY, task={"references": (1,)}), (0, 1, 2))
    with pytest.raises(SweepError, match=rf"1 of 3 cells failed; {CELL.identity}: ValueError: too hot"):
        hand_out(
            [CELL, compared], store, Engine("nobody", lambda order, after: Fails(order), retries=1), tallies.append
        )
    assert len(orders) == 2, "the reference was handed out again; what failed, and what waits for a lost one, was not"


def test_workers_that_outlive_us_are_left_alone(store, tallies):
    class Going(Lost):
        def going(self):
            return True

        def stop(self):
            pytest.fail("they go on")

        def wait(self, seconds):
            raise KeyboardInterrupt

    orders = []
    cluster = Engine("cluster", lambda order, after: Going(orders, order), outlives=True)
    with pytest.raises(Detached, match="look there"):
        hand_out([CELL], store, cluster, tallies.append)
    assert orders[0].path.exists(), "they may still have to read it"


def test_detached_everything_is_handed_out_at_once_what_is_compared_after_the_rest(store, tallies):
    compared = Cell(changed(TINY, task={"references": (1,)}), (0,))
    started, orders = [], []

    def start(order, after):
        started.append((Lost(orders, order), after))
        return started[-1][0]

    with pytest.raises(Detached, match="look there\nlook there"):
        hand_out([compared], store, Engine("cluster", start, outlives=True), tallies.append, detach=True)
    assert [after for _, after in started] == [None, started[0][0]]


def test_a_job_of_submitit_does_the_work(store, tmp_path, monkeypatch):
    """Its local executor stands in for Slurm: the same pickle, the same process, no queue."""
    submitit = pytest.importorskip("submitit", reason="needs the extra `slurm`")
    from headway.sweep.engines.slurm import Task

    monkeypatch.setenv("PYTHONPATH", str(Path(headway.__file__).parents[1]))
    store.root.mkdir()
    path = store.root / "order.json"
    path.write_text(encode(pack([HAND_MADE])))
    executor = submitit.LocalExecutor(folder=tmp_path / "jobs")
    job = executor.submit(Task(store.root, path), 0)
    assert job.result() == DONE
    alone = Store(tmp_path / "alone")
    run_cells([HAND_MADE], alone)
    found, wanted = (each.load(HAND_MADE).trajectory["excess_loss"] for each in (store, alone))
    assert found.tobytes() == wanted.tobytes()
