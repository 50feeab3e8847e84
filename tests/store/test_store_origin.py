"""Where a number comes from, without saying on whose machine."""

import getpass
import json
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from headway.store import origin, provenance

git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def run_git(folder, *arguments):
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def test_provenance_names_versions_device_time_and_no_person_or_place():
    made = provenance("2 threads of a CPU", 12.34567)
    assert made["device"] == "2 threads of a CPU"
    assert made["seconds"] == 12.346
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made["created"])
    assert made["versions"]["python"] == sys.version.split()[0]
    assert made["versions"].keys() == {"python", "headway", "jax", "jaxlib", "numpy"}
    text = json.dumps(made, allow_nan=False)
    for secret in (str(Path.home()), str(Path.cwd()), str(Path(__file__).parent), socket.gethostname()):
        assert len(secret) < 3 or secret not in text
    assert f'"{getpass.getuser()}"' not in text


@git
def test_the_commit_is_that_of_the_source_and_changes_are_told(tmp_path, monkeypatch):
    monkeypatch.delenv(origin.COMMIT_VARIABLE, raising=False)
    run_git(tmp_path, "init")
    source = tmp_path / "package"
    source.mkdir()
    (source / "code.py").write_text("one = 1\n")
    assert origin.commit(source) == {"commit": None, "changed": None}, "an untracked copy belongs to no commit"
    run_git(tmp_path, "add", ".")
    run_git(tmp_path, "commit", "-m", "one")
    (tmp_path / "README").write_text("not the source")
    clean = origin.commit(source)
    assert re.fullmatch("[0-9a-f]{40,64}", clean["commit"])
    assert clean["changed"] is False
    (source / "code.py").write_text("one = 2\n")
    assert origin.commit(source) == {"commit": clean["commit"], "changed": True}


def test_a_copy_without_history_can_be_told_its_commit(tmp_path, monkeypatch):
    monkeypatch.setenv(origin.COMMIT_VARIABLE, "0123abc")
    assert origin.commit(tmp_path) == {"commit": "0123abc", "changed": None}
    monkeypatch.setenv(origin.COMMIT_VARIABLE, "/home/me")
    assert origin.commit(tmp_path) == {"commit": None, "changed": None}


def test_a_run_that_other_code_began_says_so(store, worker, monkeypatch):
    part, state = worker.advance(worker.start(), 8)
    with store.open(worker.CELL) as work:
        work.resume()
        work.save(part, state, 8)
    begun = origin.sources()
    later = {**begun, "commit": "f" * 40}
    monkeypatch.setattr("headway.store.work.sources", lambda: later)
    with store.open(worker.CELL) as work:
        worker.compute(work)
    assert store.load(worker.CELL).provenance["begun_with"] == begun


def test_a_run_of_one_version_says_nothing_more(record):
    assert "begun_with" not in record.provenance


def test_the_store_needs_no_accelerator():
    program = "import sys, headway.store, headway.export; sys.exit(bool({'jax', 'pyarrow'} & {*sys.modules}))"
    source = str(Path(origin.__file__).parent.parent.parent)
    assert subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": source}).returncode == 0
