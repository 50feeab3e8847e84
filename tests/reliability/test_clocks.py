"""A clock that jumps, by hours or years, forwards or back, changes nothing."""

import random
import shutil
import time

import pytest
from tests.reliability.cells import leftovers, outcome
from tests.reliability.faults import Clock
from tests.reliability.freezer import warmed

from headway.store import files, heartbeat

JUMPS = ("+10y", "-20y", "+1h", "-1h", "+1d", "-1d", "+0")
TIMES = 40


def test_a_clock_that_jumps_during_a_run(start, expected, tmp_path, tell):
    chance, clock = random.Random(15), Clock(tmp_path / "clock")
    runner = warmed(start(**clock.variables), tmp_path / "warm")
    for number in range(TIMES):
        root, left = tmp_path / str(number), tmp_path / f"{number}-left"

        def leave(root=root, left=left):
            clock.jump(chance.choice(JUMPS))
            if root.exists():
                shutil.copytree(root, left)

        runner.begin(root)
        runner.frozen_at(chance.uniform(0, runner.seconds), leave)
        assert runner.end() == "done"
        clock.jump(chance.choice(JUMPS))
        assert runner.run(left) == "done", "what was left under one clock goes on under another"
        for folder in (root, left):
            assert outcome(folder) == expected
            assert leftovers(folder) == set()
            shutil.rmtree(folder)
    tell("here", "a clock that jumps by hours or years, during a run and before its resume", TIMES, "nothing changed")


def test_a_machine_that_dies_where_locks_do_not_reach_others(resident, expected, tmp_path, tell):
    """Its heartbeat stands still; after a minute of the file system's clock its cells are taken."""
    chance, runner, left = random.Random(22), resident, tmp_path / "left"

    def leave():
        shutil.rmtree(left, ignore_errors=True)
        if root.exists():
            shutil.copytree(root, left)

    for number in range(1000):
        root = tmp_path / str(number)
        runner.begin(root)
        runner.frozen_at(chance.uniform(0, runner.seconds), leave)
        assert runner.end() == "done"
        shutil.rmtree(root)
        beats = list(left.glob(f"*{heartbeat.SUFFIX}"))
        if beats and list(left.glob("*.partial/checkpoint.json")):
            break
    else:
        pytest.fail("no moment was met at which a heartbeat and a checkpoint lay there")
    for beat in beats:
        told = files.unseal(files.parse(beat.read_bytes()))
        beat.write_bytes(files.seal({**told, "host": "elsewhere", "machine": "another"}))
    began = time.monotonic()
    assert runner.run(left) == "done"
    assert time.monotonic() - began > heartbeat.STALE, "it was given time to show that it lives"
    assert outcome(left) == expected
    assert leftovers(left) == set()
    tell("here", "another machine dies, and locks do not reach it", 1, "after a minute without a heartbeat its cells "
         "were continued; bit-identical")  # fmt: skip
