"""`headway report`: verdicts, figures and a page of what is on disk, and words about what is not."""

import re
import shutil
from pathlib import Path

import pytest
from tests.experiments.made import made_run
from tests.report.embedded import embedded
from tests.report.made_run import made_trajectory

from headway.experiments import NAMES, find
from headway.experiments.pages import _results
from headway.records import Cell
from headway.store import Store

RESULTS = Path(__file__).parent.parent.parent / "results"
GRIDS, SAID = "quick|printed|as-run|paper", "holds|partly|fails|cannot be judged|not run|not in grid"
VERDICT = re.compile(rf"^(\w+.*?)  .*\n(?:\S.*\n)? +(?:{GRIDS}) +({SAID}) ", re.MULTILINE)
STAGES = ["A1 minimal", "A1 minimal, nearer", "A4 minimal"]


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
    assert VERDICT.findall(said.out) == [(claim, "holds") for claim in STAGES]
    written = contents(tmp_path / "shown")
    figures = {name for name in written if name not in ("report.html", "figures/.drawn.json")}
    stems = ("overview", "figure-1", "excess-loss", "competition")
    assert figures == {f"figures/stages-quick-{stem}.{kind}" for stem in stems for kind in ("png", "pdf", "svg")}
    starts = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
    assert all(written[name].startswith(starts[name[-3:]]) for name in figures)
    assert written["report.html"].startswith(b"<!doctype html>")
    assert embedded(written["report.html"].decode())["commands"] == ["headway report stages --into shown"]
    assert str(tmp_path / "shown" / "report.html") in said.out
    assert contents(records) == before
    assert {path.name for path in tmp_path.iterdir()} == {"runs", "shown"}


def test_several_processes_write_the_files_and_say_the_words_of_one(headway, records, tmp_path, monkeypatch):
    """All of them, with the page: `experiments.drawing` decides how many draw."""
    said = {}
    for cores in (1, 2):
        monkeypatch.setattr("headway.experiments.drawing.free_cores", lambda cores=cores: cores)
        said[cores] = headway("report", "attention", "ladder", "construction", "--grid", "quick", "--into", "shown")
        shutil.move(tmp_path / "shown", tmp_path / f"by-{cores}")
    assert said[1].code == said[2].code == 0 and said[1].out == said[2].out
    assert VERDICT.findall(said[1].out) != []
    assert contents(tmp_path / "by-1") == contents(tmp_path / "by-2")
    assert len(list((tmp_path / "by-2" / "figures").glob("*.pdf"))) == 6


def test_a_report_of_everything_answers_every_claim_that_has_a_run_once(headway, records, tmp_path):
    verdicts = VERDICT.findall(headway("report", "--no-page").out)
    claims = [claim for claim, _ in verdicts]
    assert len(claims) == len(set(claims))
    judged = {"A1", "A1 nearer", "A2", "A3", "A3 published steps", "A4", "A5", "A6", "A20", *STAGES}
    assert {claim for claim, verdict in verdicts if verdict not in ("not run", "not in grid")} == judged
    # One run of these is there, and more are needed; of other experiments there is none.
    missing = {"A7", "A8", "A8 plateaus", "A12", "A12 m = 1.7", "A13", "A15", "A15 minimal"}
    missing |= {"A5 residual", "A19", "A19 together", "A19 heads", "H3", "H3 every step", "R2", "R2 unit strength"}
    assert {claim for claim, verdict in verdicts if verdict == "not run"} == missing
    assert {path.name for path in tmp_path.iterdir()} == {"runs"}


def test_claims_are_told_in_the_order_of_their_numbers(headway, records):
    numbers = [int(number) for number in re.findall(r"^A(\d+)", headway("report", "--no-page").out, re.MULTILINE)]
    assert numbers == sorted(numbers) and numbers[-1] == 20


def test_a_document_tells_of_every_claim_of_every_experiment(headway, records, tmp_path):
    assert headway("report", "--no-page", "--document", "all.md").code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"runs", "all.md"}
    document = (tmp_path / "all.md").read_text()
    told = re.findall(r"^\*\*(.+?)\.\*\* ", document, re.MULTILINE)
    assert sorted(told) == sorted(finding.claim for name in NAMES for finding in find(name).read({}))
    assert re.findall(r"^## (.*)$", document, re.MULTILINE) == ["All claims", *NAMES]
    assert "`headway report --no-page --document all.md`" in document


def test_of_an_experiment_that_misses_runs_the_page_shows_what_there_is_and_no_figures(headway, records, tmp_path):
    said = headway("report", "init-scale", "--into", "shown")
    assert (said.code, said.err) == (0, "")
    assert VERDICT.findall(said.out) == [("A7", "not run")]
    assert "A run that it needs has not been made." in said.out
    assert list(contents(tmp_path / "shown")) == ["report.html"]
    data = embedded((tmp_path / "shown" / "report.html").read_text())
    assert [run["label"] for run in data["runs"]] == ["Xavier scale, quick"]
    assert [(finding["claim"], finding["verdict"]) for finding in data["findings"]] == [("A7", "not run")]
    assert data["figures"] == []
    assert "figures" not in said.out.splitlines()[-2] and str(tmp_path / "shown" / "report.html") in said.out


def test_figures_of_what_is_whole_are_drawn_beside_what_is_not(headway, records, tmp_path):
    """The page has every run once; the construction, which was not trained, is shown by its figure alone."""
    assert headway("report", "construction", "init-scale", "attention", "--into", "shown").code == 0
    names = {name.removeprefix("figures/").removesuffix(".png") for name in contents(tmp_path / "shown")}
    drawn = {"construction-quick-sharpness", *(f"attention-quick-{name}" for name in ("figure-2", "heads", "mass"))}
    assert {name for name in names if not name.endswith((".pdf", ".svg", ".html", ".json"))} == drawn
    data = embedded((tmp_path / "shown" / "report.html").read_text())
    groups = {group["key"]: [figure["name"] for figure in group["figures"]] for group in data["figures"]}
    assert groups == {"construction-quick": ["sharpness"], "attention-quick": ["figure-2", "heads", "mass"]}
    assert [run["label"] for run in data["runs"]] == ["Xavier scale, quick", "full, quick"]
    assert data["title"] == "Headway: construction, init-scale and attention"


def test_runs_of_no_grid_are_on_the_page_under_a_title_of_their_own(headway, tmp_path):
    usual = find("stages").grids["quick"]["minimal"]
    for settings, seeds in (
        (usual, tuple(range(find("stages").seeds["quick"]))),
        (usual.changed(task={"ratio": 1.3}), (0, 1)),
    ):
        with Store(tmp_path / "runs").open(Cell(settings, seeds)) as work:
            work.place(made_run(settings, seeds), {})
    assert headway("report", "--from", tmp_path / "runs", "--into", tmp_path / "shown").code == 0
    runs = embedded((tmp_path / "shown" / "report.html").read_text())["runs"]
    others = [run for run in runs if run["section"] == "Other runs in this folder"]
    assert [run["settings"]["task"]["ratio"] for run in others if "ratio 1.3" in run["label"]] == [1.3]
    assert len({run["label"] for run in runs}) == len(runs) > len(others)


def test_a_folder_with_nothing_but_runs_of_no_grid_has_a_page(headway, tmp_path):
    settings = find("stages").grids["quick"]["minimal"].changed(task={"ratio": 1.3})
    with Store(tmp_path / "own").open(Cell(settings, (0, 1))) as work:
        work.place(made_trajectory(settings, (0, 1)), {})
    said = headway("report", "--from", tmp_path / "own", "--into", tmp_path / "shown")
    assert (said.code, said.err) == (0, "")
    data = embedded((tmp_path / "shown" / "report.html").read_text())
    assert data["title"] == "Headway: runs of this folder" and len(data["runs"]) == 1


def test_runs_with_other_seeds_are_shown_too(headway, records, tmp_path):
    settings = find("stages").grids["quick"]["minimal"]
    store = Store(tmp_path / "others")
    with store.open(Cell(settings, (5, 6))) as work:
        work.place(made_run(settings, (5, 6)), {})
    said = headway("report", "stages", "--no-page", "--from", "others")
    assert said.code == 0
    assert "2/2" in said.out


@pytest.mark.parametrize(
    "arguments, words",
    [
        ("--from nowhere", "there is no folder nowhere. Run something first, or name another folder with --from."),
        ("--grid printed", "none of these experiments has a run in runs. `headway list` shows what is there"),
        ("online --document x.md", "none of these experiments has a run in runs."),
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
    assert "none of these experiments has a run" in said.err


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
    assert [claim for claim, verdict in VERDICT.findall(said.out) if verdict != "not run"] == STAGES
    assert said.out.count("/10 ") == len(STAGES)
    assert (tmp_path / "report.html").stat().st_size > 1e6


def test_claims_without_a_run_are_counted_of_the_experiments_that_were_named():
    def counted(names: tuple[str, ...]) -> int:
        return _results([], [], names)["unlisted"]

    assert counted(("stages", "attention")) == len(
        {claim.name for name in ("stages", "attention") for claim in find(name).claims}
    )
    assert counted(()) == len({claim.name for name in NAMES for claim in find(name).claims})
