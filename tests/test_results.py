"""What is committed under results/: whole, small, with its provenance; and what README and docs say about it is so."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from headway.analysis import over_seeds
from headway.cli import main
from headway.experiments import NAMES, find
from headway.experiments.hierarchy import SMALL_START
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
    (command,) = re.findall(r"generated from the records by `headway (report [^`]*)`", DOCUMENT.read_text())
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
    assert sum(sizes.values()) - trained <= 48e6, "everything else"


def test_a_record_reads_back_to_the_last_bit(records):
    for record in records:
        record.verify()
        assert record.identity == record.path.name, "the name that it was written with, by whatever version"
        assert revive_cell(record.cell.describe()) == record.cell


def test_a_record_says_which_device_commit_and_versions_made_it(records):
    short = [find("hierarchy").grids["as-run"][name] for name in SMALL_START]
    for record in records:
        made = record.provenance
        # Flows and the models that they describe are small enough for a CPU; and so are a few short runs of the minimal
        # model, which were made when there was no GPU.
        on_gpu = record.cell.kind == "markov" and record.cell.settings not in short
        assert re.fullmatch(r"gpu: .+" if on_gpu else r"(gpu|cpu): .+", made["device"])
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


def test_the_page_of_the_ladder_counts_the_records_without_distances_to_their_rungs(records):
    text = (ROOT / "docs" / "ladder.md").read_text()
    for kind, words in (("recall", "of recall"), ("single-location", "of single-location regression")):
        own = [record for record in records if record.cell.kind == kind]
        without = [record for record in own if "kl_rungs" not in record.trajectory]
        number = f"{len(without)} of {len(own)}"
        assert f"{number} records {words}" in text or f"{number} {words}" in text, number
    assert not any("kl_rungs" in record.trajectory for record in records if record.cell.kind == "toy")


def tables() -> list[list[list[str]]]:
    """The tables of claims in docs/verdicts.md: cells of rows, the header first."""
    found = re.findall(r"^\| claim \|.*(?:\n\|.*)*", (ROOT / "docs" / "verdicts.md").read_text(), re.MULTILINE)
    return [[[cell.strip(" *") for cell in row.strip("|").split("|")] for row in table.splitlines()] for table in found]


def test_the_words_in_the_readme_are_the_titles_of_the_claims():
    told = dict(row[0].split(": ", 1) for table in tables() for row in table[2:])
    titles = {claim.name: claim.title for name in NAMES for claim in find(name).claims}
    assert {name: told.get(name) for name in titles} == titles


def findings_in(page: Path) -> list[tuple[str, list[str]]]:
    """The numbered findings of a page, and the names that the command of each gives."""
    lines = re.findall(r"^\d+\. (?:\[\*\*|\*\*\[).*$", page.read_text(), re.MULTILINE)
    asked = [re.findall(r"`\./run claims (.+?) --from results`", line) for line in lines]
    return [(line, shlex.split(command)) for line, [command] in zip(lines, asked, strict=True)]


@pytest.mark.parametrize("page, count", [("README.md", 5), ("docs/found.md", 12)])
def test_the_numbers_of_seeds_of_the_findings_are_those_of_the_claims_beside_them(findings, page, count):
    told_findings = findings_in(ROOT / page)
    assert len(told_findings) == count
    for line, names in told_findings:
        called = {key: each for key, each in findings.items() if any(f"{key[0]} ".startswith(f"{n} ") for n in names)}
        held = {(each.showing, len(each.holds)) for each in called.values()}
        held |= {(part, len(each.holds)) for each in called.values() for part in each.parts.values()}
        beside = " ".join(each.detail for each in called.values())
        held |= {(int(some), int(of)) for some, of in re.findall(r"(\d+) of (\d+) seeds", beside)}
        told = {(int(some), int(of)) for some, of in re.findall(r"(\d+) of (\d+)", line)}
        assert told and told <= held, line


MEASURED = {
    "B3 appendix": "d^{:.2f} ",
    "B3 appendix tokens per copy": "(T/B)^{:.2f} steps",
    "B4 appendix embedding": "the plateau is {:.0f} times as long",
    "B7 recall appendix": "Copies in the context shorten the plateau by a factor of {:.1f}",
    "B7 recall appendix across samples": "queries repeated across samples by a factor of {:.1f}",
}
"""Claim -> what docs/found.md says about the median over seeds."""
STATED = {
    ("A1", "as-run"): "KL to the rungs reaches its minima in order ({})",
    ("A1 nearer", "as-run"): "than it would by growing confidence alone ({})",
    ("A1 minimal", "as-run"): "has its minima in order as-run ({})",
    ("A1 minimal", "printed"): "at the printed learning rate in {}, because training ends too early",
    ("A4", "as-run"): "rises, then falls ({})",
    ("A9", "as-run"): "As-run {},",
    ("A9", "printed"): "printed {}:",
    ("H1 learned", "as-run"): "in {} seeds with learned or sinusoidal positions",
    ("H1 sinusoidal", "as-run"): "in {} seeds with learned or sinusoidal positions",
    ("H1 rotary", "as-run"): "in {} with rotary ones",
    ("H1 relative", "as-run"): "in {} with relative positions or ALiBi",
    ("H1 alibi", "as-run"): "in {} with relative positions or ALiBi",
    ("H1 learned", "printed"): "Printed: learned {},",
    ("H1 sinusoidal", "printed"): "sinusoidal {},",
    ("H1 rotary", "printed"): "rotary {},",
    ("H1 relative", "printed"): "relative {},",
    ("H1 alibi", "printed"): "ALiBi {}:",
    ("B3 appendix", "paper"): "Both exponents are within 0.2 of the published ones ({})",
    ("B3 appendix tokens per copy", "paper"): "Both exponents are within 0.2 of the published ones ({})",
    ("B4 appendix embedding", "paper"): "with one of unit variance ({})",
    ("B7 recall appendix", "paper"): "{} each",
    ("B7 recall appendix across samples", "paper"): "{} each",
    ("B8 appendix", "paper"): "With too much repetition the model overfits ({})",
    ("E1 more states", "paper"): "with three, four and eight in {} each",
    ("V1", "paper"): "as published: {}.",
    ("V1 simple model, rate 0.001", "paper"): "in the simple model with a tenth of the learning rate: {};",
    ("V1 transformer", "paper"): "in a transformer: {}:",
    ("Z1", "paper"): "the loss drops once ({})",
    ("Z2 balanced", "paper"): "{} from the theory's initialisation",
    ("Z2", "paper"): "{} from a random one",
    ("G4", "paper"): "(Gopalani and Hu): {}.",
    ("N1", "paper"): "reaches its minima in order ({})",
    ("N5", "paper"): "An induction head forms in {}",
}
"""(claim, grid) -> what docs/found.md says about its seeds."""
PARTS = {
    ("E1", "paper", "2 states"): "With two states in {} seeds",
    ("E1", "paper", "3 states"): "with three, four and eight in {} each",
    ("H2", "printed", "3 layers"): "at most {} seeds",
    ("H2 fresh data", "as-run", "2 layers, fresh data"): "({} with fresh data)",
    ("N2", "paper", "speeches, characters 128"): "to trigrams than by confidence alone in {} seeds",
    ("N2", "paper", "enwik8, characters 128"): "to trigrams than by confidence alone in {} seeds",
    ("N2", "paper", "speeches, bpe 512"): "in {} on speeches",
    ("N2", "paper", "enwik8, bpe 512"): "in {} on enwik8",
}
"""(claim, grid, part) -> what docs/found.md says about the seeds of that part."""
APART = "At the end the heads attend most to different blocks in {} seeds."
"""What A4 adds to its verdict."""


def test_every_number_on_the_page_of_findings_is_that_of_its_claim(findings):
    text = (ROOT / "docs" / "found.md").read_text()
    for key, words in STATED.items():
        finding = findings[key]
        assert words.format(f"{finding.showing} of {len(finding.holds)}") in text, key
    for (claim, grid, part), words in PARTS.items():
        finding = findings[claim, grid]
        assert words.format(f"{finding.parts[part]} of {len(finding.holds)}") in text, (claim, part)
    for claim, *told in (("A4", "9 of 10", "10 of 10"), ("A4 minimal", "0 of 10", "10 of 10")):
        for grid, seeds in zip(("printed", "as-run"), told, strict=True):
            assert APART.format(seeds) in findings[claim, grid].detail
    assert "in 9 of 10 seeds (printed) and 10 of 10 (as-run); in the minimal model in 0 of 10 and 10 of 10" in text
    for claim, words in MEASURED.items():
        assert words.format(over_seeds(findings[claim, "paper"].values).median) in text, claim


def test_the_page_of_findings_is_short_and_its_law_is_that_of_the_readme():
    text, law = (ROOT / "docs" / "found.md").read_text(), r"\d\.\d+ d\^\d\.\d+ \(T/B\)\^\d\.\d+"
    assert re.findall(law, text) == re.findall(law, (ROOT / "README.md").read_text())
    prose = re.sub(r"`[^`]*`|!\[.*?\]\(.*?\)|\]\([^)]*\)", "", text)
    assert len(prose.split()) <= 760


def test_the_verdicts_in_the_verdict_tables_are_those_of_the_records(findings):
    told = {}
    for header, _, *rows in tables():
        for claim, *verdicts in rows:
            told |= {(claim.split(":")[0], grid): said for grid, said in zip(header[1:], verdicts, strict=True)}
    assert told == {key: finding.summary for key, finding in findings.items()}


def test_the_document_is_what_its_own_command_writes_now(written):
    """If this fails, run the command that docs/reproduction.md names, and look at what changed."""
    assert written[0] == DOCUMENT.read_text()


def test_the_table_of_what_six_papers_have_in_common_is_what_its_command_prints(capsys):
    text = (ROOT / "docs" / "common.md").read_text()
    assert "\n./run ladders --from results --into docs/figures " in text
    main(["ladders", "--from", str(RESULTS.root)])
    (table,) = re.findall(r"```text\n(.*?)\n```", text, re.DOTALL)
    assert capsys.readouterr().out.rstrip() == table
