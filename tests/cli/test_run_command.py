"""`headway run`: from nothing to verdicts, figures and a page; once; and on from where it was stopped."""

import re
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.cli.process import Shell
from tests.cli.test_settings_options import differing
from tests.report.embedded import embedded_text

from headway.experiments import find
from headway.records import Trajectory
from headway.store import Record, Store, load

SMALL = (
    *("--seeds", "2", "--task.vocab", "5", "--task.horizon", "4", "--training.steps", "12", "--training.batch", "8"),
    *("--training.samples", "20", "--training.test-samples", "16"),
    *("--evaluation.points", "6", "--evaluation.also", "--evaluation.snapshots", "4"),
)
RUN = ("run", "stages", *SMALL)
BEGINS = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
FIGURES = {
    f"{name}.{kind}" for name in ("overview", "figure-1", "excess-loss", "competition", "values") for kind in BEGINS
}


def page_of(folder: Path) -> Path:
    """The page of this run: with so many settings changed it is not the grid's own, and has a short name of its own."""
    (page,) = folder.glob("*.html")
    assert re.fullmatch(r"stages-quick-changed-[0-9a-f]{8}", page.stem)
    return page


@pytest.fixture(scope="module")
def shell(tmp_path_factory) -> Shell:
    return Shell(tmp_path_factory.mktemp("shell"))


@pytest.fixture(scope="module")
def first(shell) -> subprocess.CompletedProcess[str]:
    """`headway run stages` in an empty folder, undisturbed."""
    return shell.call(*RUN)


@pytest.fixture(scope="module")
def record(first, shell) -> Record:
    (path,) = shell.folder.glob("runs/markov-*")
    return load(path)


@pytest.fixture
def elsewhere(shell, first, tmp_path) -> Shell:
    """Another empty folder to call commands in."""
    return replace(shell, folder=tmp_path)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def bits(trajectory: Trajectory) -> dict[str, bytes]:
    """Every array, clock and fact to the last bit."""
    everything = {**trajectory.arrays, **trajectory.clocks, **trajectory.facts}
    return {name: np.ascontiguousarray(values).tobytes() for name, values in everything.items()}


def test_a_run_ends_with_a_verdict_on_every_claim_and_the_path_of_the_page(first, shell):
    assert first.returncode == 0, first.stderr
    verdict = r"^(A\d.*?)  .*\n +quick +(?:holds|partly|fails) +\d/2 "
    assert re.findall(verdict, first.stdout, re.MULTILINE) == ["A1 minimal", "A1 minimal, nearer", "A4 minimal"]
    assert re.search(r"^stages   minimal: [012] of 2 seeds entered stage 3 of 3", first.stdout, re.MULTILINE)
    assert f"page     {page_of(shell.folder / 'runs')}" in first.stdout


def test_a_run_shows_what_it_does_and_how_far_it_is(first):
    told = [line for line in first.stderr.splitlines() if line.startswith(("training", "step", "done"))]
    assert told[0].startswith("training minimal (2 seeds side by side) for 12 steps")
    rungs = r"rung that each seed approaches \(not yet its stage\): [123] [123]"
    assert re.fullmatch(rf"step 12/12, median loss \d\.\d{{3}}, {rungs}, 0:00 left", told[-2])
    assert re.fullmatch(r"done: minimal \(2 seeds side by side\), \d:\d\d", told[-1])


def test_a_run_writes_a_record_figures_and_a_page_and_nothing_outside_its_folder(first, shell, record):
    assert names(shell.folder) == {"runs"}
    runs = shell.folder / "runs"
    written = page_of(runs)
    assert names(runs) == {record.path.name, "figures", written.name}
    assert names(runs / "figures") == {".drawn.json", *(f"{written.stem}-{name}" for name in FIGURES)}
    for path in (runs / "figures").glob("[!.]*"):
        assert path.read_bytes().startswith(BEGINS[path.suffix[1:]])
    page = written.read_text()
    assert page.startswith("<!doctype html>")
    assert f"headway {' '.join(RUN)}" in embedded_text(page)


def test_the_record_is_the_quick_preset_with_the_options_and_nothing_else_changed(record):
    changed = differing(record.cell.settings, find("stages").grids["quick"]["minimal"])
    options = {word[2:].replace("-", "_") for word in SMALL if word.startswith("--")} - {"seeds"}
    assert changed == options
    assert record.cell.seeds == (0, 1)
    assert record.trajectory["train_loss"].shape == (2, 12)
    assert record.has_weights
    record.verify()


def test_the_same_command_again_trains_nothing_and_shows_the_same(first, shell, record):
    page, stamp = page_of(shell.folder / "runs"), record.path.stat().st_mtime_ns
    before = page.read_bytes()
    again = shell.call(*RUN)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout == first.stdout
    assert page.read_bytes() == before
    assert record.path.stat().st_mtime_ns == stamp


def test_a_run_without_a_page_tells_only_the_verdicts(headway, record, tmp_path):
    shutil.copytree(record.path, tmp_path / record.path.name)
    said = headway(*RUN, "--no-page", "--into", tmp_path)
    assert (said.code, said.err) == (0, "")
    assert "A1 minimal" in said.out and "page" not in said.out
    assert names(tmp_path) == {record.path.name}


def test_small_copies_are_kept_on_request_and_serve_where_the_record_is_not(headway, record, tmp_path):
    shutil.copytree(record.path, tmp_path / "runs" / record.path.name)
    kept = tmp_path / "kept"
    assert headway(*RUN, "--no-page", "--into", tmp_path / "runs", "--keep", kept).code == 0
    copy = Store(kept).load(record.cell)
    assert not copy.has_weights
    assert (copy.trajectory["excess_loss"] == record.trajectory["excess_loss"]).all()
    from_copy = headway(*RUN, "--no-page", "--into", tmp_path / "empty", "--keep", kept)
    assert (from_copy.code, from_copy.err) == (0, "")
    assert not (tmp_path / "empty").exists()


def test_a_damaged_record_in_the_place_of_a_run_is_told_and_left_as_it_is(headway, record, tmp_path):
    folder = tmp_path / record.path.name
    shutil.copytree(record.path, folder)
    (folder / "trajectory.safetensors").write_bytes(b"half")
    said = headway(*RUN, "--no-page", "--into", tmp_path)
    assert said.code == 2
    assert "is damaged: trajectory.safetensors has 4 bytes" in said.err
    assert (folder / "trajectory.safetensors").read_bytes() == b"half"


def test_a_folder_that_cannot_be_made_is_told(headway, tmp_path):
    (tmp_path / "file").write_text("")
    said = headway(*RUN, "--into", tmp_path / "file" / "runs")
    assert said.code == 2
    assert said.err.splitlines()[-1].startswith(f"headway: {tmp_path / 'file' / 'runs'}: making the folder")


def test_a_dry_run_says_what_would_be_done_and_does_nothing(headway, record, tmp_path):
    said = headway(*RUN, "--dry-run", "--into", tmp_path / "runs")
    assert (said.code, said.err) == (0, "")
    assert re.search(r"minimal +12 +1 +2 +1 +\d+ MiB +\d+:\d\d", said.out)
    assert "1 cell to compute in 1 program: about 0:" in said.out
    assert not (tmp_path / "runs").exists()
    shutil.copytree(record.path, tmp_path / "runs" / record.path.name)
    by_two = headway("run", "stages", "--seeds", "3", *SMALL[2:], "--dry-run", "--on", "processes:2", "--into", "runs")
    assert "1 cell to compute in 1 program by 2 processes: about 0:" in by_two.out
    again = headway(*RUN, "--dry-run", "--into", tmp_path / "runs")
    assert "Nothing to compute: 1 cell, on disk already. Nothing was started." in again.out
    assert names(tmp_path / "runs") == {record.path.name}


def test_a_frozen_part_that_the_model_does_not_have_is_told_before_anything_is_planned(headway, tmp_path):
    said = headway("run", "attention", "--training.frozen", "attn", "--dry-run", "--into", tmp_path / "runs")
    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("headway: training.frozen has attn, but the model has no such part. It has attention, ")
    assert names(tmp_path) == set()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--on", "mars"), "--on is 'mars', but it must be here, processes:N (as in processes:4), slurm, ray or auto."),
        (("--on", "processes:2", "--engine", "partition=gpu"), "processes has no option 'partition'."),
        (("--engine", "partition=gpu"), "Choose them too, such as --on slurm."),
        (("--on", "processes:2", "--detach"), "the jobs of processes end with this command."),
        (("--on", "slurm", "--cluster", "nothing.toml"), "--cluster is nothing.toml, which cannot be read"),
    ],
)
def test_an_engine_that_cannot_be_used_is_told_before_anything_starts(headway, tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    said = headway(*RUN, *options)
    assert said.code == 2
    assert words in said.err
    assert names(tmp_path) == set()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "kill"])
def test_an_interrupted_run_goes_on_and_ends_with_the_same_bits(elsewhere, record, headway, how):
    process = elsewhere.stop_at(7, *RUN, "--no-page")
    process.send_signal(how)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.endswith("\nInterrupted. The same command resumes from what was saved.\n")
    assert "Traceback" not in err
    runs = elsewhere.folder / "runs"
    assert names(runs) == {f"{record.identity}.partial"}
    assert re.search(rf"unfinished +{record.identity}  at 7;", headway("list", "--from", runs).out)

    resumed = elsewhere.call(*RUN, "--no-page")
    assert resumed.returncode == 0, resumed.stderr
    assert "resuming at step 7 of 12" in resumed.stderr
    assert names(runs) == {record.identity}
    again = load(runs / record.identity)
    assert bits(again.trajectory) == bits(record.trajectory)
    weights, wanted = again.weights(), record.weights()
    assert {name: values.tobytes() for name, values in weights.items()} == {
        name: values.tobytes() for name, values in wanted.items()
    }
