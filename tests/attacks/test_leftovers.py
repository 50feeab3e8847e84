"""What killed processes left goes with the next command of any kind; what somebody may still need stays."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from tests.attacks.shell import ROOT, TINY, environment

from headway.store import Store, heartbeat
from headway.store.tidying import tidy

# Dies by kill -9 right after the record has its name.
KILLED = """
import os, signal, sys, types
from headway.store import work
def die(*told, **more):
    os.kill(os.getpid(), signal.SIGKILL)
work.shutil = types.SimpleNamespace(rmtree=die)
from headway.cli import main
main()
"""
# Holds the lock of a cell until it is told to stop.
HOLDING = """
import sys
from pathlib import Path
from headway.store import heartbeat
from headway.store.lock import locked
folder = Path(sys.argv[1])
with locked(Path(f"{folder}.lock"), wait=False, on_wait=None), heartbeat.beating(folder):
    print("held", flush=True)
    sys.stdin.read()
"""
OLD = time.time() - 1000
DEAD = (
    "sweep-0123456789abcdef.plan",
    "sweep-0123456789abcdef.plan.tmp",
    ".stages-quick.html.0123456789abcdef.tmp",
    "figures/.stages-quick-overview.png.0123456789abcdef.tmp",
    ".now-0123456789abcdef",
    ".room-0123456789abcdef.tmp",
    "markov-0123456789abcdef.alive",
    "markov-0123456789abcdef.lock",
    "markov-0123456789abcdef.failed.json.tmp",
)
KEPT = ("markov-0123456789abcdef.failed.json", "notes.tmp", ".mine.tmp", "figures/mine.png", ".sweep/0123.json")


def beside(runs):
    return {path.name for path in runs.iterdir() if path.name.startswith(("markov-", "sweep-"))}


@pytest.mark.parametrize(
    "command",
    [
        "list",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("claims", "report --no-page --grid quick")),
        "run",
    ],
)
def test_after_a_kill_behind_the_final_rename_the_next_command_tidies(headway, tmp_path, command):
    killed = headway(*TINY, program=KILLED)
    assert killed.returncode == -signal.SIGKILL
    runs = tmp_path / "runs"
    [record] = Store(runs).records()
    kinds = {name.removeprefix(record.identity) for name in beside(runs)}
    assert {"", ".partial", ".lock", ".alive"} <= kinds and any(name.endswith(".plan") for name in kinds)
    ended = headway(*(TINY if command == "run" else command.split()))
    assert ended.returncode in (0, 2), ended.stderr
    assert "Traceback" not in ended.stderr
    assert beside(runs) == {record.identity}


def test_what_is_dead_goes_and_what_somebody_may_need_stays(tmp_path):
    for name in (*DEAD, *KEPT):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("left")
        os.utime(tmp_path / name, (OLD, OLD))
    (tmp_path / "markov-0123456789abcdef.partial").mkdir()
    tidy(tmp_path)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == set(KEPT)
    assert (tmp_path / "markov-0123456789abcdef.partial").is_dir(), "unfinished work is gone on with"


def test_what_a_living_process_holds_or_has_just_begun_stays(tmp_path, home):
    folder = tmp_path / "markov-0123456789abcdef"
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, folder], env=environment(home, PYTHONPATH=str(ROOT / "src")),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout.readline() == "held\n"
        (tmp_path / ".page.html.0123456789abcdef.tmp").write_text("just begun")
        before = {path.name for path in tmp_path.iterdir()}
        tidy(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == before
    finally:
        process.communicate()
    assert not heartbeat.beat_of(folder).exists()


def test_the_heartbeat_of_another_machine_stays_while_its_cell_is_not_done(tmp_path, monkeypatch):
    folder = tmp_path / "markov-0123456789abcdef"
    monkeypatch.setattr(heartbeat, "machine", lambda: "another")
    with heartbeat.beating(folder):
        shutil.copy(heartbeat.beat_of(folder), tmp_path / "kept")
    monkeypatch.undo()
    (tmp_path / "kept").rename(heartbeat.beat_of(folder))
    tidy(tmp_path)
    assert heartbeat.beat_of(folder).exists()


def test_a_page_is_forced_to_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    from headway.report.page import Report, write_page

    done = []
    fsync, replace = os.fsync, type(tmp_path).replace
    monkeypatch.setattr(os, "fsync", lambda descriptor: done.append("sync") or fsync(descriptor))
    monkeypatch.setattr(type(tmp_path), "replace", lambda self, to: done.append("name") or replace(self, to))
    write_page(tmp_path / "page.html", Report("title", "introduction"))
    assert done[:2] == ["sync", "name"]
