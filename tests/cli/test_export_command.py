"""`headway export`: the numbers of a record as a table."""

import csv
from pathlib import Path

import pytest

from headway.experiments import find
from headway.records import Cell
from headway.store import Store, load

RESULTS = Path(__file__).parent.parent.parent / "results"
RECORD = min(RESULTS.glob("markov-*/trajectory.safetensors"), key=lambda path: (path.stat().st_size, path)).parent
"""The smallest of a training."""


def test_a_committed_record_becomes_a_table_with_a_row_for_each_number(headway, tmp_path):
    said = headway("export", RECORD, tmp_path / "curves.csv", "--only", "excess_loss", "kl_rungs")
    assert (said.code, said.out) == (0, f"{tmp_path / 'curves.csv'}\n")
    with (tmp_path / "curves.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    trajectory = load(RECORD).trajectory
    assert len(rows) == trajectory["excess_loss"].size + trajectory["kl_rungs"].size
    assert float(rows[0]["value"]) == pytest.approx(trajectory["excess_loss"][0, 0])
    assert list(rows[0]) == ["seed", "clock", "time", "quantity", "rung", "value"]


def test_the_same_record_becomes_the_same_table(headway, tmp_path):
    tables = [tmp_path / name for name in ("first.csv", "second.csv", "third.csv")]
    for table in tables:
        assert headway("export", RECORD, table).code == 0
    assert len({table.read_bytes() for table in tables}) == 1


def test_a_table_is_replaced_only_when_that_is_asked_for(headway, tmp_path):
    table = tmp_path / "curves.csv"
    table.write_text("mine")
    refused = headway("export", RECORD, table, "--only", "entropy")
    assert refused.code == 2
    assert f"{table} exists." in refused.err
    assert table.read_text() == "mine"
    assert headway("export", RECORD, table, "--only", "entropy", "--overwrite").code == 0
    assert table.read_text().startswith("seed,clock,time,quantity,value\n")


@pytest.mark.parametrize(
    "record, table, words",
    [
        ("nowhere", "x.csv", "nowhere: there is no such folder. Check the name; `headway list` shows what is stored."),
        (RESULTS, "x.csv", f"{RESULTS}: this is a folder of records. Name one of those in it."),
        (
            RESULTS.parent / "docs",
            "x.csv",
            "not a Headway record: it has no record.json. Give the folder of one record",
        ),
        (RESULTS.parent / "run", "x.csv", "run: not a Headway record: it has no record.json. Give the folder of one"),
        (RECORD, "x.txt", "x.txt ends in '.txt', but a table ends in .csv or .parquet."),
        (RECORD, "nowhere/x.csv", "nowhere is not a folder. Make it first, or choose another place."),
    ],
)
def test_what_cannot_be_exported_is_told_in_words(headway, tmp_path, monkeypatch, record, table, words):
    monkeypatch.chdir(tmp_path)
    said = headway("export", record, table)
    assert said.code == 2
    assert said.err.startswith("headway: ") and words in said.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_way_of_a_cell_is_to_be_moved(headway, tmp_path):
    folder = tmp_path / "markov-0123456789abcdef"
    folder.mkdir()
    said = headway("export", folder, tmp_path / "x.csv")
    assert said.code == 2
    assert "it has no record.json. Nothing was changed. Move the folder away" in said.err


def test_a_quantity_that_is_not_there_is_told_with_those_that_are(headway, tmp_path):
    said = headway("export", RECORD, tmp_path / "x.csv", "--only", "excess-loss")
    assert said.code == 2
    assert "the record has no 'excess-loss'. It has " in said.err
    assert "excess_loss" in said.err


def test_an_unfinished_record_is_told_to_be_unfinished(headway, tmp_path):
    cell = Cell(find("stages").grids["quick"]["minimal"], (0,))
    with Store(tmp_path).open(cell) as work:
        work.resume()
        work.save(None, {}, 3)
    said = headway("export", tmp_path / f"{cell.identity}.partial", tmp_path / "x.csv")
    assert said.code == 2
    assert "this cell is unfinished. Start its run again to finish it." in said.err
