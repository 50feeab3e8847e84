"""Every experiment reads and draws runs of any shape: what a claim cannot speak about has no verdict, never a crash."""

import dataclasses
import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.experiments.made import made_results, only
from tests.report.embedded import embedded

from headway.cli.ending import write_markdown
from headway.experiments import NAMES, find
from headway.experiments.outcome import Outcome, all_findings
from headway.experiments.pages import write_report
from headway.experiments.positions import ENCODINGS
from headway.records import Cell, Finding, Trajectory
from headway.store import Record

# Shapes and types of what reads runs are checked by the tests of claims and of the analysis, with far fewer calls.
pytestmark = pytest.mark.usefixtures("unchecked")

ALL = {finding.claim for name in NAMES for finding in find(name).read({})}
HEADS = {"A4", "A4 minimal", "A6", "A11", "A12", "A12 m = 1.7", "A18", "A19 heads"}
"""Claims about heads that share out blocks."""
RUNGS = {*("A1", "A1 minimal", "A1 nearer", "A1 minimal, nearer", "A2", "A7", "A9", "A10", "A10 adaptive"),
         *("A15", "A15 27 000 samples", "A15 minimal", "A17", "A17 four heads", "A17 nearer", "A17 nearer, four heads"),
         *("A19", "A19 together", "H1", "H2", "H2 fresh data", "H3", "H3 every step"),
         *(f"H1 {encoding}" for encoding in ENCODINGS.values())}  # fmt: skip
"""Claims about one rung after another."""
FIGURE_2 = {"A3", "A3 published steps"}
"""Claims about three heads on three blocks."""
THREE = {"A3", "A3 published steps", "A8", "A8 plateaus", "R2", "R2 unit strength"}
"""Claims about three blocks."""
NEWEST = {"A5", "A5 residual"}
"""Claims about lag 1 beside other lags of its block."""
TOYS = ("toy", "escape", "context-repetition", "cross-sample-repetition")
AT_SCALE = {
    "E1 more states",
    "E2 dropout",
    "V1 simple model, rate 0.001",
    "E6 rate 0.03",
    "G1 softmax",
    "H2 fresh data",
    "A15 27 000 samples",
}
AT_SCALE |= {"N1 256 tokens", "N1 optimisers", "V2 4-grams", "N7 third lag", "N10", "N10 one layer", "Z5 small start"}
AT_SCALE |= {"A8 small start", "A14 smaller noise", "A14 Pi once"}
"""Claims about runs, or evaluations, that the quick grids leave out."""
UNTRAINED = {"A14", "A14 attention", "A20", "R1", "R3", *(f"T{number}" for number in range(1, 11)), "V4"}
UNTRAINED |= {finding.claim for name in TOYS for finding in find(name).read({})}
"""Claims about what is computed in one go, and cannot diverge."""


UNJUDGED = ("not run", "not in grid")


class Odd(NamedTuple):
    """What is odd about all runs of a grid, and which claims cannot be asked of such runs."""

    made: dict[str, Any]
    not_run: set[str]

    def results(self, experiment: str) -> dict[str, tuple[Any, Trajectory]]:
        return made_results(experiment, **self.made)


def unknown(trajectory: Trajectory) -> Trajectory:
    """Nothing that was measured on the test sequences is a number."""
    known = ("train_loss", "learning_rate")
    arrays = {name: v if name in known else np.full_like(v, np.nan) for name, v in trajectory.arrays.items()}
    # Where facts are all that was measured, they are not known.
    lost = {"plateau"} if arrays else set(trajectory.facts)
    facts = {name: np.full_like(v, np.nan) if name in lost else v for name, v in trajectory.facts.items()}
    return dataclasses.replace(trajectory, arrays=arrays, facts=facts)


def start_and_end(trajectory: Trajectory) -> Trajectory:
    for clock in ("evaluation", "snapshot", "sharpness", "time", "escape"):
        trajectory = only(clock, [0, -1])(trajectory)
    return trajectory


ODD = {
    "nothing": Odd({}, set()),
    "one head": Odd({"heads": 1}, {*FIGURE_2, *HEADS}),
    "two heads": Odd({"heads": 2}, FIGURE_2),
    "one block": Odd({"blocks": ((1, 2),)}, {*HEADS, *RUNGS, *THREE}),
    "one lag": Odd({"blocks": ((1,),)}, {*HEADS, *RUNGS, *THREE, *NEWEST, "A16"}),
    "one head on one lag": Odd({"heads": 1, "blocks": ((1,),)}, {*HEADS, *RUNGS, *THREE, *NEWEST, "A16"}),
    # The n-gram models of 6 tokens cannot be made.
    "four single lags": Odd({"blocks": ((1,), (2,), (3,), (4,))}, {*THREE, *NEWEST, "A10 adaptive", "A16"}),
    "overlapping blocks": Odd({"heads": 4, "blocks": ((5, 6, 7, 8), (3, 4, 5, 6), (1, 2, 3, 4))}, FIGURE_2),
    "one seed": Odd({"seeds": (7,)}, set()),
    "a seed diverged": Odd({"diverged": {1: 40}}, set()),
    "every seed diverged": Odd({"diverged": {0: 1, 1: 2, 2: 3, 3: 40}}, set()),
    "no number": Odd({"change": unknown}, set()),
    "no attention matrices": Odd({"change": only("snapshot", [])}, set()),
    "start and end only": Odd({"change": start_and_end}, set()),
    "diverged, start and end only": Odd({"change": start_and_end, "diverged": dict.fromkeys(range(4), 0)}, set()),
}


@functools.cache
def findings_of(odd: str) -> list[Finding]:
    """What every claim says of such runs; several tests ask for the same."""
    return [finding for name in NAMES for finding in find(name).read(ODD[odd].results(name), "quick")]


each_odd_run = pytest.mark.parametrize("odd", ODD)
each_experiment = pytest.mark.parametrize("experiment", NAMES)


@each_odd_run
def test_exactly_the_claims_that_do_not_apply_are_not_run(odd):
    found = findings_of(odd)
    assert len(found) == len(ALL) and {finding.claim for finding in found} == ALL
    assert {finding.claim for finding in found if finding.verdict in UNJUDGED} == ODD[odd].not_run | AT_SCALE
    assert all(finding.detail for finding in found if finding.verdict in UNJUDGED)


@each_experiment
def test_without_a_single_run_every_claim_is_not_run_and_says_why(experiment):
    found = find(experiment).read({})
    assert found
    assert {(finding.verdict, finding.detail) for finding in found} == {
        ("not run", "A run that it needs has not been made.")
    }


@each_experiment
def test_a_claim_that_misses_a_run_is_not_run_and_the_others_are_judged_as_before(experiment):
    whole = made_results(experiment)
    before = {finding.claim: finding for finding in find(experiment).read(whole, "quick")}
    ever_missed = set()
    for missing in whole:
        results = {name: run for name, run in whole.items() if name != missing}
        for finding in find(experiment).read(results, "quick"):
            was = before[finding.claim]
            same = (finding.seeds, finding.holds) == (was.seeds, was.holds) and len(finding.values) == len(was.values)
            same = same and np.array_equal(finding.values, was.values, equal_nan=True)
            assert finding.verdict in UNJUDGED or same
            ever_missed |= {finding.claim} if finding.verdict in UNJUDGED else set()
    assert ever_missed == before.keys(), "a claim that needs no run at all"


@pytest.mark.parametrize("odd", ["a seed diverged", "every seed diverged"])
def test_a_seed_that_diverged_counts_against_every_claim_about_a_training(odd):
    lost = np.isin(range(4), list(ODD[odd].made["diverged"]))
    for finding in findings_of(odd):
        if finding.claim not in UNTRAINED | AT_SCALE:
            assert not np.asarray(finding.holds)[lost].any()
            assert f"{lost.sum()} of 4 seeds diverged." in finding.detail


def test_no_claim_holds_where_nothing_is_a_number():
    assert {finding.claim for finding in findings_of("no number") if any(finding.holds)} == set()


# Laying out figures takes long: only what could upset it.
@pytest.mark.parametrize(
    "odd",
    [
        pytest.param("one head on one lag", marks=pytest.mark.slow),
        "no number",
        pytest.param("diverged, start and end only", marks=pytest.mark.slow),
    ],
)
@each_experiment
def test_every_figure_can_be_drawn(odd, experiment):
    figures = find(experiment).draw(ODD[odd].results(experiment))
    assert figures
    for figure in figures.values():
        figure.draw_without_rendering()


OF_MATRICES = {
    "stages": {"overview", "figure-1"},
    "attention": {"figure-2", "heads"},
    "online": {"figure-6"},
    "reversed": {"figure-8"},
    "nonuniform": {"figure-14"},
    "overlapping": {"figure-16", "figure-17"},
    "sgd": {"figure-19"},
}


@pytest.mark.parametrize(
    "names",
    [
        pytest.param([*OF_MATRICES, "ladder", "flow"], id="those that have some, and two others"),
        pytest.param(NAMES, id="all", marks=pytest.mark.slow),
    ],
)
def test_figures_of_matrices_are_left_out_where_none_were_kept(names):
    def drawn(odd: str) -> dict[str, set[str]]:
        return {name: set(find(name).draw(ODD[odd].results(name))) for name in names}

    whole, without = drawn("nothing"), drawn("no attention matrices")
    assert {name: whole[name] - without[name] for name in names if whole[name] != without[name]} == OF_MATRICES


@pytest.mark.parametrize("steps, panels", [(2000, 4), (600, 4), (300, 3), (60, 2), (36, 2)])
def test_figure_2_shows_a_short_run_at_its_end_and_no_step_twice(steps, panels):
    results = made_results("attention")
    settings, trajectory = results["full"]
    short = settings.changed(training={"steps": steps})
    figure = find("attention").draw({**results, "full": (short, trajectory)})["figure-2"]
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles[0] == "$t = 0$"
    assert len(set(titles)) == len(titles) == panels


@pytest.mark.parametrize(
    "odd",
    [
        "one head on one lag",
        pytest.param("four single lags", marks=pytest.mark.slow),
        pytest.param("one seed", marks=pytest.mark.slow),
        pytest.param("every seed diverged", marks=pytest.mark.slow),
        "no number",
        pytest.param("no attention matrices", marks=pytest.mark.slow),
    ],
)
def test_page_and_document_can_be_written(odd, tmp_path):
    outcomes = [Outcome(find(name), name, "quick", _records(ODD[odd].results(name))) for name in NAMES]
    findings = all_findings(outcomes)
    write_report(outcomes, findings, tmp_path / "page.html", ["command"], {})
    data = embedded((tmp_path / "page.html").read_text())
    assert {(finding["claim"], finding["verdict"]) for finding in data["findings"]} == {
        (finding.claim, finding.verdict) for _, finding in findings
    }
    assert [run["label"] for run in data["runs"] if run["stages_from"] == "ladder"], "trained, and shown"
    write_markdown(outcomes, findings, tmp_path / "page.md", "command")
    document = (tmp_path / "page.md").read_text()
    assert all(document.count(f"**{claim}.** ") == 1 for claim in ALL)
    assert "| nan" not in document and "[nan" not in document


def _records(results: dict[str, tuple[Any, Trajectory]]) -> dict[str, Record]:
    """Runs as if they had been read from a disk."""
    return {
        name: _record(Cell(settings, trajectory.seeds), trajectory) for name, (settings, trajectory) in results.items()
    }


def _record(cell: Cell, trajectory: Trajectory) -> Record:
    record = Record(Path("nowhere"), cell.identity, cell, {}, trajectory.clock_of, {}, {})
    record.__dict__["trajectory"] = trajectory  # what would be read when it is first wanted
    return record
