"""Figure 10: attention and values head by head, the loss in parts."""

import dataclasses

import numpy as np
import pytest
from tests.report.figures.drawn import words
from tests.report.made_flow import SETTINGS, made_flow

from headway.report.colours import INK, head_colours
from headway.report.figures.flow import by_position, figure_flow, typical_seed
from headway.settings import FlowSettings

SEEDS = (0, 1, 2)
BLUE, YELLOW, GREEN = head_colours(3)


def thick(axes, colour):
    """The numbers of the typical seed's solid lines in a colour."""
    return [line.get_ydata() for line in axes.get_lines() if line.get_color() == colour and line.get_linewidth() == 1.5]


@pytest.fixture(scope="module")
def made():
    return made_flow(seeds=SEEDS)


def test_every_position_and_feature_has_a_panel_and_the_loss_one_below(made):
    figure = figure_flow(SETTINGS, made)
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == [*(f"position {k}" for k in (1, 2, 3)), *(f"feature {k}" for k in (1, 2, 3)), ""]
    assert all(axes.get_xscale() == "log" for axes in figure.axes)
    for place in range(3):
        for head, colour in enumerate((BLUE, YELLOW, GREEN)):
            (line,) = thick(figure.axes[place], colour)
            np.testing.assert_array_equal(line, made["attention"][1, 1:, head, place])
            (line,) = thick(figure.axes[3 + place], colour)
            np.testing.assert_array_equal(line, made["values"][1, 1:, head, place])
    low, high = figure.axes[5].get_ylim()
    assert low < made["values"].min() < 0 and high > made["values"].max(), "an offset must not be cut off"


def test_the_loss_has_the_parts_of_features_in_their_heads_colours_and_its_plateaus(made):
    below = figure_flow(SETTINGS, made).axes[-1]
    for feature, colour in enumerate((BLUE, YELLOW, GREEN)):
        np.testing.assert_array_equal(thick(below, colour), made["loss_parts"][1:2, 1:, feature, feature])
    np.testing.assert_array_equal(thick(below, INK), made["loss"][1:2, 1:])
    assert words(below) == ["start", "stage 1", "stage 2", "stage 3", "$L_0$", "$L_1$", "$L_2$"]
    levels = [line.get_ydata()[0] for line in below.get_lines() if list(line.get_xdata()) == [0, 1]]
    assert levels == pytest.approx([0.5 * (2.89**2 + 1.7**2 + 1), 0.5 * (1.7**2 + 1), 0.5])
    np.testing.assert_allclose(SETTINGS.plateaus[0], made["loss"][0, 0], rtol=1e-6)


def test_cross_terms_are_dashed_where_they_matter(made):
    parts = made["loss_parts"].copy()
    parts[:, 20, 1, 0], parts[:, 20, 2, 0] = 0.1, 1e-3
    below = figure_flow(SETTINGS, dataclasses.replace(made, arrays={**made.arrays, "loss_parts": parts})).axes[-1]
    dashed = [line for line in below.get_lines() if line.get_linestyle() == "--" and len(line.get_xdata()) > 2]
    assert {line.get_color() for line in dashed} == {YELLOW}


def test_heads_are_named_by_where_they_end_whatever_their_numbers(made):
    order = [1, 2, 0]
    mixed = {name: made[name].copy() for name in ("attention", "attention_elsewhere", "values")}
    for array in mixed.values():
        array[1] = array[1][:, order]
    sorted_again = by_position(dataclasses.replace(made, arrays={**made.arrays, **mixed}))
    for name in mixed:
        np.testing.assert_array_equal(sorted_again[name], made[name])


def test_the_typical_seed_has_the_middle_boundaries_and_not_one_that_never_ends(made):
    assert typical_seed(made) == 1
    ends = made.facts["boundaries"].copy()
    ends[1, -1] = np.inf
    assert typical_seed(dataclasses.replace(made, facts={"boundaries": ends})) != 1


@pytest.mark.parametrize("heads, features", [(1, 3), (5, 3), (None, 1)])
def test_other_numbers_of_heads_and_features_can_be_drawn(heads, features):
    settings = FlowSettings(features=features, heads=heads, length=6, first=1.0, last=100.0, points=8)
    figure_flow(settings, made_flow(settings)).draw_without_rendering()


def test_a_flow_without_numbers_or_boundaries_can_be_drawn(made):
    nothing = {name: np.full_like(values, np.nan) for name, values in made.arrays.items()}
    facts = {"boundaries": np.full((3, 3), np.inf)}
    figure_flow(SETTINGS, dataclasses.replace(made, arrays=nothing, facts=facts)).draw_without_rendering()
