"""Whole or not at all, whatever happens to the process and wherever it happens."""

import errno
import os
import random
import stat
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headway.store import Store, StoreError

WRITES = ("fsync", "replace", "rename", "mkdir", "unlink", "rmdir")


class Crash(BaseException):
    """The end of the process: nothing after it reaches the disk."""


@pytest.fixture
def die_at():
    """Let the process die at its k-th change of the disk, before or after that change is made."""

    def arm(patch, k, after):
        count = 0

        def wrap(real, name):
            def call(*arguments, **options):
                nonlocal count
                count += 1
                if count < k:
                    return real(*arguments, **options)
                if count == k and name == "fsync" and stat.S_ISREG(os.fstat(arguments[0]).st_mode):
                    os.ftruncate(arguments[0], os.fstat(arguments[0]).st_size // 2)
                elif count == k and after:
                    real(*arguments, **options)
                raise Crash

            return call

        for name in WRITES:
            patch.setattr(os, name, wrap(getattr(os, name), name))

    return arm


@pytest.mark.parametrize("after", [False, True], ids=["before-the-change", "after-the-change"])
def test_a_death_at_any_change_of_the_disk_leaves_a_cell_that_is_absent_and_goes_on_or_is_whole(
    after, die_at, monkeypatch, tmp_path, worker, expected, same, names
):
    deaths, saved_at_death = 0, set()
    for k in range(1, 1000):
        store, saved = Store(tmp_path / str(k)), [0]
        with monkeypatch.context() as patch:
            die_at(patch, k, after)
            try:
                with store.open(worker.CELL) as work:
                    worker.compute(work, saved.append)
            except Crash:
                deaths += 1
        if store.has(worker.CELL):
            assert same(store.load(worker.CELL).trajectory, expected)
        with store.open(worker.CELL) as work:
            if work.record is None:
                resumed = work.resume()
                assert resumed.warning is None
                assert saved[-1] <= resumed.position <= saved[-1] + worker.EVERY
                worker.compute(work)
        assert same(store.load(worker.CELL).trajectory, expected)
        assert names(store.root) == [worker.CELL.identity], "something was left behind"
        saved_at_death.add(saved[-1])
        if deaths < k:
            break
    assert deaths > 30
    assert saved_at_death == set(range(0, worker.STEPS + 1, worker.EVERY))


def test_tidying_takes_away_what_a_death_left_beside_a_record_and_nothing_of_unfinished_work(
    die_at, monkeypatch, tmp_path, worker, names
):
    """Nobody opens a cell again that is done: a sweep clears up behind all of them before it starts."""
    cleared, kept = 0, 0
    for k in range(1, 1000):
        store = Store(tmp_path / str(k))
        with monkeypatch.context() as patch:
            die_at(patch, k, after=True)
            try:
                with store.open(worker.CELL) as work:
                    worker.compute(work)
                break
            except Crash:
                left = names(store.root)
        store.tidy()
        if store.has(worker.CELL):
            cleared += left != [worker.CELL.identity]
            assert names(store.root) == [worker.CELL.identity]
        else:
            kept += 1
            assert names(store.root) == [name for name in left if name.endswith(".partial")]
    assert cleared > 1
    assert kept > 15


def test_kill_9_at_random_moments_changes_no_bit(launch, tmp_path, worker, expected, same, names):
    moments, positions = random.Random(0), []
    store = Store(tmp_path)
    for _ in range(10):
        process = launch(tmp_path, 0.02)
        line = process.stdout.readline()
        if "done" in line:
            break
        time.sleep(moments.uniform(0, 0.04))
        process.kill()
        positions += [int(line.split()[1]) for line in process.communicate()[0].splitlines() if "saved" in line]
    with store.open(worker.CELL) as work:
        if work.record is None:
            assert work.resume().position >= max(positions, default=0)
            worker.compute(work)
    assert same(store.load(worker.CELL).trajectory, expected)
    assert names(tmp_path) == [worker.CELL.identity]


def test_a_full_disk_says_so_and_costs_only_what_was_not_saved(monkeypatch, tmp_path, worker, expected, same):
    def fill_up(after):
        left = after

        def fsync(descriptor):
            nonlocal left
            left -= 1
            if left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "fsync", fsync)

    failures = 0
    for k in range(1000):
        store, saved = Store(tmp_path / str(k)), [0]
        fill_up(after=k)
        try:
            with store.open(worker.CELL) as work:
                worker.compute(work, saved.append)
            break
        except StoreError as error:
            failures += 1
            assert "failed: No space left on device. Free some space and start again" in str(error)
            assert worker.CELL.identity in str(error)
            assert list(store.root.rglob("*.tmp")) == [], "a full disk needs the room of half a file"
        fill_up(after=1000)
        with store.open(worker.CELL) as work:
            if work.record is None:
                assert work.resume().position >= saved[-1]
                worker.compute(work)
        assert same(store.load(worker.CELL).trajectory, expected)
    assert failures > 15


def test_nothing_takes_its_name_before_its_bytes_are_on_the_disk(monkeypatch, store, worker):
    """After a power cut a name may survive without its bytes, unless they were forced out before."""
    events, real = [], {"replace": os.replace, "rename": os.rename}

    def note(kind):
        def call(source, target):
            events.append((kind, Path(source).stat().st_ino, Path(target)))
            real[kind](source, target)

        return call

    monkeypatch.setattr(os, "fsync", lambda descriptor: events.append(("force", os.fstat(descriptor).st_ino, None)))
    monkeypatch.setattr(os, "replace", note("replace"))
    monkeypatch.setattr(os, "rename", note("rename"))
    with store.open(worker.CELL) as work:
        folder = (store.root / f"{worker.CELL.identity}.partial").stat().st_ino
        worker.compute(work)

    forced: set[int] = set()
    unsettled: set[str] = set()
    checked = 0
    for kind, inode, target in events:
        if kind == "force":
            forced.add(inode)
            unsettled = set() if inode == folder else unsettled
            continue
        assert inode in forced, f"{target} took its name too early"
        if target.name == "checkpoint.json":
            assert not unsettled, "the checkpoint names files whose own names are not on the disk"
            checked += 1
        unsettled.add(target.name)
    assert checked == worker.STEPS // worker.EVERY
    assert [kind for kind, *_ in events[-2:]] == ["rename", "force"]
    assert events[-1][1] == store.root.stat().st_ino


def test_a_save_that_failed_can_be_tried_again(monkeypatch, store, worker, expected, same):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with store.open(worker.CELL) as work:
        part, state = worker.advance(worker.start(), worker.EVERY)
        work.resume()
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(StoreError, match="saving a checkpoint failed"):
                work.save(part, state, worker.EVERY)
        work.save(part, state, worker.EVERY)
        assert same(worker.compute(work), expected)


def test_work_that_saved_nothing_leaves_nothing(store, worker, names):
    with pytest.raises(KeyboardInterrupt), store.open(worker.CELL) as work:
        work.resume()
        raise KeyboardInterrupt
    assert names(store.root) == []


def test_a_part_that_does_not_follow_the_last_one_is_refused_when_it_is_saved(store, worker):
    part, state = worker.advance(worker.start(), worker.EVERY)
    with store.open(worker.CELL) as work:
        work.resume()
        work.save(part, state, worker.EVERY)
        with pytest.raises(ValueError, match="the clock 'step' had reached 8 and the next part starts at 1"):
            work.save(part, state, 2 * worker.EVERY)
    with store.open(worker.CELL) as work:
        work.resume()
        with pytest.raises(ValueError, match="the clock 'step' had reached 8"):
            work.save(part, state, 2 * worker.EVERY)


def test_a_part_of_another_shape_is_refused_when_it_is_saved_and_not_after_hours(store, worker):
    first, state = worker.advance(worker.start(), worker.EVERY)
    second, _ = worker.advance(state, worker.EVERY)
    double = {**second.arrays, "train_loss": second["train_loss"].astype(np.float64)}
    with store.open(worker.CELL) as work:
        work.resume()
        work.save(first, state, worker.EVERY)
        with pytest.raises(ValueError, match="the arrays of a run changed between two parts"):
            work.save(replace(second, arrays=double), state, 2 * worker.EVERY)


def test_what_a_dead_process_left_between_two_checkpoints_is_swept(store, worker, names):
    part, state = worker.advance(worker.start(), worker.EVERY)
    with store.open(worker.CELL) as work:
        work.resume()
        work.save(part, state, worker.EVERY)
    partial = store.root / f"{worker.CELL.identity}.partial"
    before = names(partial)
    for stray in ("part-000002.safetensors", "state-000002.safetensors.tmp", "record/record.json"):
        (partial / stray).parent.mkdir(exist_ok=True)
        (partial / stray).write_bytes(b"half")
    with store.open(worker.CELL) as work:
        assert work.resume().position == worker.EVERY
        assert names(partial) == before


def test_work_on_a_cell_ends_with_its_context(store, worker):
    with store.open(worker.CELL) as work:
        with pytest.raises(RuntimeError, match=r"call resume\(\) first"):
            work.save(None, {}, 1)
        work.resume()
    with pytest.raises(RuntimeError, match="this work was closed"):
        work.save(None, {"x": np.zeros(1)}, 1)
