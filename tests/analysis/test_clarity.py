"""How clearly the loss waits: made curves between one smooth descent and a staircase of flat plateaus."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.analysis import clarity
from headway.analysis.clarity import WINDOW
from headway.analysis.staircases import evaluation_times, made_staircase

TIMES = evaluation_times()
NONE = np.random.default_rng(0)
"""For curves without noise."""


def staircase(*steps: float, drops: tuple[float, ...] | None = None, **more) -> np.ndarray:
    """A loss that steps down at these times."""
    drops = (1.0,) * len(steps) if drops is None else drops
    return made_staircase(NONE, drops=drops, at=steps, **more).loss


def bottoming(*times: float, unit: np.ndarray = TIMES) -> np.ndarray:
    """KL to rungs 0, 1, .. lowest at time 0 and at these: (time, rung)."""
    return np.abs(np.log((unit[:, None] + 1) / (np.array([0.0, *times]) + 1)))


def test_a_staircase_of_flat_plateaus_is_as_clear_as_can_be():
    found = clarity(TIMES, staircase(20, 150, 900, blur=0.03), bottoming(50, 400, 2000))
    assert found.shape == (2,)
    np.testing.assert_allclose(found, 1, atol=0.01)


@pytest.mark.parametrize("ends", [(5, 300, 2000), (50, 400, 2000), (100, 150, 2000)])
def test_one_smooth_descent_has_no_plateau_wherever_rungs_cut_it(ends):
    """It speeds up and slows down once: no stretch between two peaks is slower than both."""
    for loss in (staircase(100, blur=0.5), 3 / (1 + TIMES / 100), 3 * np.exp(-TIMES / 150)):
        np.testing.assert_allclose(clarity(TIMES, loss, bottoming(*ends)), 0, atol=1e-9)


def test_the_more_blurred_the_drops_the_less_clear_is_the_wait_between_them():
    blurs = (0.05, 0.15, 0.25, 0.35, 0.45)
    found = np.array([clarity(TIMES, staircase(20, 150, 900, blur=blur), bottoming(50, 400, 2000)) for blur in blurs])
    assert (np.diff(found, axis=0) < 0).all()
    assert (found[0] > 0.97).all() and (found[-1] < 0.4).all()


def test_a_wait_is_compared_with_the_slower_of_its_two_drops():
    """A fall of 0.5 per unit of log-time runs through drops of heights 4, 1 and 4 that are far apart. Over a window w
    in log-time the middle one falls at the rate tanh(w / (4 blur)) / w, and in between nothing falls but by the 0.5."""
    blur, times = 0.2, np.geomspace(1, 1e6, 1200)
    loss = staircase(1e1, 1e3, 1e5, drops=(4, 1, 4), blur=blur, times=times) - 0.5 * np.log(times)
    found = clarity(times, loss, bottoming(1e2, 1e4, 1e6, unit=times))
    slower = np.tanh(WINDOW / (4 * blur)) / WINDOW
    np.testing.assert_allclose(found, 1 - 0.5 / (0.5 + slower), rtol=0.01)


def test_each_plateau_has_its_own_clarity_in_the_order_of_the_rungs():
    """A long wait and a short one."""
    first, second = clarity(TIMES, staircase(10, 200, 500, blur=0.2), bottoming(40, 320, 2000))
    assert first > 0.95 > 0.8 > second


def test_a_rise_is_a_wait():
    """Overfitting before the next drop: the lowest loss so far stands still."""
    loss = staircase(20, 900, blur=0.05) + 0.3 * np.exp(-((np.log(TIMES + 1) - np.log(150)) ** 2) / 0.1)
    np.testing.assert_allclose(clarity(TIMES, loss, bottoming(60, 2000)), 1, atol=0.01)


@pytest.mark.parametrize("place", [30, 60, 85])
def test_a_spike_that_is_made_good_again_is_no_drop(place):
    loss = staircase(100, blur=0.5)
    loss[place] += 1
    np.testing.assert_allclose(clarity(TIMES, loss, bottoming(50, 400, 2000)), 0, atol=0.1)


@pytest.mark.parametrize("bottoms", [(400, 50, 2000), (50, 2000, 400), (50, 50, 2000), (0, 400, 2000)])
def test_rungs_that_are_not_met_one_after_the_other_leave_it_unknown(bottoms):
    assert np.isnan(clarity(TIMES, staircase(20, 150, 900), bottoming(*bottoms))).tolist() == [True, True]


def test_a_loss_that_never_falls_has_nothing_to_wait_between():
    assert np.isnan(clarity(TIMES, np.ones(len(TIMES)), bottoming(50, 400, 2000))).all()


@pytest.mark.parametrize("unit", [1e-3, 0.1, 7.0, 1e4])
def test_the_unit_of_time_does_not_matter(unit):
    loss, kl = staircase(20, 150, 900, blur=0.25), bottoming(50, 400, 2000)
    np.testing.assert_allclose(clarity(TIMES * unit, loss, kl), clarity(TIMES, loss, kl), atol=1e-3)


@given(st.floats(0.1, 100), st.floats(-5, 5))
def test_the_unit_and_the_zero_of_the_loss_do_not_matter(scale, shift):
    loss, kl = staircase(20, 150, 900, blur=0.25), bottoming(50, 400, 2000)
    np.testing.assert_allclose(clarity(TIMES, scale * loss + shift, kl), clarity(TIMES, loss, kl), atol=1e-6)


def test_how_often_one_looks_hardly_matters():
    found = []
    for points in (60, 120, 400):
        times = evaluation_times(points=points)
        loss = staircase(20, 150, 900, blur=0.25, times=times)
        found.append(clarity(times, loss, bottoming(50, 400, 2000, unit=times)))
    np.testing.assert_allclose(found[0], found[2], atol=0.03)
    np.testing.assert_allclose(found[1], found[2], atol=0.02)


def test_missing_evaluations_are_left_out():
    loss, kl = staircase(20, 150, 900, blur=0.25), bottoming(50, 400, 2000)
    wanted = clarity(TIMES, loss, kl)
    loss[30], kl[60, 2] = np.nan, np.inf
    np.testing.assert_allclose(clarity(TIMES, loss, kl), wanted, atol=0.02)
    assert np.isnan(clarity(TIMES, np.full_like(loss, np.nan), kl)).all()


@pytest.mark.parametrize("rungs, plateaus", [(1, 0), (2, 1), (4, 3)])
def test_h_rungs_have_one_plateau_fewer(rungs, plateaus):
    ends = np.geomspace(20, 2000, rungs)
    assert clarity(TIMES, staircase(20, 150, 900), bottoming(*ends)).shape == (plateaus,)
