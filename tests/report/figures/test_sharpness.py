"""The hand-made solution's loss, down to what single precision can tell."""

import numpy as np
import pytest
from tests.report.figures.drawn import words

from headway.records import Trajectory
from headway.report.figures import figure_sharpness


def made(excess: np.ndarray, sharpness: np.ndarray) -> Trajectory:
    arrays = {"excess_loss": excess.astype(np.float32)}
    return Trajectory(tuple(range(len(excess))), {"sharpness": sharpness}, arrays, {"excess_loss": "sharpness"})


def test_the_loss_is_drawn_on_a_logarithmic_axis_with_a_line_for_each_seed():
    excess = np.outer([1.0, 2.0, 4.0], np.exp(-np.arange(6.0)))
    (axes,) = figure_sharpness(made(excess, np.arange(6.0))).axes
    *seeds, median = axes.get_lines()
    assert axes.get_yscale() == "log"
    np.testing.assert_allclose([line.get_ydata() for line in seeds], excess, rtol=1e-6)
    np.testing.assert_allclose(median.get_ydata(), excess[1], rtol=1e-6)
    low, high = axes.get_ylim()
    assert low < excess.min() and high > excess.max()
    assert not axes.texts


def test_what_rounding_decides_is_drawn_at_a_millionth_and_said_to_be():
    excess = np.array([[1.0, 1e-3, 3e-8, -2e-7, 0.0]])
    (axes,) = figure_sharpness(made(excess, np.array([0.0, 4.0, 8.0, 12.0, 16.0]))).axes
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), [1.0, 1e-3, 1e-6, 1e-6, 1e-6], rtol=1e-6)
    assert axes.get_ylim()[0] < 1e-6
    assert words(axes) == ["at most $10^{-6}$: rounding"]


@pytest.mark.parametrize("excess", [np.full((3, 4), np.nan), np.full((2, 4), -1.0), np.ones((2, 1))])
def test_odd_numbers_break_nothing(excess):
    figure_sharpness(made(excess, np.arange(excess.shape[1], dtype=float))).draw_without_rendering()
