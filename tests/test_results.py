"""What is committed under results/: whole, small, with its provenance; and what README and docs say about it is so."""

import re
from pathlib import Path

import pytest

from headway.cli import main
from headway.experiments import NAMES, find
from headway.lookup import answer
from headway.records import Cell, Finding
from headway.store import Record, Store

ROOT = Path(__file__).parent.parent
RESULTS = Store(ROOT / "results")
RECORDS = list(RESULTS.records())
GRIDS = ("printed", "as-run")
each_record = pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.identity)


def cells(name: str, grid: str) -> list[Cell]:
    experiment = find(name)
    return [Cell(settings, tuple(range(experiment.SEEDS[grid]))) for settings in experiment.GRIDS[grid]]


@pytest.fixture(scope="module")
def findings() -> dict[tuple[str, str], Finding]:
    """(claim, grid) -> what the records show now."""
    found = {}
    for name in NAMES:
        for grid in GRIDS:
            records = [answer(cell, [RESULTS], loosely=True) for cell in cells(name, grid)]
            results = [(record.cell.settings, record.trajectory) for record in records if record is not None]
            for finding in find(name).read(results):
                found[finding.claim, grid] = finding
    return found


def test_everything_in_the_folder_is_a_whole_record():
    assert len(RECORDS) >= 4
    assert {entry.state for entry in RESULTS.status(thorough=True)} == {"done"}


def test_the_records_are_small_enough_to_be_cloned():
    assert sum(path.stat().st_size for path in RESULTS.root.rglob("*")) <= 20e6


@each_record
def test_a_record_reads_back_to_the_last_bit(record: Record):
    record.verify()
    assert record.identity == record.cell.identity


@each_record
def test_a_record_says_which_device_commit_and_versions_made_it(record: Record):
    made = record.provenance
    assert re.fullmatch(r"gpu: .+", made["device"])
    assert re.fullmatch(r"[0-9a-f]{40}", made["commit"])
    assert all(made["versions"][package] for package in ("python", "jax", "jaxlib", "numpy"))
    assert made["seconds"] > 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made["created"])


@each_record
def test_a_record_has_eight_seeds_at_paper_scale(record: Record):
    training = record.cell.settings.training
    assert len(record.cell.seeds) >= 8
    assert (training.steps, training.batch, training.samples) == (2000, 3000, 9000)
    assert record.trajectory["excess_loss"].shape[0] == len(record.cell.seeds)


def test_every_grid_at_paper_scale_is_answered():
    missing = [(name, grid) for name in NAMES for grid in GRIDS for cell in cells(name, grid)
               if answer(cell, [RESULTS], loosely=True) is None]  # fmt: skip
    assert missing == []


def test_no_record_is_there_that_no_experiment_needs():
    needed = [cell for name in NAMES for grid in GRIDS for cell in cells(name, grid)]
    answers = {found.identity for cell in needed if (found := answer(cell, [RESULTS], loosely=True))}
    compared_with = {reference.identity for cell in needed for reference in cell.references()}
    assert {record.identity for record in RECORDS} - answers - compared_with == set()


def test_the_verdicts_in_the_readme_are_those_of_the_records(findings):
    readme = (ROOT / "README.md").read_text()
    header, _, *rows = re.findall(r"^\|.*\|$", readme[readme.index("| claim |") :], re.MULTILINE)
    assert [cell.strip() for cell in header.strip("|").split("|")] == ["claim", *GRIDS]
    told = {}
    for row in rows:
        claim, *verdicts = (cell.strip(" *") for cell in row.strip("|").split("|"))
        told |= {(claim.split(":")[0], grid): verdict for grid, verdict in zip(GRIDS, verdicts, strict=True)}
    shown = {
        key: f"{finding.verdict} {sum(finding.holds)}/{len(finding.holds)}" if finding.holds else finding.verdict
        for key, finding in findings.items()
    }
    assert told == shown


def test_the_document_is_what_its_own_command_writes_now(tmp_path, monkeypatch, capsys):
    """If this fails, run the command that docs/reproduction.md names, and look at what changed."""
    document = (ROOT / "docs" / "reproduction.md").read_text()
    (command,) = re.findall(r"made from the records by `headway (report [^`]*)`", document)
    (tmp_path / "results").symlink_to(RESULTS.root)
    monkeypatch.chdir(tmp_path)
    main(command.split())
    assert (tmp_path / "docs" / "reproduction.md").read_text() == document
