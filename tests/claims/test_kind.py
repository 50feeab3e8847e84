"""A6, A11, A12, A18 and A19: the same in kind, seed by seed."""

import numpy as np
import pytest
from tests.claims.exemplary import IN_ORDER, OFTEN_SHARED, SETTINGS, SHARED
from tests.claims.made import OFTEN, bottoming_at, climbing, heads_on, made_run, made_settings, made_trajectory

from headway.claims.clarity import clarity_in_words, same_and_clearer
from headway.claims.kind import same_in_kind
from headway.experiments.ablations import A19
from headway.experiments.ladder import A6
from headway.experiments.online import A11
from headway.experiments.reversed import A12
from headway.experiments.sgd import A18

NOT_IN_ORDER = bottoming_at(60, 10, 300)
CROWDED = heads_on({0: None, 10: [(1, 0, 0)] * 3}, SETTINGS)
BOTH = ("full", "minimal")


def run(*seeds, kl=None, attention=None):
    kl, attention = kl or [IN_ORDER] * len(seeds), attention or [SHARED] * len(seeds)
    return SETTINGS, made_trajectory(seeds, kl=kl, attention=attention)


def test_two_models_that_both_learn_in_order_and_share_the_blocks_are_the_same_in_kind():
    found = same_in_kind(A6, run(0, 1), run(0, 1), names=BOTH)
    assert found.verdict == "holds"
    assert found.values == (4, 4)


@pytest.mark.parametrize(
    "full, minimal, missing",
    [
        (run(0, kl=[NOT_IN_ORDER]), run(0), "full: minima in order"),
        (run(0, attention=[CROWDED]), run(0), "full: compete, then cooperate"),
        (run(0), run(0, kl=[NOT_IN_ORDER]), "minimal: minima in order"),
        (run(0), run(0, attention=[CROWDED]), "minimal: compete, then cooperate"),
    ],
)
def test_one_of_four_parts_that_fails_is_named(full, minimal, missing):
    found = same_in_kind(A6, full, minimal, names=BOTH)
    assert found.verdict == "fails"
    assert found.values == (3,)
    assert [part for part, count in found.parts.items() if count == 0] == [missing]


@pytest.mark.parametrize("claim", [A11, A18], ids=lambda claim: claim.name)
def test_one_run_must_have_both_traits(claim):
    seeds = run(0, 1, 2, kl=[IN_ORDER, NOT_IN_ORDER, IN_ORDER], attention=[SHARED, SHARED, CROWDED])
    found = same_in_kind(claim, seeds)
    assert found.claim == claim.name
    assert found.holds == (True, False, False)
    assert found.values == (2, 1, 1)
    assert found.parts == {"minima in order": 2, "compete, then cooperate": 2}


def test_models_are_compared_by_seed_and_not_by_place():
    full = run(0, 1, 2, kl=[NOT_IN_ORDER, IN_ORDER, IN_ORDER])
    minimal = run(2, 0, kl=[IN_ORDER, NOT_IN_ORDER])
    found = same_in_kind(A6, full, minimal, names=BOTH)
    assert found.seeds == (0, 2)
    assert found.holds == (False, True)
    assert found.values == (2, 4)


PREDICATES = {
    "A6": lambda odd: same_in_kind(A6, odd, odd, names=BOTH),
    "A11": lambda odd: same_in_kind(A11, odd),
    "A12": lambda odd: same_and_clearer(A12, run(0), odd),
    "A12, reversed": lambda odd: same_and_clearer(A12, odd, run(0)),
    "A19": lambda odd: same_in_kind(A19, run(0), odd, names=("without norm", "without key"), run_by_run=True),
}


@pytest.mark.parametrize("claim", PREDICATES)
@pytest.mark.parametrize("heads, blocks", [(1, ((1, 2), (3, 4), (5, 6))), (3, ((1, 2),))])
def test_a_comparison_whose_parts_do_not_apply_gives_no_verdict(claim, heads, blocks):
    settings = made_settings(heads, blocks)
    kl = [bottoming_at(*(10, 60, 300)[: len(blocks)])]
    found = PREDICATES[claim]((settings, made_trajectory(kl=kl, attention=[heads_on({0: None}, settings)])))
    assert found.verdict == "not run"
    assert found.detail


def test_a_component_matters_if_either_trait_is_lost_without_it():
    runs = [run(0, 1), run(0, 1, kl=[IN_ORDER, NOT_IN_ORDER]), run(0, 1, attention=[CROWDED, SHARED])]
    found = same_in_kind(A19, *runs, names=("without norm", "without key", "without MLP"), run_by_run=True)
    assert found.holds == (False, False)
    assert found.values == (2, 2)
    assert found.parts == {"without norm": 2, "without key": 1, "without MLP": 1}
    assert (
        same_in_kind(A19, runs[0], runs[0], names=("without norm", "without key"), run_by_run=True).verdict == "holds"
    )


def staircase(blur: float = 0.1, steps=(20, 150, 900), **changes):
    return made_run(SETTINGS, **climbing(*steps, blur=blur) | {"attention": OFTEN_SHARED} | changes)


def test_the_reversed_order_is_easier_to_see_if_its_least_clear_plateau_is_clearer():
    clear, blurred = staircase(), staircase(blur=0.25)
    found = same_and_clearer(A12, clear, blurred)
    assert found.verdict == "holds"
    assert found.values[0] > 0.1
    turned = same_and_clearer(A12, blurred, clear)
    assert turned.verdict == "fails"
    assert turned.values == pytest.approx((-found.values[0],))
    assert turned.parts == {"minima in order": 1, "compete, then cooperate": 1, "clearer": 0}
    assert same_and_clearer(A12, clear, clear).verdict == "fails", "as clear is not clearer"


def test_only_the_least_clear_of_the_plateaus_is_compared():
    """A short wait, then a long one, are seen no better than two short ones; two long ones are."""
    short, mixed, long = (staircase(0.25, steps) for steps in ((20, 60, 180), (20, 60, 900), (5, 60, 900)))
    assert abs(same_and_clearer(A12, mixed, short).values[0]) < 0.02
    assert same_and_clearer(A12, long, short).values[0] > 0.3


@pytest.mark.parametrize(
    "changed, missing",
    [
        (staircase(kl=climbing(20, 150, 900)["kl"][:, [1, 0, 2]]), {"minima in order", "clearer"}),
        (staircase(attention=heads_on({0: None}, SETTINGS, OFTEN)), {"compete, then cooperate"}),
    ],
    ids=["out of order", "heads that never choose"],
)
def test_easier_to_see_is_not_enough(changed, missing):
    found = same_and_clearer(A12, changed, staircase(blur=0.25))
    assert found.verdict == "fails"
    assert {part for part, count in found.parts.items() if count == 0} == missing


def test_over_which_seeds_a_clarity_is_the_median_is_stated():
    usual, all_known = np.array([0.6, 0.6, 0.7]), np.array([0.9, 0.8, 0.0])
    assert clarity_in_words(all_known, usual).startswith("Clarity 0.80 against 0.60 (medians over seeds). It is 0")
    words = clarity_in_words(np.array([np.nan, np.nan, 0.0]), usual)
    assert words.startswith("Clarity 0.00 (median of the 1 seeds in which it can be read) against 0.60 (of 3); the ")
    assert words.endswith("is measured in 1 of 3 seeds. It is 0, no pause at all, in 1 of those 1 seeds.")
    assert clarity_in_words(np.full(3, np.nan), usual) == "No seed has all plateaus in both runs."
