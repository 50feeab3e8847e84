"""Several processes of this machine under one command: killed, interrupted, and left alone."""

import os
import signal
from pathlib import Path

import pytest
from tests.compiling import compiled
from tests.training.tiny import TINY, changed

from headway.records import Cell
from headway.store import failure, heartbeat
from headway.sweep.engines import mps, processes
from headway.sweep.engines.gpus import Gpu
from headway.sweep.engines.layout import Layout
from headway.sweep.handing_out import SweepError, hand_out
from headway.tasks.construction import ConstructionSettings

CELL = Cell(TINY, (0, 1, 2))
LONG = Cell(changed(TINY, training={"steps": 600_000}, evaluation={"points": 400}), (0,))
MIDDLE = Cell(changed(TINY, training={"steps": 60_000}, evaluation={"points": 400}), (0,))
OTHER = Cell(changed(TINY, training={"steps": 40_000}, evaluation={"points": 400}), (0,))
SHORT = Cell(ConstructionSettings(TINY.task, (0, 5), test_samples=8), (0,))


STAND_IN = """
import json, os, sys
print(json.dumps({"say": "ready"}), flush=True)
for line in sys.stdin:
    full = float(os.environ["XLA_PYTHON_CLIENT_MEM_FRACTION"]) < 0.9
    failed = ["XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory"] if full else []
    print(json.dumps({"say": "over", "do": json.loads(line)["do"], "busy": 0, "failed": failed}), flush=True)
"""


@pytest.fixture(autouse=True)
def compile_once(monkeypatch):
    """Workers find what was compiled before."""
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(compiled()))
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


@pytest.fixture
def said():
    return []


def children(root: Path) -> set[int]:
    """Processes that work for this folder."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"headway.sweep.worker" in words and os.fsencode(root) in words:
            found.add(int(path.parent.name))
    return found


def worker_of(root: Path, cell: Cell) -> int | None:
    """Who computes a cell."""
    beat = heartbeat.read(root / cell.identity)
    return None if beat is None else beat.pid


def trains(tally) -> bool:
    """Whether somebody has told of a step."""
    return any(each.step and each.state == "working" for each in tally.working)


def engine_of_two(retries):
    return processes.engine_of(Layout(2), retries)


def notes(said):
    return " ".join(note for tally in said for note in tally.notes)


@pytest.mark.parametrize("retries", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_worker_that_is_killed_is_reported_its_cell_fails_alone_and_the_others_go_on(store, said, retries):
    """With one retry it is killed a second time, when it runs alone; after that nobody tries again."""
    killed = []

    def tell(tally):
        said.append(tally)
        pid = worker_of(store.root, LONG)
        if trains(tally) and pid is not None and pid not in killed:
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    with pytest.raises(SweepError, match=rf"1 of 3 cells failed; {LONG.identity}: .*was killed \(signal 9"):
        hand_out([LONG, SHORT, CELL], store, engine_of_two(retries), tell)
    assert len(killed) == 1 + retries
    assert store.has(SHORT) and store.has(CELL)
    assert notes(said).count("it will be tried again, alone") == retries and "it is given up" in notes(said)
    assert failure.note_of(store.root / LONG.identity).exists()
    assert not children(store.root) and not (store.root / ".sweep").exists()


def test_an_interrupt_stops_all_of_them_and_what_was_finished_or_saved_stays(store, said):
    def tell(tally):
        said.append(tally)
        if trains(tally) and store.has(SHORT):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hand_out([LONG, SHORT], store, engine_of_two(2), tell)
    assert not children(store.root) and not (store.root / ".sweep").exists()
    with store.open(LONG, wait=False) as work:
        assert 0 < work.resume().position < 600_000
    assert all(each.state == "ended" for each in said[-1].working)


def test_workers_say_what_they_do_and_where_their_time_goes(store, said, undisturbed, bits):
    hand_out([CELL, SHORT, Cell(TINY, (1, 2))], store, engine_of_two(2), said.append)
    assert bits(store.load(CELL)) == bits(undisturbed)
    states = {each.state for tally in said for each in tally.working}
    assert {"starting", "working", "ended"} <= states
    last = said[-1].working
    assert sum(each.programs for each in last) == 3
    for each in last:
        assert each.spent["preparing"] > 0 and sum(each.spent.values()) <= each.seconds
    assert sum(each.spent["training"] for each in last) > 0
    left = [tally.ahead for tally in said]
    assert left[0] > left[-1] == 0 and sorted(left, reverse=True) == left, "by the plan, whatever is done"


@pytest.mark.slow
def test_under_mps_the_death_of_one_renews_the_service_and_everything_is_done(store, said, monkeypatch, tmp_path):
    """A made GPU, on which JAX has no code here, and a made service that notes what it is told."""
    notes_of = tmp_path / "told"
    (tmp_path / "bin").mkdir()
    control = tmp_path / "bin" / mps.CONTROL
    control.write_text(f'#!/bin/sh\nif [ "$1" = -d ]; then echo begin >> {notes_of}; else cat >> {notes_of}; fi\n')
    control.chmod(0o755)
    monkeypatch.setenv("PATH", f"{control.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(mps, "USUAL", tmp_path / "none")
    monkeypatch.setattr(mps, "LONGEST", 4096)
    killed = []

    def tell(tally):
        said.append(tally)
        pid = worker_of(store.root, MIDDLE)
        if not killed and trains(tally) and pid is not None:
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)

    layout = Layout(2, (Gpu("0", 1 << 40),), beside=1)
    hand_out([MIDDLE, OTHER, SHORT], store, processes.engine_of(layout), tell)
    assert killed and all(store.has(cell) for cell in (MIDDLE, OTHER, SHORT))
    assert "processes share the GPU through MPS" in notes(said) and "resume with a new MPS" in notes(said)
    assert notes_of.read_text().split() == ["begin", "quit"] * (notes_of.read_text().count("begin"))
    assert not children(store.root) and not (store.root / ".sweep").exists()


def test_a_program_that_did_not_fit_into_its_share_is_tried_again_with_all_of_it(store, said, monkeypatch, tmp_path):
    """A module in the place of the worker fails as XLA does, unless it has all of the memory."""
    (tmp_path / "stand_in.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr("headway.sweep.engines.launch.WORKER", "stand_in")
    layout = Layout(2, (Gpu("0", 1 << 40),))
    monkeypatch.setattr(mps, "start", lambda folder: (None, "by turns"))
    with pytest.raises(SweepError, match=r"2 of 2 cells were lost"):  # the stand-in computes nothing
        hand_out([CELL, MIDDLE], store, processes.engine_of(layout), said.append)
    assert notes(said).count("did not fit into its share of the device's memory; it will be tried again, alone") == 2
    assert sum(each.programs for each in said[-1].working) == 4, "each twice"


def test_a_worker_that_does_not_get_its_device_leaves_instead_of_using_another(store, monkeypatch, said):
    monkeypatch.setenv("JAX_PLATFORMS", "tpu,cpu")
    with pytest.raises(SweepError, match=r"1 of 1 cells were lost .*Unable to initialize backend 'tpu'"):
        hand_out([CELL], store, processes.engine_of(Layout(1)), said.append)


def test_workers_that_cannot_even_begin_are_not_started_for_ever(store, monkeypatch, said):
    monkeypatch.setattr("headway.sweep.engines.launch.WORKER", "headway.no_such_module")
    with pytest.raises(SweepError, match=r"2 of 2 cells were lost .* No module named headway.no_such_module"):
        hand_out([CELL, SHORT], store, engine_of_two(2), said.append)
