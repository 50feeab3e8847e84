"""Two processes that want the same cell compute it once."""

import os
import select
import time
from dataclasses import replace

import pytest

from headway.store import Busy, Store, lock


def test_the_second_process_waits_and_then_finds_the_cell_done(launch, tmp_path, worker, names):
    first = launch(tmp_path, 0, "hold")
    assert first.stdout.readline() == "working\n"
    second = launch(tmp_path)
    assert second.stdout.readline() == "waiting\n"
    [entry] = Store(tmp_path).status()
    assert entry.state == "running"
    with (
        pytest.raises(Busy, match=r"another process is computing markov-\w+"),
        Store(tmp_path).open(worker.CELL, wait=False),
    ):
        pass
    assert "computed" in first.communicate("go on\n")[0]
    assert second.communicate()[0] == "done before\n"
    assert names(tmp_path) == [worker.CELL.identity]


def test_the_lock_of_a_killed_process_is_free_at_once(launch, tmp_path):
    first = launch(tmp_path, 0, "hold")
    assert first.stdout.readline() == "working\n"
    second = launch(tmp_path)
    assert second.stdout.readline() == "waiting\n"
    first.kill()
    assert "working\n" in second.communicate()[0]


def test_who_waited_for_a_lock_file_that_is_gone_queues_at_the_new_one(launch, tmp_path, worker):
    path = tmp_path / f"{worker.CELL.identity}.lock"
    held = os.open(path, os.O_RDWR | os.O_CREAT)
    lock.fcntl.flock(held, lock.fcntl.LOCK_EX)
    waiting = launch(tmp_path)
    assert waiting.stdout.readline() == "waiting\n"
    path.unlink()
    with Store(tmp_path).open(worker.CELL) as work:
        os.close(held)
        answered, _, _ = select.select([waiting.stdout], [], [], 0.3)
        assert not answered, "two processes work on the cell"
        worker.compute(work)
    assert waiting.communicate()[0] == "done before\n"


def test_of_many_processes_at_once_one_computes(launch, tmp_path):
    outputs = [process.communicate()[0] for process in [launch(tmp_path, 0.01) for _ in range(4)]]
    assert sum("computed" in output for output in outputs) == 1
    assert sum("done before" in output for output in outputs) == 3


def test_looking_at_the_status_makes_nobody_believe_the_cell_is_taken(store, worker, monkeypatch):
    """A look holds the lock for an instant; a process that does not want to wait looks again."""
    path = store.root / f"{worker.CELL.identity}.lock"
    store.root.mkdir()
    path.touch()
    looking = os.open(path, os.O_RDONLY)
    lock.fcntl.flock(looking, lock.fcntl.LOCK_SH)

    def sleep(seconds):
        if looking in open_files:
            os.close(open_files.pop())

    open_files = [looking]
    monkeypatch.setattr(time, "sleep", sleep)
    with store.open(worker.CELL, wait=False) as work:
        assert work.record is None


def test_two_cells_can_be_worked_on_at_once(store, worker):
    with (
        store.open(worker.CELL) as one,
        store.open(replace(worker.CELL, seeds=(9, 8, 7)), wait=False) as other,
    ):
        assert (one.record, other.record) == (None, None)
