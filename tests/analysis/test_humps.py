"""Humps of the speed of descent, of made curves whose drops are known."""

import numpy as np
import pytest

from headway.analysis.humps import humps
from headway.analysis.staircases import escape, made_staircase, sigmoid

TIMES = np.arange(0.0, 2001.0, 5.0)


@pytest.mark.parametrize("shape", [sigmoid, escape])
@pytest.mark.parametrize("noise", [0.0, 0.002, 0.005])
@pytest.mark.parametrize(("drops", "at"), [((2.4, 0.6, 0.3), (12, 110, 300)), ((2.0, 1.0), (10, 150)), ((2.0,), (20,))])
def test_as_many_humps_as_drops_each_where_the_loss_falls_fastest(shape, noise, drops, at):
    made = made_staircase(np.random.default_rng(0), drops=drops, at=at, blur=0.1, noise=noise, shape=shape, times=TIMES)
    found = humps(made.times, made.loss)
    assert found.count == len(drops)
    np.testing.assert_allclose(found.times, at, atol=6, rtol=0.1)
    assert all(0 <= dip <= 0.8 for dip in found.dips)


def speeds(*parts: tuple[float, float, float]) -> np.ndarray:
    """The loss whose speed of descent is a sum of Gaussians (height, middle, width), and of the start."""
    speed = sum(height * np.exp(-0.5 * ((TIMES - middle) / width) ** 2) for height, middle, width in parts)
    return 2 - np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(TIMES))])


@pytest.mark.parametrize("apart, count", [(140, 1), (190, 2), (300, 2)])
def test_humps_are_separated_by_a_dip_to_four_fifths_of_the_smaller(apart, count):
    """Two equal Gaussians of width 60: between them is 0.92, 0.57 and 0.09 of a peak, by their sum."""
    loss = speeds((0.001, 600, 60), (0.001, 600 + apart, 60))
    assert humps(TIMES, loss).count == count


def test_a_dip_is_told_relative_to_the_smaller_peak():
    found = humps(TIMES, speeds((0.002, 500, 60), (0.001, 800, 60)))
    one, other = (height * np.exp(-0.5 * ((TIMES - at) / 60) ** 2) for height, at in ((0.002, 500), (0.001, 800)))
    inside = (TIMES > 500) & (TIMES < 800)
    assert found.count == 2
    assert found.dips[0] == pytest.approx((one + other)[inside].min() / 0.001, abs=0.1)


def test_what_is_a_small_part_of_the_descent_or_a_rise_is_no_hump():
    once = speeds((0.002, 300, 60))
    assert humps(TIMES, once + 0.002 * np.sin(TIMES / 60)).count == 1
    assert humps(TIMES, once + 0.3 * np.maximum(TIMES - 900, 0) / 1000).count == 1


def test_a_flat_or_rising_curve_has_none():
    assert humps(TIMES, np.ones(len(TIMES))).count == 0
    assert humps(TIMES, np.linspace(1, 2, len(TIMES))).count == 0


def test_missing_values_are_left_out_and_several_seeds_refused():
    loss = speeds((0.002, 300, 60))
    loss[50:53] = np.nan
    assert humps(TIMES, loss).count == 1
    with pytest.raises(ValueError, match="one seed at a time"):
        humps(TIMES, np.stack([loss, loss], axis=1))
