"""`headway claims`: every claim in a table, and by its name in full."""

import re
from pathlib import Path

import pytest

from headway.experiments import NAMES, find
from headway.records import Finding

ROW = re.compile(r"^│ (\S.*?) +│ (.*?) +│ (.*?) +│$", re.MULTILINE)
ALL = [finding for name in NAMES for finding in find(name).read({})]
STAGES = ["A1 minimal", "A1 minimal, nearer", "A4 minimal"]


def in_one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def found(made_records, headway):
    """The findings of the made records, as the experiments themselves read them: claim -> finding."""
    from headway.experiments.outcome import all_findings, outcomes_from
    from headway.store import Store

    return {finding.claim: finding for _, finding in all_findings(outcomes_from([Store(made_records)], ["quick"]))}


def seed_lines(finding: Finding) -> list[tuple[str, str, str]]:
    """Seed, value and verdict of every seed, in words."""
    return [
        (str(seed), f"{value:.4g}", "holds" if holds else "does not hold")
        for seed, value, holds in zip(finding.seeds, finding.values, finding.holds, strict=True)
    ]


def test_the_table_has_every_claim_of_every_experiment_once(headway, made_records):
    said = headway("claims", "--grid", "quick", "--from", made_records)
    assert (said.code, said.err) == (0, "")
    claims = [claim for claim, *_ in ROW.findall(said.out)]
    assert sorted(claims) == sorted(finding.claim for finding in ALL)
    assert len(claims) == len(set(claims))
    numbers = [int(number) for number in re.findall(r"A(\d+)", " ".join(claims))]
    assert numbers == sorted(numbers)
    assert [claim[0] for claim in claims] == sorted(claim[0] for claim in claims)


def test_a_row_says_what_is_claimed_in_how_many_seeds_it_holds_what_was_measured_and_where_to_look(
    headway, made_records, found
):
    said = headway("claims", "--grid", "quick", "--from", made_records)
    _, words, verdict = next(row for row in ROW.findall(said.out) if row[0] == "A4")
    assert found["A4"].statement.startswith(words)
    assert verdict == "holds  8/8 seeds"
    below = said.out[said.out.index(words) :].splitlines()[1:3]
    assert found["A4"].quantity in below[0] and re.search(r"│ 0\.\d+ \[0\.\d+, 0\.\d+\] +│$", below[0])
    assert below[1].endswith("│") and "figures attention-quick" in below[1]


def test_what_was_not_run_is_said_to_be_not_run(headway, made_records):
    rows = ROW.findall(headway("claims", "--grid", "quick", "--from", made_records).out)
    absent = {claim for claim, _, verdict in rows if verdict == "not in grid"}
    one_change = {"A8 small start", "A14 smaller noise", "A14 Pi once"}
    assert absent == one_change | {"A15 27 000 samples", "H2 fresh data", "Z5 small start", "G1 softmax"}
    judged = {claim for claim, _, verdict in rows if verdict not in ("not run", "not in grid")}
    assert judged == {"A1", "A1 nearer", "A2", "A3", "A3 published steps", "A4", "A5", "A6", "A20", *STAGES}


def test_every_grid_has_a_column(headway, made_records):
    said = headway("claims", "--grid", "as-run", "quick", "--from", made_records)
    header = next(line for line in said.out.splitlines() if "statement" in line)
    assert [words.strip() for words in header.strip("┃").split("┃")] == ["claim", "statement", "as-run", "quick"]


def test_a_named_claim_shows_its_definition_and_every_seed(headway, made_records, found):
    said = headway("claims", "A4 minimal", "--grid", "quick", "--from", made_records)
    assert (said.code, said.err) == (0, "")
    assert f"holds in a seed if {found['A4 minimal'].definition}" in in_one_line(said.out)
    lines = re.findall(r"^  seed (\d+) +(\S+) +(holds|does not hold)$", said.out, re.MULTILINE)
    assert lines == seed_lines(found["A4 minimal"])
    assert len(lines) == 8


@pytest.mark.parametrize("name", ["A1", "a1"])
def test_a_number_stands_for_all_claims_of_that_number(headway, made_records, name):
    said = headway("claims", name, "--grid", "quick", "--from", made_records)
    named = re.findall(r"^(\S.*), quick: holds in a seed if$", said.out, re.MULTILINE)
    assert named == ["A1", "A1 minimal", "A1 minimal, nearer", "A1 nearer"], "and not A10"


def test_every_claim_can_be_named_and_its_definition_is_shown_to_the_last_sign(headway, made_records):
    said = headway("claims", *(finding.claim for finding in ALL), "--grid", "quick", "--from", made_records)
    assert said.code == 0
    shown = in_one_line(said.out)
    for finding in ALL:
        assert f"{finding.claim}, quick: holds in a seed if {in_one_line(finding.definition)}" in shown
        assert in_one_line(f"{finding.claim} {finding.statement}") in shown


def test_several_claims_can_be_named(headway, made_records):
    said = headway("claims", "A20", "A7", "--grid", "quick", "--from", made_records)
    assert re.findall(r"^(A\d+), quick: ", said.out, re.MULTILINE) == ["A20", "A7"]
    assert said.out.count("\n  seed ") == 4, "A7 has no seeds: it was not run"


@pytest.mark.parametrize("name, near", [("A77", "A7"), ("A1 minmal", "A1 minimal"), ("H33", "H3")])
def test_an_unknown_claim_suggests_the_nearest_and_where_all_are_listed(headway, made_records, name, near):
    said = headway("claims", name, "--grid", "quick", "--from", made_records)
    assert said.code == 2
    assert f"there is no claim {name!r}. Did you mean {near!r}? `headway claims` lists all " in said.err


def test_help_says_what_a_name_does(headway):
    said = headway("claims", "--help")
    assert said.code == 0
    assert "headway claims A7 A8 --from results" in said.out
    assert all(option in said.out for option in ("--grid", "--from", "[CLAIMS]"))


def test_what_a_gpu_found_is_told_from_the_committed_records(headway):
    results = Path(__file__).parent.parent.parent / "results"
    said = headway("claims", "A20", "--from", results)
    assert (said.code, said.err) == (0, "")
    assert re.findall(r"^A20, (printed|as-run): ", said.out, re.MULTILINE) == ["printed", "as-run"]
    assert len(re.findall(r"^  seed \d+ +\S+ +holds$", said.out, re.MULTILINE)) == 20
