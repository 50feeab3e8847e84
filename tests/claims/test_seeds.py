"""From seeds to a verdict: the rule, diverged seeds, missing runs, intervals, and numbers that are none."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims.exemplary import EXAMPLES
from tests.claims.made import bottoming_at, made_run, made_settings, made_trajectory

from headway.claims.claim import Claim, where_known
from headway.claims.ladder import meets_rungs_in_order
from headway.experiments import NAMES, find
from headway.experiments.ladder import A1
from headway.records import Finding, Trajectory

SETTINGS = made_settings()
each_claim = pytest.mark.parametrize("claim", EXAMPLES)
SHORTER = {"kl_rungs": 2, "kl_stageless": 2, "kl_subsets": 2, "kl_stageless_subsets": 2}
"""What is left of the arrays where there is one block."""
FLOWS = {"flow", "regression", "overlay", "stage-times", "third-stage", "flow-decay"}
"""Claims about flows are shown and refuted in tests of their own, and so are those of paper B."""
ON_CHAINS = [name for name in NAMES[: NAMES.index("toy")] if name not in FLOWS]
EACH_RUN = [(claim, number) for claim, example in EXAMPLES.items() for number in range(len(example.seeds))]
each_run = pytest.mark.parametrize("claim, number", EACH_RUN)


def told() -> dict[str, Claim]:
    """Every claim of every experiment, by where it stands."""
    return {f"{name}: {claim.name}": claim for name in NAMES for claim in find(name).claims}


def test_every_claim_about_trainings_on_chains_has_an_example_that_shows_it():
    here = {claim.name for name in ON_CHAINS for claim in find(name).claims}
    assert EXAMPLES.keys() <= here
    named = [{name.split()[0] for name in names} for names in (here, EXAMPLES)]
    assert named[0] == named[1], "one of another run, such as A4 minimal, is judged as A4 is"


@pytest.mark.parametrize("place", told())
def test_the_words_of_a_claim_are_whole_sentences(place):
    """They are joined from pieces of source lines: none runs into the next or leaves a gap."""
    claim = told()[place]
    for text in (claim.statement, claim.definition):
        assert text[0].isupper() and text[-1] in ".)"
    for text in (claim.name, claim.statement, claim.definition, claim.quantity):
        assert text == re.sub(r"\s+", " ", text).strip()
        assert not re.search(r"[a-z][.;][a-zA-Z]", re.sub(r"\w+\.md", "", text))


def of(holds: list[bool | None]) -> Finding:
    return Finding("A", "", "", "", tuple(range(len(holds))), (0.0,) * len(holds), tuple(holds))


@given(st.lists(st.booleans(), max_size=9))
def test_a_claim_holds_in_all_seeds_partly_in_half_and_fails_in_fewer(holds):
    wanted = "holds" if all(holds) else "partly" if 2 * sum(holds) >= len(holds) else "fails"
    assert of(holds).verdict == (wanted if holds else "not run")


@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=9))
def test_a_seed_that_cannot_be_judged_never_improves_a_verdict(holds):
    """It holds, or holds partly, exactly where it would if such seeds had failed; it fails only where one did."""
    found, strict = of(holds), of([bool(each) for each in holds])
    assert found.held == strict.held and found.unjudged == holds.count(None)
    if found.verdict != "cannot be judged":
        assert found.verdict == strict.verdict
    else:
        assert strict.verdict == "fails" and False not in holds


def test_a_finding_says_in_how_many_seeds_it_cannot_be_judged():
    assert of([True, True, None]).summary == "partly 2/3, 1 cannot be judged"
    assert of([False, None]).summary == "fails 0/2, 1 cannot be judged"
    assert (of([None, None]).summary, of([None, None]).counts) == (
        "cannot be judged, 0/2 hold",
        "0/2 hold, 2 cannot be judged",
    )
    assert (of([False, True]).summary, of([]).summary) == ("partly 1/2", "not run")


def test_a_seed_without_a_number_cannot_be_judged_unless_a_part_is_false_or_it_diverged():
    example = EXAMPLES["A1"]
    claim = Claim("X1", "Says.", "Defined.", "measured")
    runs, number = example.runs(diverged={0: {2: 40}}), np.array([np.nan, np.inf, np.nan])
    assert claim.finding(runs, number, number < 1).holds == (None, False, False), "what never happens fails"
    decided = {"one": np.array([False, True, True]), "other": where_known(np.array([False] * 3), number)}
    assert claim.all_of(runs, decided, values=number).holds == (False, False, False)
    open_ = {"one": np.array([True, True, True]), "other": where_known(np.array([False] * 3), number)}
    found = claim.all_of(runs, open_, values=number)
    assert found.holds == (None, False, False) and found.parts == {"one": 2, "other": 0}


@each_claim
def test_exemplary_seeds_show_every_claim_and_the_finding_says_what_was_measured(claim):
    example = EXAMPLES[claim]
    found = example.judge(*example.runs())
    assert found.claim == claim
    assert found.verdict == "holds"
    assert found.seeds == (0, 1, 2)
    assert len(found.values) == 3
    assert found.interval == pytest.approx((found.values[0], found.values[0])), "equal seeds leave no doubt"
    assert set(found.parts.values()) <= {3}
    assert found.statement and found.definition and found.quantity


@each_run
def test_without_one_of_its_runs_a_claim_is_not_run(claim, number):
    example = EXAMPLES[claim]
    runs = example.runs()
    runs[number] = None
    found = example.judge(*runs)
    assert (found.verdict, found.claim, found.seeds, found.values, found.interval) == ("not run", claim, (), (), None)
    assert found.detail == "A run that it needs has not been made."
    assert found.statement and found.definition and found.quantity


@each_run
def test_a_seed_that_diverged_in_any_run_shows_nothing_however_good_it_looks(claim, number):
    example = EXAMPLES[claim]
    found = example.judge(*example.runs(diverged={number: {1: 40}}))
    assert found.verdict == "partly"
    assert found.holds == (True, False, True)
    assert [math.isnan(value) for value in found.values] == [False, True, False]
    assert found.detail.endswith("1 of 3 seeds diverged.")
    assert set(found.parts.values()) <= {2}


@each_claim
def test_when_every_seed_diverged_the_claim_fails_and_has_no_interval(claim):
    example = EXAMPLES[claim]
    found = example.judge(*example.runs(diverged={0: {0: 40, 1: 40, 2: 40}}))
    assert (found.verdict, found.interval) == ("fails", None)
    assert set(found.parts.values()) <= {0}


@each_claim
def test_numbers_that_are_none_show_nothing_and_stop_nobody(claim):
    example = EXAMPLES[claim]
    runs = example.runs()
    for _, trajectory in runs:
        for values in trajectory.arrays.values():
            values[1] = np.nan
    assert [bool(each) for each in example.judge(*runs).holds] == [True, False, True]
    for _, trajectory in runs:
        for values in trajectory.arrays.values():
            values[:] = np.nan
    assert example.judge(*runs).verdict in ("fails", "cannot be judged")


@each_claim
def test_one_seed_does_not_tell_how_much_seeds_differ(claim):
    example = EXAMPLES[claim]
    found = example.judge(*example.runs(seeds=(0,)))
    assert (found.verdict, found.interval) == ("holds", None)


@pytest.mark.parametrize("claim", [claim for claim, example in EXAMPLES.items() if len(example.seeds) > 1])
def test_runs_are_compared_by_seed_and_only_where_they_share_one(claim):
    """Where the first run has seed 0, the others have seed 7, which measured nothing; their seed 2 diverged."""
    example = EXAMPLES[claim]
    diverged = {number: {2: 40} for number in range(len(example.seeds))}
    first, others = example.runs()[0], example.runs(seeds=(7, 0, 2), diverged=diverged)[1:]
    for _, trajectory in others:
        for values in trajectory.arrays.values():
            values[0] = np.nan
    found = example.judge(first, *others)
    assert found.seeds == (0, 2)
    assert found.holds == (True, False)


@pytest.mark.parametrize("claim", [claim for claim, example in EXAMPLES.items() if len(example.seeds) > 1])
def test_runs_that_share_no_seed_give_no_verdict(claim):
    example = EXAMPLES[claim]
    found = example.judge(example.runs()[0], *example.runs(seeds=(5, 6))[1:])
    assert (found.verdict, found.detail) == ("not run", "The runs share no seed.")


@pytest.mark.parametrize(
    "claim", ["A1", "A1 nearer", "A4", "A6", "A7", "A11", "A12", "A15", "A17", "A18", "A19", "H1", "H2", "H3"]
)
def test_a_chain_of_one_block_has_no_stairs_to_speak_about(claim):
    example = EXAMPLES[claim]
    runs = [
        (
            settings.changed(task={"blocks": ((1, 2),)}),
            replace(
                trajectory,
                arrays={name: values[..., : SHORTER.get(name)] for name, values in trajectory.arrays.items()},
                facts={name: values[..., : SHORTER.get(name)] for name, values in trajectory.facts.items()},
            ),
        )
        for settings, trajectory in example.runs()
    ]
    found = example.judge(*runs)
    assert found.verdict == "not run"
    assert found.detail


def test_the_interval_lies_among_the_seeds_values_and_holds_their_median():
    seconds = (20, 40, 60, 100, 160)
    trajectory = made_trajectory(kl=[bottoming_at(10, second, 2000) for second in seconds])
    found = meets_rungs_in_order(A1, (SETTINGS, trajectory))
    assert found.interval is not None
    low, high = found.interval
    assert min(found.values) <= low <= np.median(found.values) <= high <= max(found.values)
    assert low < high


def test_a_run_that_says_nothing_about_divergence_did_not_diverge():
    _, trajectory = made_run(SETTINGS, kl=bottoming_at(10, 60, 300))
    silent = Trajectory(trajectory.seeds, trajectory.clocks, trajectory.arrays, trajectory.clock_of)
    assert meets_rungs_in_order(A1, (SETTINGS, silent)).verdict == "holds"
