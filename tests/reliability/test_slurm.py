"""Whatever dies in a Slurm of two nodes, the sweep ends, with the same bits."""

import random
import time

import pytest
from tests.reliability import faults
from tests.reliability.processes import kill, kill_workers, wait_until, workers
from tests.reliability.slurm import Slurm
from tests.reliability.sweeping import Sweep
from tests.reliability.test_disks_of_commands import a_full_disk

OPTIONS = ("jobs=2", "time=60", "grace=30")


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    made = Slurm(tmp_path_factory.mktemp("slurm"))
    yield made
    made.close()


@pytest.fixture
def sweep(slurm, cache, tmp_path):
    slurm.wait_for_nodes()
    made = Sweep(tmp_path / "runs", "slurm", *OPTIONS, **slurm.variables)
    yield made
    made.close()
    slurm.call("scancel", "--user=root")
    kill(workers(made.root))
    wait_until(lambda: not slurm.jobs(), 90, "an empty queue")


def kill_a_worker(slurm, sweep):
    kill_workers(sweep.root, 1)


def kill_every_worker(slurm, sweep):
    kill_workers(sweep.root)


def kill_a_daemon(slurm, sweep):
    slurm.kill_daemon("first")


def kill_a_node(slurm, sweep):
    slurm.kill_node("first")
    time.sleep(25)
    slurm.start_node("first")


def kill_the_head(slurm, sweep):
    slurm.kill_controller()
    time.sleep(15)
    slurm.start_controller()


def requeue(slurm, sweep):
    for job in slurm.jobs():
        slurm.call("scontrol", "requeue", job)


FAULTS = {
    "kill -9 of a worker": kill_a_worker,
    "kill -9 of all workers": kill_every_worker,
    "kill -9 of a node's slurmd, which comes back": kill_a_daemon,
    "a node dies with everything on it, and comes back after 25 s": kill_a_node,
    "kill -9 of slurmctld, started again after 15 s": kill_the_head,
    "`scontrol requeue` of all jobs": requeue,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_slurm_costs_nothing(fault, slurm, sweep, swept, tell):
    sweep.wait_until_it_trains(random.Random(fault))
    assert sweep.process.poll() is None, sweep.log.read_text()
    FAULTS[fault](slurm, sweep)
    assert sweep.end() == 0, sweep.log.read_text()
    assert sweep.outcome() == swept
    tell("Slurm", fault, 1, "the sweep continued by itself and ended bit-identical")


def test_a_job_that_is_told_to_stop_saves_goes_back_to_the_queue_and_goes_on(slurm, sweep, swept, tell):
    """What Slurm sends before a time limit or a preemption."""
    sweep.wait_until_it_saved()
    before = sweep.positions()
    assert workers(sweep.root)
    for job in slurm.jobs():
        slurm.call("scancel", "--signal=USR2", "--batch", job)
        slurm.call("scancel", "--signal=USR2", job)
    wait_until(lambda: not workers(sweep.root), 60, "the workers have left")
    after = sweep.positions()
    assert before and all(after.get(name, 0) >= position for name, position in before.items()), "it saved first"
    assert sweep.end() == 0, sweep.log.read_text()
    assert sweep.outcome() == swept
    said = "".join(path.read_text() for path in sweep.root.glob(".sweep/slurm/*.err"))
    assert "asked to stop; what was measured is saved" in said and "resuming at step" in said
    tell("Slurm", "the signal before a time limit or a preemption", 1, "saved, resumed from there, ended bit-identical")


def test_the_command_that_submitted_is_killed_and_given_again(slurm, sweep, swept, tell):
    sweep.wait_until_it_trains(random.Random(16))
    sweep.close()
    sweep.start()
    assert sweep.end() == 0, sweep.log.read_text()
    assert sweep.outcome() == swept
    tell("Slurm", "kill -9 of the command that submitted the jobs", 1, "repeated, it ended bit-identical")


def test_a_full_disk_reaches_the_user(swept, tell, tmp_path):
    """Nodes see what was mounted before they started: this Slurm is another one."""
    with faults.disk() as disk:
        slurm = Slurm(tmp_path)
        try:
            slurm.wait_for_nodes()
            a_full_disk(disk, "slurm", (*OPTIONS, "retries=0"), swept, tell, "Slurm", **slurm.variables)
        finally:
            slurm.close()
