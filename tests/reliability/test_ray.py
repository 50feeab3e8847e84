"""Whatever dies in a Ray cluster of two nodes, the sweep goes on, or does when it is given again: the same bits."""

import random
import signal
import tempfile
import time
from pathlib import Path

import pytest
from tests.reliability import faults
from tests.reliability.processes import kill, kill_workers, workers
from tests.reliability.ray_cluster import Ray
from tests.reliability.sweeping import Sweep
from tests.reliability.test_disks_of_commands import a_full_disk

OPTIONS = ("tasks=2",)


@pytest.fixture(scope="module")
def ray():
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        made = Ray(Path(folder))
        yield made
        made.close()


@pytest.fixture
def sweep(ray, tmp_path):
    made = Sweep(tmp_path / "runs", "ray", *OPTIONS, **ray.variables)
    yield made
    made.close()
    kill(workers(made.root))


def kill_a_worker(ray, sweep):
    kill_workers(sweep.root, 1)


def kill_the_daemon(ray, sweep):
    ray.kill_raylet()
    time.sleep(10)
    ray.kill_node()  # what is left of it
    ray.start_node()


def kill_a_node(ray, sweep):
    ray.kill_node()
    time.sleep(10)
    ray.start_node()


FAULTS = {
    "kill -9 of a worker": kill_a_worker,
    "kill -9 of a node's raylet, started again after 10 s": kill_the_daemon,
    "a node dies with everything on it, and comes back after 10 s": kill_a_node,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_ray_costs_nothing(fault, ray, sweep, swept, tell):
    sweep.wait_until_it_trains(random.Random(fault))
    assert sweep.process.poll() is None, sweep.log.read_text()
    FAULTS[fault](ray, sweep)
    assert sweep.end() == 0, sweep.log.read_text()
    assert sweep.outcome() == swept
    tell("Ray", fault, 1, "the sweep continued by itself and ended bit-identical")


def test_a_sweep_that_is_told_to_stop_saves_and_goes_on(ray, sweep, swept, tell):
    sweep.wait_until_it_trains(random.Random(17))
    assert workers(sweep.root)
    kill([sweep.process.pid], signal.SIGINT)
    sweep.end()
    assert not workers(sweep.root), "Ray's workers end with their driver"
    sweep.start()
    assert sweep.end() == 0, sweep.log.read_text()
    assert sweep.outcome() == swept
    tell("Ray", "SIGINT (Ctrl-C) to the command", 1, "the workers exited; repeated, it ended bit-identical")


def test_the_head_dies_and_the_command_is_given_again(ray, sweep, swept, tell):
    """Without its head a Ray cluster is gone, and so is everything that it ran."""
    sweep.wait_until_it_trains(random.Random(18))
    ray.kill_head()
    code = sweep.end()
    ray.close()
    kill(workers(sweep.root))
    ray.start()
    sweep.variables = ray.variables
    if code or len(sweep.outcome()) < len(swept):
        sweep.start()
        assert sweep.end() == 0, sweep.log.read_text()
    assert sweep.outcome() == swept
    tell("Ray", "kill -9 of the head with everything on it", 1, "the command ended with an error; repeated on a new "
         "cluster, it resumed and ended bit-identical")  # fmt: skip


def test_a_full_disk_reaches_the_user(ray, swept, tell):
    with faults.disk() as disk:
        a_full_disk(disk, "ray", (*OPTIONS, "retries=0"), swept, tell, "Ray", **ray.variables)
