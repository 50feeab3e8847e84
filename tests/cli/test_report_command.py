"""`headway report`: verdicts, figures and a page of what is on disk, and words about what is not."""

import re
import shutil
from pathlib import Path

import pytest

from headway.experiments import ladder
from headway.records import Cell
from headway.store import Store

RESULTS = Path(__file__).parent.parent.parent / "results"
VERDICT = re.compile(r"^ +(quick|printed|as-run) +(holds|partly|fails|not run) ", re.MULTILINE)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def records(made_records, tmp_path, monkeypatch) -> Path:
    """A copy of the made records, which may be spoilt; commands run beside it."""
    shutil.copytree(made_records, tmp_path / "runs")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"


def test_a_report_tells_the_verdicts_and_writes_figures_and_one_page(headway, records, tmp_path):
    before = contents(records)
    said = headway("report", "stages", "--into", "shown")
    assert (said.code, said.err) == (0, "")
    assert [claim for claim in ("A1 minimal", "A4 minimal") if claim in said.out] == ["A1 minimal", "A4 minimal"]
    assert VERDICT.findall(said.out) == [("quick", "holds"), ("quick", "holds")]
    written = contents(tmp_path / "shown")
    figures = {name for name in written if name != "report.html"}
    stems = ("overview", "figure-1", "excess-loss", "competition")
    assert figures == {f"figures/stages-quick-{stem}.{kind}" for stem in stems for kind in ("png", "pdf")}
    assert all(written[name].startswith(b"\x89PNG" if name.endswith("png") else b"%PDF") for name in figures)
    assert written["report.html"].startswith(b"<!doctype html>")
    assert "headway report stages --into shown" in written["report.html"].decode()
    assert str(tmp_path / "shown" / "report.html") in said.out
    assert contents(records) == before
    assert {path.name for path in tmp_path.iterdir()} == {"runs", "shown"}


def test_a_report_of_everything_answers_every_claim_once(headway, records, tmp_path):
    said = headway("report", "--no-page", "--document", "all.md")
    claims = re.findall(r"^(A\d(?: minimal)?)  ", said.out, re.MULTILINE)
    assert claims == ["A1", "A1 minimal", "A2", "A3", "A4", "A4 minimal", "A5", "A6"]
    assert {path.name for path in tmp_path.iterdir()} == {"runs", "all.md"}
    document = (tmp_path / "all.md").read_text()
    assert re.findall(r"^\*\*(A\d(?: minimal)?)\.\*\*", document, re.MULTILINE) == claims
    assert "`headway report --no-page --document all.md`" in document


def test_runs_with_other_seeds_are_shown_too(headway, records, tmp_path):
    from tests.report.made_run import made_trajectory

    settings = ladder.GRIDS["quick"][1]
    store = Store(tmp_path / "others")
    with store.open(Cell(settings, (5, 6))) as work:
        work.place(made_trajectory(settings, (5, 6)), {})
    said = headway("report", "stages", "--no-page", "--from", "others")
    assert said.code == 0
    assert "2/2" in said.out


@pytest.mark.parametrize(
    "arguments, words",
    [
        ("--from nowhere", "there is no folder nowhere. Run something first, or name another folder with --from."),
        ("--grid printed", "none of these experiments has all its runs in runs"),
        ("stages --no-page --document runs", "runs: Is a directory."),
        ("stages --into file", "file/figures: Not a directory."),
    ],
)
def test_a_report_that_cannot_be_made_says_why(headway, records, tmp_path, arguments, words):
    (tmp_path / "file").write_text("")
    said = headway("report", *arguments.split())
    assert said.code == 2
    assert said.err.startswith(f"headway: {words}")


def test_a_folder_without_records_is_no_folder_to_report_on(headway, tmp_path):
    (tmp_path / "empty").mkdir()
    said = headway("report", "--from", tmp_path / "empty")
    assert said.code == 2
    assert "none of these experiments has all its runs" in said.err


@pytest.mark.parametrize("flaw", ["shorter", "one bit", "no json"])
def test_a_damaged_record_is_named_and_left_as_it_is(headway, records, flaw):
    (folder,) = (path.parent for path in records.rglob("record.json") if _is_minimal(path))
    spoilt = folder / ("record.json" if flaw == "no json" else "trajectory.safetensors")
    data = bytearray(spoilt.read_bytes())
    data[-9] ^= 1
    spoilt.write_bytes({"shorter": data[:-3], "one bit": data, "no json": b"{"}[flaw])
    before = contents(records)
    said = headway("report", "stages", "--no-page")
    assert said.code == 2
    assert re.match(rf"headway: runs/{folder.name}: .*damaged.* Nothing was changed\. Move the folder away", said.err)
    assert contents(records) == before


def test_a_foreign_folder_under_a_records_name_is_named(headway, records):
    (folder,) = (path.parent for path in records.rglob("record.json") if _is_minimal(path))
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "diary.txt").write_text("mine")
    said = headway("report", "stages", "--no-page")
    assert said.code == 2
    assert f"{folder.name}: not a Headway record: it has no record.json. Nothing was changed." in said.err
    assert (folder / "diary.txt").read_text() == "mine"


def _is_minimal(record: Path) -> bool:
    return '"one-hot"' in record.read_text()


def test_what_a_gpu_found_is_shown_without_training(headway, tmp_path):
    said = headway("report", "stages", "--from", RESULTS, "--grid", "as-run", "--into", tmp_path)
    assert (said.code, said.err) == (0, "")
    assert VERDICT.findall(said.out) == [("as-run", "holds"), ("as-run", "holds")]
    assert said.out.count("8/8") == 2
    assert (tmp_path / "report.html").stat().st_size > 1e6
