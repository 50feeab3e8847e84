"""Whatever dies of a sweep in processes of its own, it ends, or goes on when it is given again, with the same bits."""

import random
import signal

import pytest
from tests.reliability.processes import kill, kill_workers, wait_until, workers
from tests.reliability.sweeping import Sweep


@pytest.fixture
def sweep(tmp_path):
    made = Sweep(tmp_path / "runs", "processes:2")
    yield made
    made.close()
    kill(workers(made.root))


def test_workers_are_killed(sweep, swept, tell):
    """First one, which is replaced, then all."""
    wait_until(lambda: list(sweep.root.glob("*.alive")), 60, "a cell is begun")
    first = workers(sweep.root)
    kill(first[:1])
    wait_until(lambda: set(workers(sweep.root)) - set(first), 60, "the killed one is replaced")
    kill_workers(sweep.root)
    assert sweep.end() == 0, sweep.log.read_text()
    assert sweep.outcome() == swept
    tell("processes", "kill -9 of a worker, then of all workers", 2, "the sweep continued by itself; bit-identical")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda each: each.name)
def test_the_command_is_ended_and_given_again(number, sweep, swept, tell):
    sweep.wait_until_it_trains(random.Random(20))
    assert workers(sweep.root)
    kill([sweep.process.pid], number)
    sweep.end()
    wait_until(lambda: not workers(sweep.root), 60, "the workers have left")
    sweep.start()
    assert sweep.end() == 0, sweep.log.read_text()
    assert sweep.outcome() == swept
    how = "kill -9" if number == signal.SIGKILL else number.name
    tell("processes", f"{how} of the command", 1, "the workers exited; repeated, it ended bit-identical")


def test_two_sweeps_over_the_same_cells_share_the_work(sweep, swept, tell):
    """The second is killed in the midst of it."""
    second = Sweep(sweep.root, "processes:2")
    try:
        sweep.wait_until_it_trains(random.Random(21))
        second.close()
        assert sweep.end() == 0, sweep.log.read_text()
    finally:
        second.close()
    assert sweep.outcome() == swept
    tell("processes", "two sweeps over the same cells, one of them killed", 1, "the other did the rest; bit-identical")
