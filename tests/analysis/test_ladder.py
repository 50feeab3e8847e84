"""Where a model stands among known predictors."""

import numpy as np
import pytest

from headway.analysis import minima, nearest_rung, visits_in_order

TIMES = np.arange(0.0, 100.0, 2.0)


def valleys(*centres: float) -> np.ndarray:
    """KL curves (time, predictor) with their minima at these times, each 0 there."""
    return (TIMES[:, None] - np.array(centres)) ** 2 / 100


def test_minima_are_where_and_how_low():
    kl = valleys(10, 40, 80) + np.array([0.5, 0.25, 0.0])
    found = visits_in_order(TIMES, kl)
    np.testing.assert_array_equal(minima(TIMES, kl), [10, 40, 80])
    np.testing.assert_array_equal(minima(TIMES, np.stack([kl, kl[:, ::-1]])), [[10, 40, 80], [80, 40, 10]])
    assert (found.times, found.values) == ((10, 40, 80), pytest.approx((0.5, 0.25, 0.0)))


def test_a_model_that_passes_each_predictor_in_turn_visits_them_in_order():
    found = visits_in_order(TIMES, valleys(10, 40, 80))
    assert found
    assert found.times == (10, 40, 80)
    assert found.nearest == (True, True, True)


def test_minima_in_another_order_or_at_the_same_time_are_not_in_order():
    assert not visits_in_order(TIMES, valleys(40, 10, 80)).ordered
    assert not visits_in_order(TIMES, valleys(10, 40, 40)).ordered


def test_a_predictor_that_is_never_the_nearest_is_not_visited():
    found = visits_in_order(TIMES, valleys(10, 40, 80) + np.array([0, 20, 0]))
    assert found.ordered
    assert found.nearest == (True, False, True)
    assert not found


def test_missing_evaluations_are_left_out():
    kl = valleys(10, 40, 80)
    kl[TIMES == 40] = np.nan
    kl[TIMES > 90] = np.nan
    assert visits_in_order(TIMES, kl)
    nothing = visits_in_order(TIMES, np.full_like(kl, np.nan))
    assert not nothing
    assert np.isnan(nothing.times).all()


def test_the_nearest_rung_is_the_smallest_kl_for_any_leading_axes():
    kl = np.array([[[3.0, 1.0, 2.0], [0.5, 1.0, 0.5]], [[1.0, np.nan, 0.0], [9.0, 8.0, 7.0]]])
    np.testing.assert_array_equal(nearest_rung(kl), [[1, 0], [-1, 2]])


def test_several_seeds_at_once_are_refused_with_a_remedy():
    with pytest.raises(ValueError, match="one seed at a time"):
        visits_in_order(TIMES, np.zeros((len(TIMES), 2, 3)))
