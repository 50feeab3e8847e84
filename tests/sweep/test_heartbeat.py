"""A worker's sign of life, and what is made of its absence."""

import os
import time

import pytest
from tests.training.tiny import TINY

from headway.records import Cell
from headway.store import Busy, heartbeat
from headway.sweep.tally import Count, Tally

CELL, OTHER = Cell(TINY, (0,)), Cell(TINY, (1,))
HOUR = 3600


@pytest.fixture
def folder(store):
    return store.root / CELL.identity


@pytest.fixture
def quick(monkeypatch):
    """Beats come fast, and somebody is believed gone soon."""
    monkeypatch.setattr(heartbeat, "EVERY", 0.01)
    monkeypatch.setattr(heartbeat, "STALE", 0.2)


def left_behind(store, monkeypatch):
    """The heartbeat of a worker on another machine that nobody has removed."""
    with monkeypatch.context() as patch:
        patch.setattr(heartbeat, "machine", lambda: "elsewhere")
        with store.open(CELL):
            path = heartbeat.beat_of(store.root / CELL.identity)
            content = path.read_bytes()
    path.write_bytes(content)
    return path


def test_a_heart_beats_while_somebody_works_and_no_longer(store, folder, quick):
    with store.open(CELL):
        first = heartbeat.read(folder)
        assert first.pid == os.getpid() and first.here
        until = time.monotonic() + 30
        while heartbeat.read(folder).last == first.last and time.monotonic() < until:
            time.sleep(0.005)
        assert heartbeat.read(folder).last > first.last
    assert heartbeat.read(folder) is None


def test_a_worker_that_hangs_is_stale_to_who_looks_again_and_again(store, folder, monkeypatch):
    """Whatever the clocks say: its heartbeat may lie an hour ahead."""
    now = [0.0]
    monkeypatch.setattr(heartbeat.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(heartbeat, "EVERY", HOUR)  # it hangs: no beat comes between two looks
    pulse = heartbeat.Pulse()
    assert pulse.state(folder) is None
    with store.open(CELL):
        os.utime(heartbeat.beat_of(folder), (time.time() + HOUR,) * 2)
        assert pulse.state(folder) == "running"
        now[0] += heartbeat.STALE + 1
        assert pulse.state(folder) == "stale"
        os.utime(heartbeat.beat_of(folder), (time.time() - HOUR,) * 2)
        assert pulse.state(folder) == "running", "it has moved, even if back"
    assert pulse.state(folder) is None


def test_what_a_killed_worker_of_this_machine_left_is_nobody_s(store, folder):
    with store.open(CELL):
        content = heartbeat.beat_of(folder).read_bytes()
    heartbeat.beat_of(folder).write_bytes(content)
    assert heartbeat.Pulse().state(folder) is None
    with store.open(CELL, wait=False) as work:
        assert work.record is None


def test_a_fresh_heartbeat_of_another_machine_keeps_this_one_away_even_where_its_lock_does_not_reach(
    store, folder, monkeypatch
):
    path = left_behind(store, monkeypatch)
    assert heartbeat.Pulse().state(folder) == "running"
    with pytest.raises(Busy), store.open(CELL, wait=False):
        pass
    assert path.exists()


def test_an_old_heartbeat_of_another_machine_is_believed_only_after_it_missed_a_beat(store, monkeypatch, quick):
    """A clock that jumps makes every heartbeat look old until the next beat."""
    path = left_behind(store, monkeypatch)
    os.utime(path, (time.time() - HOUR,) * 2)
    with monkeypatch.context() as patch:
        patch.setattr(heartbeat.time, "sleep", lambda seconds: os.utime(path))
        with pytest.raises(Busy), store.open(CELL, wait=False):
            pass
    os.utime(path, (time.time() - HOUR,) * 2)
    with store.open(CELL, wait=False) as work:
        assert work.record is None


def test_a_heartbeat_that_cannot_be_read_stops_nobody(store, folder):
    store.root.mkdir()
    for content in (b"", b"{}", b"\xff" * 9999):
        heartbeat.beat_of(folder).write_bytes(content)
        with store.open(CELL, wait=False) as work:
            assert work.record is None


def test_a_tally_counts_every_cell_once(store, undisturbed):
    count = Count(store.root, [CELL, OTHER, undisturbed.cell, CELL])
    assert count.look() == Tally(0, 0, 0, 0, 3)
    with store.open(undisturbed.cell) as work:
        work.place(undisturbed.trajectory, {})
    with pytest.raises(ValueError), store.open(OTHER):
        raise ValueError("too hot")
    with store.open(CELL):
        assert count.look() == Tally(done=1, failed=1, running=1, stale=0, left=0)
        assert not count.look().over
    assert count.look() == Tally(done=1, failed=1, running=0, stale=0, left=1)
