"""What is committed under results/: whole, small, with its provenance; and what README and docs say about it is so."""

import re
from pathlib import Path
from typing import Any

import pytest

from headway.cli import main
from headway.experiments import NAMES, find
from headway.experiments.outcome import Outcome, all_findings, outcomes_from
from headway.experiments.pages import compared_with
from headway.lookup import Records, answer
from headway.records import PILOT_SEEDS, Cell, Finding
from headway.store import Record, Store
from headway.store.kinds import revive_cell

ROOT = Path(__file__).parent.parent
RESULTS = Store(ROOT / "results")
DOCUMENT = ROOT / "docs" / "reproduction.md"
GRIDS = ("printed", "as-run", "paper")
pytestmark = pytest.mark.usefixtures("unchecked")


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return list(RESULTS.records())


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Outcome]]:
    """What the command writes that docs/reproduction.md names, and what it read: all claims, once for all tests."""
    folder = tmp_path_factory.mktemp("clone")
    (folder / "results").symlink_to(RESULTS.root)
    (folder / "docs").mkdir()
    (folder / "docs" / "figures").symlink_to(ROOT / "docs" / "figures")
    (command,) = re.findall(r"made from the records by `headway (report [^`]*)`", DOCUMENT.read_text())
    read: list[Outcome] = []

    def noted(*asked: Any) -> list[Outcome]:
        read.extend(outcomes_from(*asked))
        return read

    with pytest.MonkeyPatch.context() as changed:
        changed.setattr("headway.experiments.outcome.outcomes_from", noted)
        changed.chdir(folder)
        main(command.split())
    return (folder / "docs" / DOCUMENT.name).read_text(), read


@pytest.fixture(scope="module")
def outcomes(written) -> list[Outcome]:
    """At paper scale."""
    return [outcome for outcome in written[1] if outcome.grid in GRIDS]


@pytest.fixture(scope="module")
def findings(outcomes) -> dict[tuple[str, str], Finding]:
    """(claim, grid) -> what the records show now."""
    return {(finding.claim, grid): finding for grid, finding in all_findings(outcomes)}


def test_everything_in_the_folder_is_a_whole_record():
    assert {entry.state for entry in RESULTS.status(thorough=True)} == {"done"}


def test_the_records_are_small_enough_to_be_cloned(records):
    sizes = {record.identity: sum(path.stat().st_size for path in record.path.iterdir()) for record in records}
    trained = sum(sizes[record.identity] for record in records if record.cell.kind == "markov")
    assert trained <= 30e6, "paper A's trainings"
    assert sum(sizes.values()) - trained <= 45e6, "everything else"


def test_a_record_reads_back_to_the_last_bit(records):
    for record in records:
        record.verify()
        assert record.identity == record.path.name, "the name that it was written with, by whatever version"
        assert revive_cell(record.cell.describe()) == record.cell


def test_a_record_says_which_device_commit_and_versions_made_it(records):
    for record in records:
        made = record.provenance
        # Flows and the models that they describe are small enough for a CPU.
        assert re.fullmatch(r"gpu: .+" if record.cell.kind == "markov" else r"(gpu|cpu): .+", made["device"])
        assert re.fullmatch(r"[0-9a-f]{40}", made["commit"])
        assert all(made["versions"][package] for package in ("python", "jax", "jaxlib", "numpy"))
        assert made["seconds"] > 0
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", made["created"])


def test_a_record_has_eight_seeds_or_more_and_a_transformer_of_paper_b_three(records):
    for record in records:
        of_paper_b = record.cell.kind in ("single-location", "recall")
        assert len(record.cell.seeds) >= (3 if of_paper_b else 8) or record.cell.seeds == PILOT_SEEDS
        assert record.trajectory.seeds == record.cell.seeds


def test_every_grid_at_paper_scale_is_answered(outcomes):
    assert {(each.called, each.grid) for each in outcomes if not each.complete} == set()


def test_every_claim_that_fails_at_paper_scale_has_a_reason(findings):
    failed = {key for key, finding in findings.items() if finding.holds and not all(finding.holds)}
    assert {key for key in failed if not findings[key].reason} == set()


def test_no_record_is_there_that_no_experiment_needs(records):
    at_scale = [(find(name), grid) for name in NAMES for grid in find(name).grids if grid != "quick"]
    cells = [
        Cell(settings, tuple(range(experiment.seeds[grid])))
        for experiment, grid in at_scale
        for settings in experiment.grids[grid].values()
    ]
    used = [found for cell in cells if (found := answer(cell, [RESULTS], loosely=True, among=records))]
    # Also of runs that are still to be made: their pilots may be there already.
    needed = {needed for cell in (*cells, *(record.cell for record in used)) for needed in cell.needs()}
    beside = {found.identity for cell in needed if (found := answer(cell, [RESULTS], among=records))}
    assert {record.identity for record in records} - {record.identity for record in used} - beside == set()


def test_a_record_that_no_grid_names_is_named_after_the_run_beside_it(outcomes, records):
    used = {record.identity for outcome in outcomes for record in outcome.records.values()}
    beside = compared_with(outcomes, Records(records), used)
    reported = {record.identity for record in records if record.cell.seeds != PILOT_SEEDS}
    assert {each.record.identity for each in beside} == reported - used
    assert all(re.match(r"n-gram model, c = \d+, beside [^,]+, .*(printed|as-run)$", each.label) for each in beside)


def tables() -> list[list[list[str]]]:
    """The tables of claims in docs/verdicts.md: cells of rows, the header first."""
    found = re.findall(r"^\| claim \|.*(?:\n\|.*)*", (ROOT / "docs" / "verdicts.md").read_text(), re.MULTILINE)
    return [[[cell.strip(" *") for cell in row.strip("|").split("|")] for row in table.splitlines()] for table in found]


def test_the_words_in_the_readme_are_the_titles_of_the_claims():
    told = dict(row[0].split(": ", 1) for table in tables() for row in table[2:])
    titles = {claim.name: claim.title for name in NAMES for claim in find(name).claims}
    assert {name: told.get(name) for name in titles} == titles


def test_the_numbers_of_seeds_in_the_readme_are_those_of_the_claims_beside_them(findings):
    lines = re.findall(r"^\d\. \[\*\*.*$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert len(lines) == 5
    for line in lines:
        [asked] = re.findall(r"`\./run claims (.+?) --from results`", line)
        names = [name for name in {claim for claim, _ in findings} if name.split()[0] in asked or name in asked]
        held = {(each.showing, len(each.holds)) for (claim, _), each in findings.items() if claim in names}
        told = {(int(some), int(of)) for some, of in re.findall(r"(\d+) of (\d+)", line)}
        assert told and told <= held, line


def test_the_verdicts_in_the_verdict_tables_are_those_of_the_records(findings):
    told = {}
    for header, _, *rows in tables():
        for claim, *verdicts in rows:
            told |= {(claim.split(":")[0], grid): said for grid, said in zip(header[1:], verdicts, strict=True)}
    assert told == {key: finding.summary for key, finding in findings.items()}


def test_the_document_is_what_its_own_command_writes_now(written):
    """If this fails, run the command that docs/reproduction.md names, and look at what changed."""
    assert written[0] == DOCUMENT.read_text()
