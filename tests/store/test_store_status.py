"""What a listing says, and what it costs."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import headway
from headway.settings import TrainingSettings
from headway.store import Store, arrays, status
from headway.store.record import read_named
from headway.tasks.chain import Chain
from headway.tasks.run import Settings


def test_every_state_is_told_apart(record, store, worker):
    settings = Settings(task=Chain(weighting="sum"), training=TrainingSettings(steps=300))
    unfinished, running = replace(worker.CELL, settings=settings), replace(worker.CELL, seeds=(7, 8, 9))
    with store.open(unfinished) as work:
        part, state = worker.advance(worker.start(), 8)
        work.resume()
        work.save(part, state, 8)
    (store.root / "figures").mkdir()
    (store.root / "notes.txt").touch()
    with store.open(running):
        states = {entry.identity: (entry.state, entry.summary) for entry in store.status()}
    assert states == {
        worker.CELL.identity: ("done", "3 seeds; default settings"),
        unfinished.identity: ("unfinished", "at 8; 3 seeds; task.weighting=sum, training.steps=300"),
        running.identity: ("running", "at 0; 3 seeds; default settings"),
        "figures": ("foreign", "not made by this store"),
    }


def test_of_very_many_some_are_read_and_the_others_glanced_at(store, worker, monkeypatch):
    cells = [replace(worker.CELL, settings=Settings(task=Chain(ratio=1 + k))) for k in range(5)]
    for cell in cells:
        with store.open(cell) as work:
            worker.compute(work)
    read = []
    monkeypatch.setattr(status, "read_named", lambda root, name: read.append(name) or read_named(root, name))
    entries = store.status(closely=2)
    assert read and sorted(read) == sorted(cell.identity for cell in cells)[:2]
    assert [entry.state for entry in entries] == ["done"] * 5
    wanted = {cell.identity: cell.describe() for cell in cells}
    assert {entry.identity: entry.description for entry in entries} == wanted


def _replace(copy, text, words, others):
    (copy / "record.json").write_text(text.replace(words, others))


def _put(copy, text, cell):
    (copy / "record.json").write_text(json.dumps({**json.loads(text), "cell": cell}))


def test_a_glance_notices_what_is_not_ours_not_whole_or_under_another_name(record, tmp_path):
    """And not what only its checksum tells, which whoever reads it will be told."""
    whole = record.path

    def glanced_at(spoil):
        elsewhere = tmp_path / "elsewhere" / whole.name
        shutil.copytree(whole, elsewhere)
        spoil(elsewhere, (elsewhere / "record.json").read_text())
        [entry] = Store(elsewhere.parent).status(closely=0)
        shutil.rmtree(elsewhere.parent)
        return entry.state

    assert glanced_at(lambda copy, text: None) == "done"
    assert glanced_at(lambda copy, text: (copy / "trajectory.safetensors").write_bytes(b"half")) == "damaged"
    assert glanced_at(lambda copy, text: (copy / "trajectory.safetensors").unlink()) == "damaged"
    assert glanced_at(lambda copy, text: (copy / "record.json").write_text(text[:-20])) == "damaged"
    assert glanced_at(lambda copy, text: (copy / "record.json").write_text("[]")) == "damaged"
    assert glanced_at(lambda copy, text: (copy / "record.json").write_text("{}")) == "foreign"
    assert glanced_at(lambda copy, text: (copy / "record.json").unlink()) == "foreign"
    other = f"markov-{'0' * 16}"
    for words, others in (('"version": 1', '"version": 2'), (record.identity, other)):
        assert glanced_at(partial(_replace, words=words, others=others)) == "foreign"
    for words, others in (('"ratio": 1.7', '"ratio": 1.8'), ('"ratio": 1.7', '"ratio": 1e999'), ('"cell"', '"sell"')):
        assert glanced_at(partial(_replace, words=words, others=others)) == "damaged"
    for cell in (5, None, ["x"], {}, {"kind": "markov"}, {"kind": "markov", "settings": 3}):
        assert glanced_at(partial(_put, cell=cell)) == "damaged"
    assert glanced_at(lambda copy, text: (shutil.rmtree(copy), copy.symlink_to(whole))) == "foreign"


def test_listing_reads_no_array_before_it_is_wanted(record, store, monkeypatch):
    def refuse(data):
        raise AssertionError("an array was read")

    monkeypatch.setattr(arrays, "decode", refuse)
    assert [entry.state for entry in store.status()] == ["done"]
    assert [found.cell.seeds for found in store.records()] == [(3, 1, 2)]


def test_a_folder_that_cannot_be_written_gives_a_remedy_and_what_is_in_it_can_be_read(record, store, worker, names):
    """Root may write everywhere, so the look is taken by a process that is not root."""
    program = f"""
import os, sys
from dataclasses import replace
from headway.store import Store, StoreError
import runpy
cell = runpy.run_path({str(Path(__file__).parent / "worker.py")!r})["CELL"]
os.chdir({str(store.root)!r})
if os.geteuid() == 0:
    os.setgid(65534), os.setuid(65534)
with Store(".").open(cell) as work:
    assert work.record.trajectory.seeds == cell.seeds
for root in (".", "deeper/down"):
    try:
        with Store(root).open(replace(cell, seeds=(9,))):
            pass
    except StoreError as error:
        sys.stdout.write(f"{{error}}\\n")
"""
    store.root.chmod(0o555)
    try:
        run = subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONPATH": str(Path(headway.__file__).parent.parent)},
            capture_output=True,
            text=True,
        )
    finally:
        store.root.chmod(0o755)
    first, second = run.stdout.splitlines()
    remedy = "failed: Permission denied. Choose another folder for the runs, or make this one writable."
    assert first.endswith(f"making the lock file {remedy}")
    assert second.endswith(f"making the folder for the runs {remedy}")
    assert names(store.root) == [worker.CELL.identity]
