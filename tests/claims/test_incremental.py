"""A15, A17, H1 and H2: learning stays incremental with two blocks, with overlap, and beyond the paper."""

from itertools import permutations

import numpy as np
import pytest
from tests.claims.exemplary import IN_ORDER, NEAR, REACHABLE, SETTINGS, combinations, lowest_at
from tests.claims.made import bottoming_at, climbing, made_run, made_settings

from headway.claims.clarity import first_stage_less_marked
from headway.claims.incremental import orders_in_words, staircase_survives, still_incremental
from headway.claims.ladder import distance_ratios
from headway.experiments.depth import H2
from headway.experiments.overlapping import A17
from headway.experiments.positions import H1
from headway.experiments.two_layers import A15

CLEAR, BLURRED = climbing(20, 150, 900), climbing(20, 150, 900, blur=0.25)


def two_against_one(two, one):
    return first_stage_less_marked(A15, made_run(SETTINGS, **two), made_run(SETTINGS, **one))


def test_the_first_stage_is_less_marked_if_its_plateau_is_less_clear():
    found = two_against_one(BLURRED, CLEAR)
    assert found.verdict == "holds"
    assert found.values[0] < -0.05
    turned = two_against_one(CLEAR, BLURRED)
    assert (turned.verdict, turned.parts) == ("fails", {"minima in order": 1, "less clear": 0})
    assert turned.values == pytest.approx((-found.values[0],))
    assert two_against_one(CLEAR, CLEAR).verdict == "fails", "as clear is not less clear"


def test_only_the_first_plateau_counts():
    """A second wait that is hardly one changes nothing."""
    short_second = climbing(20, 150, 300)
    assert two_against_one(short_second, CLEAR).values == pytest.approx((0,), abs=0.01)


def test_less_marked_is_not_enough_where_the_rungs_are_out_of_order():
    found = two_against_one(BLURRED | {"kl": BLURRED["kl"][:, [1, 0, 2]]}, CLEAR)
    assert (found.verdict, found.parts) == ("fails", {"minima in order": 0, "less clear": 0})


def overlapping(reachable=REACHABLE, kl=IN_ORDER, **measured):
    return still_incremental(A17, made_run(SETTINGS, kl=kl, stageless=reachable, **measured))


@pytest.mark.parametrize("order", list(permutations((1, 2, 3))))
def test_blocks_that_arrive_one_by_one_in_any_order_are_incremental(order):
    found = overlapping(subsets=combinations(order))
    assert found.verdict == "holds"
    assert found.values == pytest.approx((0.01,)), "it comes to 0.01 where confidence alone comes to 1"
    assert f"at whatever step: {' '.join(map(str, order))} (1 seeds)" in found.detail


def test_the_order_of_the_rungs_is_told_and_does_not_count():
    found = overlapping(subsets=combinations((1, 2, 3)), kl=bottoming_at(60, 10, 300))
    assert found.verdict == "holds"
    assert found.detail.endswith("KL to the rungs reaches its minima in order (A1) in 0 of 1 seeds.")


def only(combination: int, step: int, nearest: float = 0.01, truth: int = 300) -> np.ndarray:
    """KL to one partial predictor reaches its minimum at a step, to the truth at another; the others are far."""
    kl = np.full((len(lowest_at(0)), 8), 5.0)
    kl[:, combination] = lowest_at(step) - 0.01 + nearest
    kl[:, 7] = lowest_at(truth)
    return kl


@pytest.mark.parametrize("combination", range(1, 7))
def test_one_partial_predictor_that_is_approached_before_the_truth_is_enough(combination):
    assert overlapping(subsets=only(combination, 60)).verdict == "holds"


@pytest.mark.parametrize("step", [300, 600])
def test_one_that_is_approached_with_the_truth_or_after_it_is_not(step):
    """What is left are those that it never comes near to."""
    found = overlapping(subsets=only(2, step))
    assert (found.verdict, found.values) == ("fails", (5,))


def test_neither_nothing_nor_everything_is_a_part():
    """Combination 0 knows no block, 7 all of them."""
    reachable = (1, 1, 1, 1)
    assert overlapping(reachable, subsets=only(0, 10)).verdict == "fails"
    assert overlapping(reachable, subsets=only(7, 10)).verdict == "fails"


@pytest.mark.parametrize("combination, ratio", [(1, 2), (2, 2), (4, 2), (3, 0.5), (5, 0.5), (6, 0.5)])
def test_how_near_is_near_is_said_for_every_combination(combination, ratio):
    """KL of 0.1 to a combination, where confidence alone reaches 0.05 to those of one block and 0.2 to those of two."""
    found = overlapping((0, 0.05, 0.2, 0), subsets=only(combination, 60, nearest=0.1))
    assert found.values == pytest.approx((ratio,))
    assert found.holds == (ratio < 1,)


@pytest.mark.parametrize(
    "settings, measured",
    [
        (SETTINGS, {"kl": IN_ORDER}),
        (made_settings(blocks=((1, 2),)), {"kl": bottoming_at(10), "subsets": bottoming_at(10, 20)}),
    ],
    ids=["not measured", "one block"],
)
def test_without_combinations_there_is_no_verdict(settings, measured):
    found = still_incremental(A17, made_run(settings, stageless=REACHABLE, **measured))
    assert found.verdict == "not run"
    assert found.detail == "It needs the distances to every combination of two blocks or more."


def test_the_orders_are_told_the_most_frequent_first():
    _, trajectory = made_run(SETTINGS, range(5), subsets=combinations((1, 2, 3)))
    trajectory["kl_subsets"][1] = combinations((2, 1, 3))
    trajectory["kl_subsets"][4] = np.nan
    assert orders_in_words(trajectory) == "1 2 3 (3 seeds), 2 1 3 (1), unknown (1)"
    assert orders_in_words(made_run(SETTINGS, kl=IN_ORDER)[1]) == "(not measured)"


FAR = NEAR | {"stageless": (0, 1, 0.005, 0)}
BACKWARDS = NEAR | {"kl": bottoming_at(60, 10, 300)}
NAMES = ("learned", "rotary", "alibi")


@pytest.mark.parametrize("claim", [H1, H2], ids=lambda claim: claim.name)
@pytest.mark.parametrize("odd", [FAR, BACKWARDS], ids=["far from a rung", "out of order"])
def test_the_staircase_must_be_there_in_every_run(claim, odd):
    good = made_run(SETTINGS, **NEAR)
    assert staircase_survives(claim, good, good, good, names=NAMES).values == (3,)
    found = staircase_survives(claim, good, made_run(SETTINGS, **odd), good, names=NAMES)
    assert (found.claim, found.verdict, found.values) == (claim.name, "fails", (2,))
    assert found.parts == {"learned": 1, "rotary": 0, "alibi": 1}


def test_a_run_beside_is_told_of_and_does_not_count():
    good, beside = made_run(SETTINGS, **NEAR), made_run(SETTINGS, (0, 1, 2), **BACKWARDS)
    alone = staircase_survives(H1, good, names=("learned",))
    found = staircase_survives(H1, good, names=("learned",), beside={"none": beside})
    assert (found.holds, found.values, found.parts) == (alone.holds, alone.values, alone.parts)
    assert "not counted: with none both hold in 0 of 3 seeds" in found.detail and "none" not in alone.detail


def test_in_which_order_the_blocks_arrive_is_told_run_by_run():
    one, two = (made_run(SETTINGS, **NEAR, subsets=combinations(order)) for order in ((1, 2, 3), (1, 3, 2)))
    found = staircase_survives(H2, one, two, names=("1 layer", "2 layers"))
    assert "at whatever step, with 1 layer: 1 2 3 (1 seeds)" in found.detail
    assert "With 2 layers: 1 3 2 (1 seeds)" in found.detail


def test_how_near_each_rung_was_approached_is_told_run_by_run():
    near = made_run(SETTINGS, **NEAR)
    ratios = distance_ratios(near[1])
    told = ", ".join(f"{np.median(column):.2f} ({np.sum(column < 0.99)})" for column in ratios.T)
    found = staircase_survives(H2, near, near, names=("1 layer", "2 layers"))
    assert f"(medians; in brackets the seeds below 0.99): 1 layer {told}; 2 layers {told}." in found.detail
