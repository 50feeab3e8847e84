"""Intervals over seeds."""

import math

import numpy as np
import pytest

from headway.analysis import interval_over_seeds, over_seeds


def test_the_interval_of_a_mean_is_the_normal_one_for_many_seeds():
    values = np.random.default_rng(0).normal(10, 2, 400)
    low, high = interval_over_seeds(values, np.mean)
    error = values.std(ddof=1) / np.sqrt(400)
    assert low == pytest.approx(values.mean() - 1.96 * error, abs=0.2 * error)
    assert high == pytest.approx(values.mean() + 1.96 * error, abs=0.2 * error)


def test_the_median_of_a_known_distribution_is_covered_as_often_as_promised():
    rng = np.random.default_rng(0)
    covered = [low <= 1 <= high for low, high in (interval_over_seeds(rng.lognormal(size=12)) for _ in range(60))]
    assert 0.85 <= np.mean(covered) <= 1


def test_the_same_seeds_give_the_same_interval():
    assert interval_over_seeds([3.0, 5.0, 4.0, 9.0]) == interval_over_seeds([3.0, 5.0, 4.0, 9.0])


@pytest.mark.parametrize("seeds", range(3, 11))
def test_the_interval_of_a_median_is_to_the_last_bit_that_of_numpys_own(seeds):
    """It is found by sorting, which is quicker; a function that only calls NumPy's is taken as it is."""
    values = np.random.default_rng(seeds).lognormal(size=seeds)
    as_given = interval_over_seeds(values, lambda sample, axis=-1: np.median(sample, axis=axis))
    assert interval_over_seeds(values) == as_given


def test_a_smaller_confidence_gives_a_narrower_interval():
    values = np.arange(20.0)
    wide, narrow = interval_over_seeds(values), interval_over_seeds(values, confidence=0.5)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize("values", [[], [4.0], [math.nan, 4.0], [math.nan, math.inf]])
def test_fewer_than_two_seeds_have_no_interval(values):
    assert all(math.isnan(end) for end in interval_over_seeds(values))


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([7.0, 7.0, 7.0, 7.0], (7.0, 7.0)),
        ([7.0, 7.0], (7.0, 7.0)),
        ([9.0, 7.0], (7.0, 9.0)),
        ([9.0, math.nan, 7.0], (7.0, 9.0)),
    ],
)
def test_equal_values_and_two_values_are_their_own_interval(values, wanted):
    assert interval_over_seeds(values) == wanted


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [1.0, 1.0, 1.0, 2.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 5.0]])
def test_few_and_repeated_values_give_a_finite_interval_without_warnings(values):
    low, high = interval_over_seeds(values)
    assert min(values) <= low <= np.median(values) <= high <= max(values)


def test_seeds_without_a_value_are_counted():
    found = over_seeds([1.0, 2.0, math.nan, 4.0, math.inf])
    assert (found.median, found.seeds, found.missing) == (2.0, 3, 2)
    assert math.isnan(over_seeds([math.nan]).median)
