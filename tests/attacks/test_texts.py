"""Texts from records are data: no terminal obeys them, no spreadsheet computes them, no reader takes one of two."""

import csv
import json
import shutil

import numpy as np
import pytest
from tests.attacks.shell import call

from headway import presets
from headway.records import Cell, Trajectory
from headway.store import Store, failure, files
from headway.store.texts import csv_cell, visible

RED = "\x1b[31mred\x1b]0;title\x07\u202e\x9b"
CONTROLS = set(map(chr, range(32))) - {"\n"} | {"\x7f", "\x9b", "\u202e"}


@pytest.fixture
def record(tmp_path):
    """A whole record with an array whose name is a formula and another whose name turns the terminal red."""
    odd = {"=1+2": np.ones((1, 2)), f"@{RED}": np.ones((1, 2)), "excess_loss": np.ones((1, 2))}
    made = Trajectory((0,), {"evaluation": np.arange(2)}, odd, dict.fromkeys(odd, "evaluation"))
    with Store(tmp_path / "runs").open(Cell(presets.minimal_quick(), (0,))) as work:
        work.place(made, {"device": RED})
    return next(Store(tmp_path / "runs").records())


@pytest.mark.parametrize(
    "words",
    ["list", "list --check", "claims --grid quick", "export {record} x.csv --only nothing", "export {record}/.. x.csv"],
)
def test_control_characters_never_reach_the_terminal(home, tmp_path, record, words):
    runs = tmp_path / "runs"
    (runs / f"odd{RED.replace('/', '')}").mkdir()
    shutil.copytree(record.path, runs / "markov-0123456789abcdef")
    bad = json.loads((record.path / "record.json").read_text())
    (runs / "markov-0123456789abcdef" / "record.json").write_text(json.dumps({**bad, "version": RED}))
    ended = call(home, tmp_path, *words.format(record=record.path).split())
    assert ended.returncode in (0, 1, 2) and ended.stdout + ended.stderr
    assert not CONTROLS & set(ended.stdout + ended.stderr), ended.stdout + ended.stderr


def test_a_failure_that_somebody_else_noted_is_shown_in_plain_letters(tmp_path):
    folder = tmp_path / "markov-0123456789abcdef"
    failure.note(folder, ValueError(RED))
    told = failure.read(folder)
    assert told is not None and not CONTROLS & set(visible(told))
    assert "\\x1b[31mred" in visible(told)


def test_a_cell_that_begins_like_a_formula_is_quoted_and_numbers_stay_numbers(home, tmp_path, record):
    ended = call(home, tmp_path, "export", record.path, "x.csv")
    assert ended.returncode == 0, ended.stderr
    with (tmp_path / "x.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    quantities = {row[rows[0].index("quantity")] for row in rows[1:]}
    assert "'=1+2" in quantities and f"'@{RED}" in quantities and "excess_loss" in quantities
    assert not any(cell.startswith(("=", "+", "@")) for row in rows for cell in row)
    assert [csv_cell(each) for each in ("-0.5", "+1", "-inf", "-x", "\t1", "a")] == [
        "-0.5", "+1", "-inf", "'-x", "\t1", "a",
    ]  # fmt: skip


@pytest.mark.parametrize("place", ["top", "cell", "provenance"])
def test_a_name_that_comes_twice_is_refused(home, tmp_path, record, place):
    """Under a seal that fits what most readers take, the last one."""
    path = record.path / "record.json"
    text = path.read_text()
    twice = {
        "top": text.replace('{\n "format"', '{\n "version": 1,\n "format"', 1),
        "cell": text.replace('"kind": "markov"', '"kind": "flow",\n  "kind": "markov"', 1),
        "provenance": text.replace('"device":', '"device": "cpu",\n  "device":', 1),
    }[place]
    assert twice != text and json.loads(twice) == json.loads(text)
    path.write_text(twice)
    with pytest.raises(ValueError, match="twice"):
        files.parse(path.read_bytes())
    ended = call(home, tmp_path, "list", "--check")
    assert ended.returncode == 1 and "twice" in ended.stdout
