"""A1 and A2: who meets simpler predictors in order, and near, and who does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims.made import TIMES, bottoming_at, made_settings, made_trajectory

from headway.claims.claim import steps_in_words
from headway.claims.ladder import meets_ngrams_in_order, meets_rungs_in_order, nearer_than_stageless
from headway.experiments.ladder import A1, A1_NEARER, A2

STEPS = st.sampled_from([int(step) for step in TIMES])


def test_seeds_whose_minima_come_one_after_the_other_pass_the_rungs_in_order():
    trajectory = made_trajectory(kl=[bottoming_at(10, 40, 160), bottoming_at(5, 60, 2000), bottoming_at(20, 60, 160)])
    found = meets_rungs_in_order(A1, (made_settings(), trajectory))
    assert found.verdict == "holds"
    assert found.holds == (True, True, True)
    assert found.detail == "Minima at steps 10, 60 and 160 (the end in 1 seed) (medians over seeds)."


@given(st.lists(STEPS, min_size=3, max_size=3))
def test_the_rungs_are_passed_in_order_exactly_if_the_steps_of_the_minima_increase(steps):
    found = meets_rungs_in_order(A1, (made_settings(), made_trajectory(kl=[bottoming_at(*steps)])))
    assert found.holds == (steps[0] < steps[1] < steps[2],)


def test_the_measured_ratio_is_that_of_the_two_nearest_minima():
    found = meets_rungs_in_order(A1, (made_settings(), made_trajectory(kl=[bottoming_at(10, 40, 100)])))
    assert found.values == pytest.approx((100 / 40,))
    backwards = meets_rungs_in_order(A1, (made_settings(), made_trajectory(kl=[bottoming_at(100, 40, 2000)])))
    assert backwards.values == pytest.approx((40 / 100,))


def test_a_bottom_at_step_0_gives_a_finite_ratio():
    found = meets_rungs_in_order(A1, (made_settings(), made_trajectory(kl=[bottoming_at(0, 40, 100)])))
    assert found.holds == (True,)
    assert np.isfinite(found.values).all()


def test_uniform_guessing_is_no_rung_to_meet():
    """KL to rung 0 may bottom whenever it likes."""
    trajectory = made_trajectory(kl=[bottoming_at(10, 40, 160)])
    trajectory["kl_rungs"][:, -1, 0] = -1
    assert meets_rungs_in_order(A1, (made_settings(), trajectory)).verdict == "holds"


def test_a_run_that_ends_while_it_approaches_a_lower_rung_is_told_so():
    trajectory = made_trajectory(kl=[bottoming_at(10, 2000, 2000), bottoming_at(10, 40, 160)])
    found = meets_rungs_in_order(A1, (made_settings(), trajectory))
    assert found.holds == (False, True)
    assert "Seeds that still approach an earlier rung at the last step: 1." in found.detail


def test_a_chain_of_one_block_has_no_order_to_show():
    found = meets_rungs_in_order(A1, (made_settings(blocks=((1, 2),)), made_trajectory(kl=[bottoming_at(10)])))
    assert (found.verdict, found.values, found.interval) == ("not run", (), None)
    assert found.detail == "The chain has one block, so there is only one rung."


def test_ngram_models_are_met_from_the_shortest_context_on_in_whichever_order_they_were_asked_for():
    settings = made_settings(references=(6, 2, 4))
    in_order = made_trajectory(against_ngrams=[bottoming_at(160, 10, 40)])
    assert meets_ngrams_in_order(A2, (settings, in_order)).verdict == "holds"
    as_listed = made_trajectory(against_ngrams=[bottoming_at(10, 40, 160)])
    assert meets_ngrams_in_order(A2, (settings, as_listed)).verdict == "fails"


@pytest.mark.parametrize("references", [(), (4,)])
def test_without_two_ngram_models_there_is_nothing_to_compare(references):
    models = [bottoming_at(*range(10, 10 + len(references)))] if references else None
    trajectory = made_trajectory(kl=[bottoming_at(10, 40, 160)], against_ngrams=models)
    found = meets_ngrams_in_order(A2, (made_settings(references=references), trajectory))
    assert found.verdict == "not run"
    assert found.detail == "No n-gram models were trained for this comparison."


@pytest.mark.parametrize(
    "reachable, ratio",
    [((0, 0.5, 0.2, 0), 0.05), ((0, 0.5, 0.01, 0), 1), ((0, 0.005, 0.2, 0), 2), ((0, 0.5, 0.2, 9), 0.05)],
    ids=["both nearer", "the second only as near", "the first not so near", "the truth does not count"],
)
def test_every_lower_rung_must_be_approached_nearer_than_by_confidence_alone(reachable, ratio):
    """The made seed comes to within 0.01 of every rung."""
    trajectory = made_trajectory(kl=[bottoming_at(10, 40, 160)], stageless=[reachable])
    found = nearer_than_stageless(A1_NEARER, (made_settings(), trajectory))
    assert found.values == pytest.approx((ratio,))
    assert found.holds == (ratio < 1,)


def test_how_near_counts_and_not_when():
    """Out of order is A1's matter."""
    trajectory = made_trajectory(kl=[bottoming_at(160, 40, 10)], stageless=[(0, 1, 1, 0)])
    assert nearer_than_stageless(A1_NEARER, (made_settings(), trajectory)).verdict == "holds"


def test_the_ratios_are_told_rung_by_rung():
    kl = bottoming_at(10, 40, 160) + np.array([0.09, 0.19, 0])
    trajectory = made_trajectory(kl=[kl] * 3, stageless=[(0, 0.2, 0.4, 0), (0, 0.4, 0.8, 0), (0, 1, 0.5, 0)])
    found = nearer_than_stageless(A1_NEARER, (made_settings(), trajectory))
    assert found.detail == "Rung by rung 0.25, 0.40 (medians over seeds)."
    assert found.values == pytest.approx((0.5, 0.25, 0.4))


def test_one_block_has_no_rung_below_the_truth_to_come_near_to():
    trajectory = made_trajectory(kl=[bottoming_at(10)], stageless=[(0, 0)])
    found = nearer_than_stageless(A1_NEARER, (made_settings(blocks=((1, 2),)), trajectory))
    assert (found.verdict, found.detail) == ("not run", "The chain has one block, so there is no rung below the truth.")


def test_a_run_that_does_not_say_how_near_confidence_alone_comes_gives_no_verdict():
    found = nearer_than_stageless(A1_NEARER, (made_settings(), made_trajectory(kl=[bottoming_at(10, 40, 160)])))
    assert found.verdict == "not run"
    assert "was not measured" in found.detail


def test_a_minimum_at_the_last_evaluation_is_marked_as_one_that_was_not_passed():
    """KL that still falls at the end has its minimum there, wherever it would be later."""
    steps = np.array([[10, 60, 300], [20, 60, 300], [30, 300, 300]])
    assert steps_in_words(steps, last=300.0) == "20, 60 (the end in 1 seed) and 300 (the end)"
    assert steps_in_words(steps) == "20, 60 and 300"
