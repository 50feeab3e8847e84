"""Which learning rate is chosen, and from when on a rate has lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.training.pilots import best_rate, lost

RATES = (1e-4, 3e-4, 1e-3)
PLATEAUS = st.lists(st.lists(st.one_of(st.integers(1, 40), st.none()), min_size=2, max_size=2), min_size=3, max_size=3)


@pytest.mark.parametrize(
    ("plateaus", "wanted"),
    [
        ([[100, 100], [50, 60]], 3e-4),
        ([[100, 100], [20, np.nan]], 1e-4),  # more of its seeds learn
        ([[100, 100], [100, 100]], 1e-4),  # of equal ones the smaller
        ([[np.nan, np.nan], [np.nan, np.nan]], 1e-4),
        ([[1000, 10], [200, 200]], 1e-4),  # by the mean of logarithms, 100 and 200
    ],
)
def test_more_seeds_that_learn_come_first_then_shorter_plateaus_then_smaller_rates(plateaus, wanted):
    assert best_rate((1e-4, 3e-4), np.array(plateaus, float)) == wanted


@given(PLATEAUS)
def test_giving_up_what_has_lost_never_changes_the_choice(ends):
    """Every pilot ends at its own step or never; at each step those of rates that have lost stop."""
    whole = np.array([[np.nan if end is None else end for end in own] for own in ends], float)
    seen, running = np.full_like(whole, np.nan), np.ones(whole.shape, bool)
    for step in range(1, 41):
        now = running & (whole == step)
        seen[now], running[now] = step, False
        running[lost(RATES, seen, running, step)] = False
    assert best_rate(RATES, seen) == best_rate(RATES, whole)


def test_a_rate_has_lost_when_even_the_next_step_would_be_too_late_for_it():
    plateaus = np.array([[10, 10], [5, np.nan], [np.nan, np.nan]], float)
    running = np.isnan(plateaus)
    assert list(lost(RATES, plateaus, running, 12)) == [False, False, True]
    # By logarithms 5 and 19 are sooner than 10 and 10; 5 and 21 are not.
    assert list(lost(RATES, plateaus, running, 18)) == [False, False, True]
    assert list(lost(RATES, plateaus, running, 20)) == [False, True, True]


def test_nobody_has_lost_before_all_pilots_of_some_rate_have_learnt():
    plateaus = np.array([[10, np.nan], [np.nan, np.nan], [np.nan, np.nan]], float)
    assert not lost(RATES, plateaus, np.isnan(plateaus), 10_000).any()


def test_a_rate_one_of_whose_pilots_diverged_has_lost_to_one_with_which_all_learn():
    plateaus = np.array([[10, 10], [1, np.nan], [np.nan, np.nan]], float)
    running = np.array([[False, False], [False, False], [True, True]])
    assert list(lost(RATES, plateaus, running, 8)) == [False, True, False]
