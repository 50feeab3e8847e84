"""When curves pass a level."""

import numpy as np

from headway.analysis.crossings import at_end, ending_at, first_at_least, first_at_most, for_good, learnt_at
from headway.records import Trajectory

TIMES = np.array([0, 10, 20, 30])
NAN = np.nan


def test_first_times_are_those_of_the_evaluations_and_never_is_nan():
    values = np.array([[3.0, 2, 1, 0], [3, 3, 3, 3], [0, 3, 3, 3], [3, 1, NAN, NAN]])
    np.testing.assert_array_equal(first_at_most(TIMES, values, 1.0), [20, NAN, 0, 10])
    np.testing.assert_array_equal(first_at_least(TIMES, -values, -1.0), [20, NAN, 0, 10])


def test_curves_side_by_side_may_have_levels_of_their_own():
    values = np.array([[3.0, 2, 1, 0], [3, 3, 3, 3]])
    both = first_at_most(TIMES, np.stack([values, values], axis=2), np.array([1.0, 3.0]))
    np.testing.assert_array_equal(both, [[20, 0], [NAN, 0]])


def test_for_good_is_behind_the_last_time_below():
    values = np.array([[5.0, 0, 5, 5], [5, 5, 5, 5], [0, 5, 5, 0], [0, 5, NAN, NAN], [NAN, NAN, NAN, NAN]])
    np.testing.assert_array_equal(for_good(TIMES, values, 5.0), [20, 0, NAN, 10, NAN])


def test_the_end_is_the_last_number():
    values = np.array([[1.0, 2, 3, 4], [1, 2, NAN, NAN], [NAN, NAN, NAN, NAN]])
    np.testing.assert_array_equal(at_end(values), [4, 2, NAN])
    np.testing.assert_array_equal(at_end(np.stack([values, values + 1], axis=2)), [[4, 5], [2, 3], [NAN, NAN]])


def test_between_evaluations_a_line_meets_the_level():
    values = np.array([[3.0, 2, 0, 0], [0.5, 2, 2, 2], [3, 3, 3, 3]])
    np.testing.assert_allclose(first_at_most(TIMES, values, 1.0, between=True), [15, 0, NAN])
    own = first_at_most(TIMES, values, np.array([[1.0], [0.4], [3.0]]), between=True)
    np.testing.assert_allclose(own, [15, NAN, 0])
    np.testing.assert_allclose(for_good(TIMES, -values, -1.0, between=True), [15, NAN, NAN])


def test_a_plateau_may_be_taken_to_end_at_another_loss():
    losses = np.array([[0.5, 0.4, 0.2, 0.1], [0.5, 0.5, 0.5, 0.5]])
    run = Trajectory((0, 1), {"evaluation": TIMES}, {"loss": losses}, {"loss": "evaluation"}, {"entropy": np.ones(2)})
    np.testing.assert_array_equal(learnt_at(run, 0.1), [30, NAN])
    np.testing.assert_array_equal(ending_at(run, 0.3).facts["plateau"], [20, NAN])
    assert ending_at(run, 0.3).facts["entropy"].tolist() == [1, 1]
