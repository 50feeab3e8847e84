"""`headway list`: what can be run, what is on disk, and in which state."""

import re
import shutil
from pathlib import Path

import pytest

from headway.cli.list_command import _run
from headway.experiments import NAMES, find
from headway.records import Cell
from headway.store import Store

RESULTS = Path(__file__).parent.parent.parent / "results"
ROW = re.compile(r"^ *([a-z-]+)? +(quick|printed|as-run|paper) +(\d+)/(\d+) runs *(.*)$", re.MULTILINE)
ENTRY = re.compile(r"^  (done|unfinished|running|damaged|foreign) +(\S+)  (.*)$", re.MULTILINE)


def on_disk(said) -> dict[tuple[str, str], int]:
    """(experiment, grid) -> how many of its runs are there, of those that have some."""
    found, name = {}, ""
    for first, grid, done, *_ in ROW.findall(said.out):
        name = first or name
        found[name, grid] = int(done)
    return {key: count for key, count in found.items() if count}


MADE = {
    "stages": 1,
    "attention": 2,
    "ladder": 2,
    "construction": 1,
    "ablations": 1,
    "init-scale": 1,
    "hierarchy": 1,
    "reversed": 1,
    "weight-decay": 1,
    "two-layers": 1,
    "overlay": 1,
    "differences": 1,
}
"""Experiment -> how many runs of its quick grid the made records answer: the full and the minimal model serve many."""


@pytest.fixture
def records(made_records, tmp_path, monkeypatch) -> Path:
    shutil.copytree(made_records, tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def test_before_the_first_run_every_experiment_is_listed_and_nothing_is_there(headway, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = headway("list")
    assert (said.code, said.err) == (0, "")
    rows = ROW.findall(said.out)
    assert [name for name, *_ in rows if name] == list(NAMES)
    assert [grid for _, grid, *_ in rows] == [grid for name in NAMES for grid in find(name).grids]
    assert [int(all_of_them) for *_, all_of_them, _ in rows] == [
        len(runs) for name in NAMES for runs in find(name).grids.values()
    ]
    assert [words.strip() for *_, words in rows if words] == [find(name).title for name in NAMES]
    assert on_disk(said) == {}
    assert list(tmp_path.iterdir()) == []


def test_a_run_serves_every_experiment_that_needs_it(headway, records):
    assert on_disk(headway("list")) == {(name, "quick"): count for name, count in MADE.items()}


def test_the_same_run_is_the_same_to_a_listing_and_to_whoever_looks_for_an_answer():
    """A listing knows only what records say of themselves."""
    every = [settings for name in NAMES for runs in find(name).grids.values() for settings in runs.values()]
    cells = [Cell(settings, (seed,)) for seed, settings in enumerate(every)]
    told, asked = (
        [identify(cell) for cell in cells] for identify in (lambda cell: _run(cell.describe()), lambda cell: cell.run)
    )
    assert [told.index(each) for each in told] == [asked.index(each) for each in asked]
    assert len(set(told)) < len(told), "some serve several experiments"


def test_every_record_is_listed_by_the_name_that_export_takes(headway, records):
    said = headway("list")
    assert [(state, name) for state, name, _ in ENTRY.findall(said.out)] == [
        ("done", path.name) for path in sorted(records.iterdir())
    ]


def test_our_own_figures_are_no_foreign_folder(headway, records):
    (records / "figures").mkdir()
    (records / "diary").mkdir()
    listed = [(state, name) for state, name, _ in ENTRY.findall(headway("list").out)]
    assert ("foreign", "diary") in listed
    assert not any("figures" in name for _, name in listed)


def test_damaged_and_unfinished_work_is_listed_and_stops_nobody(headway, records):
    spoilt = min(records.glob("*/trajectory.safetensors"))
    spoilt.write_bytes(b"half")
    (settings,) = find("stages").grids["printed"].values()
    with Store(records).open(Cell(settings, (0,))) as work:
        work.resume()
        work.save(None, {}, 17)
    said = headway("list")
    assert said.code == 0
    states = {name: (state, words) for state, name, words in ENTRY.findall(said.out)}
    assert states[spoilt.parent.name][0] == "damaged"
    assert states[Cell(settings, (0,)).identity] == ("unfinished", states[Cell(settings, (0,)).identity][1])
    assert states[Cell(settings, (0,)).identity][1].startswith("at 17;")


def test_of_very_many_the_first_are_named_and_all_are_counted_for_their_experiments(headway, records, monkeypatch):
    monkeypatch.setattr("headway.cli.list_command.MOST_DONE", 1)
    names = sorted(path.name for path in records.iterdir())
    (records / names[-1] / "trajectory.safetensors").unlink()
    said = headway("list")
    assert [(state, name) for state, name, _ in ENTRY.findall(said.out)] == [("done", names[0]), ("damaged", names[-1])]
    assert f"  in all: {len(names) - 1} done, 1 damaged" in said.out
    assert (
        f"  {len(names) - 2} of them were only checked briefly; `headway list --all` reads and lists them." in said.out
    )
    everything = headway("list", "--all")
    assert [name for _, name, _ in ENTRY.findall(everything.out)] == names
    assert on_disk(said) == on_disk(everything) != {}


def test_a_folder_that_does_not_exist_is_told(headway):
    said = headway("list", "--from", "nowhere")
    assert said.code == 2
    assert said.err.startswith("headway: there is no folder nowhere.")


def test_a_folder_without_records_is_said_to_have_none(headway, tmp_path):
    (tmp_path / "figures").mkdir()
    said = headway("list", "--from", tmp_path)
    assert said.code == 0
    assert said.out.endswith(f"\n{tmp_path}: no records\n")


def test_the_committed_results_are_listed_whole(headway):
    said = headway("list", "--from", RESULTS, "--all")
    there = on_disk(said)
    assert {grid for _, grid in there} >= {"printed", "as-run", "paper"}
    for name in ("stages", "attention", "ladder", "init-scale", "dataset-size"):
        assert there[name, "as-run"] == len(find(name).grids["as-run"])
    entries = ENTRY.findall(said.out)
    assert {state for state, *_ in entries} == {"done"}
    assert {name for _, name, _ in entries} == {path.name for path in RESULTS.iterdir() if path.is_dir()}


def test_runs_and_results_are_looked_at_where_they_are(headway, records):
    (records.parent / "results").symlink_to(RESULTS)
    there = on_disk(headway("list"))
    # Some quick flows are those of a larger grid.
    assert {(name, "quick"): count for name, count in MADE.items()}.items() <= there.items()
    assert there["ladder", "as-run"] == 2
