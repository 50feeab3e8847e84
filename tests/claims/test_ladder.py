"""A1 and A2: who meets simpler predictors in order, and who does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims.made import TIMES, bottoming_at, made_settings, made_trajectory

from headway.claims import meets_ngrams_in_order, meets_rungs_in_order

STEPS = st.sampled_from([int(step) for step in TIMES])


def test_seeds_whose_bottoms_come_one_after_the_other_meet_the_rungs_in_order():
    trajectory = made_trajectory(kl=[bottoming_at(10, 40, 160), bottoming_at(5, 60, 2000), bottoming_at(20, 60, 160)])
    found = meets_rungs_in_order(made_settings(), trajectory)
    assert found.verdict == "holds"
    assert found.holds == (True, True, True)
    assert found.detail == "Bottoms at steps 10, 60 and 160 (medians over seeds)."


@given(st.lists(STEPS, min_size=3, max_size=3))
def test_the_rungs_are_met_in_order_exactly_if_the_steps_of_the_bottoms_increase(steps):
    found = meets_rungs_in_order(made_settings(), made_trajectory(kl=[bottoming_at(*steps)]))
    assert found.holds == (steps[0] < steps[1] < steps[2],)


def test_the_measured_ratio_is_that_of_the_two_nearest_bottoms():
    found = meets_rungs_in_order(made_settings(), made_trajectory(kl=[bottoming_at(10, 40, 100)]))
    assert found.values == pytest.approx((100 / 40,))
    backwards = meets_rungs_in_order(made_settings(), made_trajectory(kl=[bottoming_at(100, 40, 2000)]))
    assert backwards.values == pytest.approx((40 / 100,))


def test_a_bottom_at_step_0_gives_a_finite_ratio():
    found = meets_rungs_in_order(made_settings(), made_trajectory(kl=[bottoming_at(0, 40, 100)]))
    assert found.holds == (True,)
    assert np.isfinite(found.values).all()


def test_uniform_guessing_is_no_rung_to_meet():
    """KL to rung 0 may bottom whenever it likes."""
    trajectory = made_trajectory(kl=[bottoming_at(10, 40, 160)])
    trajectory["kl_rungs"][:, -1, 0] = -1
    assert meets_rungs_in_order(made_settings(), trajectory).verdict == "holds"


def test_a_run_that_ends_while_it_approaches_a_lower_rung_is_told_so():
    trajectory = made_trajectory(kl=[bottoming_at(10, 2000, 2000), bottoming_at(10, 40, 160)])
    found = meets_rungs_in_order(made_settings(), trajectory)
    assert found.holds == (False, True)
    assert "Seeds that still approach an earlier rung at the last step: 1." in found.detail


def test_a_chain_of_one_block_has_no_order_to_show():
    found = meets_rungs_in_order(made_settings(blocks=((1, 2),)), made_trajectory(kl=[bottoming_at(10)]))
    assert (found.verdict, found.values, found.interval) == ("not run", (), None)
    assert found.detail == "The chain has one block, so there is one rung only."


def test_ngram_models_are_met_from_the_shortest_context_on_in_whichever_order_they_were_asked_for():
    settings = made_settings(references=(6, 2, 4))
    in_order = made_trajectory(against_ngrams=[bottoming_at(160, 10, 40)])
    assert meets_ngrams_in_order(settings, in_order).verdict == "holds"
    as_listed = made_trajectory(against_ngrams=[bottoming_at(10, 40, 160)])
    assert meets_ngrams_in_order(settings, as_listed).verdict == "fails"


@pytest.mark.parametrize("references", [(), (4,)])
def test_without_two_ngram_models_there_is_nothing_to_compare(references):
    models = [bottoming_at(*range(10, 10 + len(references)))] if references else None
    trajectory = made_trajectory(kl=[bottoming_at(10, 40, 160)], against_ngrams=models)
    found = meets_ngrams_in_order(made_settings(references=references), trajectory)
    assert found.verdict == "not run"
    assert found.detail == "No n-gram models were trained for this comparison."
