"""The plane of the next head: the curve where it rests, the region, and the heads of a whole flow on it."""

import numpy as np
import pytest
from tests.report.figures.drawn import named
from tests.report.made_flow import made_flow
from tests.report.made_portrait import SETTINGS, made_portrait

from headway.report.figures.portrait import figure_portrait
from headway.settings import PortraitSettings

ONCE = PortraitSettings(projections=1, points=6)


def test_every_orbit_is_drawn_and_the_curve_is_named():
    made = made_portrait()
    (axes,) = figure_portrait(SETTINGS, made).axes
    orbits = [line for line in axes.get_lines() if line.get_label() == "_orbit"]
    np.testing.assert_allclose([line.get_xydata() for line in orbits], made["orbits"][0].swapaxes(0, 1))
    np.testing.assert_allclose(named(axes)["$xy = m_{2}$: at rest"].get_xydata(), made.facts["rest"][0])
    assert axes.get_xlim() == pytest.approx((-1.7, 2.5 * 1.7)) and axes.get_ylim() == (0, 1)


@pytest.mark.parametrize("settings", [SETTINGS, ONCE])
def test_the_curve_of_lost_heads_is_there_with_one_projection_only(settings):
    (axes,) = figure_portrait(settings, made_portrait(settings)).axes
    assert ("left of it and below: never learns" in named(axes)) == (settings.projections == 1)


def test_the_head_that_ends_at_the_next_position_is_drawn_for_every_seed():
    flow = made_flow(seeds=(0, 1, 2))
    (axes,) = figure_portrait(SETTINGS, made_portrait(), flow).axes
    heads = [line for line in axes.get_lines() if "head" in line.get_label()]
    assert len(heads) == 3
    np.testing.assert_allclose(heads[1].get_xdata(), flow["values"][1, :, 1, 1])
    np.testing.assert_allclose(heads[1].get_ydata(), flow["attention"][1, :, 1, 1])
