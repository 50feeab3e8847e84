"""kill -9 at a thousand random moments, each followed by resume, changes no bit."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

from tests.reliability.cells import leftovers, outcome
from tests.reliability.freezer import tear, warmed
from tests.reliability.places import CHECKOUT, environment

KILL_POINTS = int(os.environ.get("HEADWAY_KILL_POINTS", "1000"))
STORE_KILLS = KILL_POINTS // 5
PROCESS_KILLS = max(KILL_POINTS // 40, 2)


def test_a_thousand_moments_at_which_a_run_could_have_died(start, resident, expected, tmp_path, tell):
    """Each run goes on from the moment at which another was stopped, and is stopped itself for the next one.

    Two processes take turns, so that what goes on was never in the memory of what was stopped.
    """
    chance = random.Random(8)
    others = [resident, warmed(start(), tmp_path / "warm")]
    root, depth, points, torn, deepest = tmp_path / "0", 0, 0, 0, 0
    beginnings: set[str] = set()
    for number in range(1, 20 * KILL_POINTS):
        runner, left = others[number % 2], tmp_path / str(number)
        runner.begin(root)
        runner.frozen_at(
            chance.uniform(0, runner.seconds),
            lambda left=left, root=root: shutil.copytree(root, left) if root.exists() else left.mkdir(),
        )
        assert runner.end() == "done"
        assert outcome(root) == expected
        assert leftovers(root) == set(), "something was left behind"
        points += depth > 0
        deepest = max(deepest, depth)
        shutil.rmtree(root)
        if points >= KILL_POINTS:
            break
        if leftovers(left):  # somebody was at work
            beginnings.add(_state(left))
            torn += chance.random() < 0.5 and tear(left, chance)
            root, depth = left, depth + 1
        else:
            shutil.rmtree(left)
            root, depth = tmp_path / f"{number}-anew", 0
    assert points >= KILL_POINTS
    tell(
        "here",
        "kill -9 of a training: its disk as it was at a random moment (SIGSTOP, copy), resumed by another process",
        points,
        f"{len(beginnings)} different sets of files on the disk, up to {deepest} deaths in a row, "
        f"{torn} with a torn file; every one resumed and ended bit-identical",
    )


def _state(root):
    """Which files there are; plans of sweeps have random names and do not count."""
    found = (path.relative_to(root) for path in root.rglob("*") if not path.name.startswith("sweep-"))
    return " ".join(sorted(map(str, found)))


def test_true_kills_of_the_store(tmp_path, tell):
    """The store's own chaotic run needs no JAX: a real process, a real SIGKILL, again and again."""
    from tests.store import worker

    from headway.store import Store

    chance = random.Random(9)
    program = [sys.executable, str(CHECKOUT / "tests/store/worker.py")]
    whole = Store(tmp_path / "whole")
    with whole.open(worker.CELL) as work:
        worker.compute(work)
    kills = ended = 0
    root = tmp_path / "0"
    while kills < STORE_KILLS:
        process = subprocess.Popen([*program, str(root), "0.004"], stdout=subprocess.PIPE, env=environment())
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.06))
        kills += process.poll() is None
        process.kill()
        process.communicate()
        if process.returncode == 0:
            ended += 1
            _require_same(Store(root), whole, worker.CELL)
            root = tmp_path / str(ended)
    subprocess.run([*program, str(root)], check=True, capture_output=True, env=environment())
    _require_same(Store(root), whole, worker.CELL)
    tell(
        "here",
        "kill -9 of a process that writes a store",
        kills,
        f"{ended + 1} runs had these kills between them; every run finished, bit-identical",
    )


def _require_same(store, whole, cell):
    from tests.reliability.cells import bits

    assert bits(store.load(cell)) == bits(whole.load(cell))
    assert leftovers(store.root, (cell,)) <= {f"{cell.identity}.lock"}


def test_true_kills_of_a_training(cache, expected, tmp_path, tell):
    """Python, JAX and all: SIGKILL at a random moment after the process began to train, then SIGKILL to the next."""
    chance = random.Random(10)
    kept = {
        "JAX_COMPILATION_CACHE_DIR": str(cache),
        "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    }
    command = [sys.executable, "-m", "tests.reliability.once"]
    kills = ended = 0
    root = tmp_path / "0"
    while kills < PROCESS_KILLS:
        process = subprocess.Popen([*command, str(root)], stdout=subprocess.PIPE, env=environment(**kept))
        process.stdout.readline()
        time.sleep(chance.uniform(0, 0.4))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        kills += process.returncode == -signal.SIGKILL
        if process.returncode == 0:
            ended += 1
            assert outcome(root) == expected
            root = tmp_path / str(ended)
    subprocess.run([*command, str(root)], check=True, capture_output=True, env=environment(**kept))
    assert outcome(root) == expected
    assert leftovers(root) == set()
    tell(
        "here",
        "kill -9 of a process that trains",
        kills,
        f"{ended + 1} runs had these kills between them; every run finished, bit-identical",
    )
