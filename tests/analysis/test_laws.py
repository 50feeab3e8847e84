"""One line a seed."""

import numpy as np
import pytest

from headway.analysis.laws import lines, slopes


def test_a_line_is_found_whatever_is_missing():
    x = np.array([0.0, 1.0, 2.0, 5.0])
    values = np.stack([2 + 3 * x, 1 - x])
    values[0, 2] = np.inf
    values[1, 0] = np.nan
    slope, height = lines(x, values)
    assert slope == pytest.approx([3, -1]) and height == pytest.approx([2, 1])


def test_it_is_the_line_of_least_squares():
    rng = np.random.default_rng(0)
    x, values = rng.standard_normal(9), rng.standard_normal((4, 9))
    assert slopes(x, values) == pytest.approx(np.polyfit(x, values.T, 1)[0])


def test_two_different_places_are_needed():
    values = np.array([[1.0, np.nan, 3.0], [np.nan] * 3, [1.0, 2.0, np.nan]])
    slope, _ = lines([2.0, 2.0, 4.0], values)
    assert slope[0] == 1 and np.isnan(slope[1:]).all()
