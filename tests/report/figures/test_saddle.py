"""Loss and learning rate of two schedules, on one time axis."""

import dataclasses

import numpy as np
import pytest
from tests.report.figures.drawn import labelled, named, words

from headway.report.figures import figure_saddle


@pytest.fixture(scope="module")
def runs(staircase):
    """Under the plateau schedule the rate is halved at every evaluation."""
    rates = {"constant": np.full((3, 10), 0.08), "plateau": np.tile(0.08 * 0.5 ** np.arange(10), (3, 1))}
    return {
        name: (
            staircase.settings.changed(training={"schedule": schedule}),
            staircase.run(learning_rate=rates[schedule]),
        )
        for name, schedule in {"saddle": "plateau", "saddle, schedule": "constant"}.items()
    }


def test_runs_are_named_by_their_schedules_and_the_rate_stands_below_the_loss(runs):
    above, below = figure_saddle(runs).axes
    for axes, quantity in ((above, "excess_loss"), (below, "learning_rate")):
        drawn = labelled(axes)
        assert list(drawn) == ["plateau schedule", "constant rate"]
        for values, (_, trajectory) in zip(drawn.values(), runs.values(), strict=True):
            np.testing.assert_allclose(values, np.median(trajectory[quantity], axis=0), rtol=1e-6)
        assert words(axes) == list(drawn)
        assert axes.get_xscale() == "symlog"
    assert above.get_xlim() == below.get_xlim() == (0, 800)
    assert (above.get_yscale(), below.get_yscale()) == ("linear", "log")
    assert below.get_ylim()[0] < 0.08 * 0.5**9


def test_a_schedule_has_the_same_colour_above_and_below(runs):
    colours = [{name: line.get_color() for name, line in named(axes).items()} for axes in figure_saddle(runs).axes]
    assert colours[0] == colours[1]
    assert len(set(colours[0].values())) == 2


def test_runs_of_one_schedule_are_told_apart_by_their_names(runs):
    twice = {"here": runs["saddle"], "there": runs["saddle"]}
    assert list(labelled(figure_saddle(twice).axes[0])) == ["plateau schedule (here)", "plateau schedule (there)"]


def test_rates_that_are_zero_missing_or_no_numbers_break_nothing(runs):
    settings, trajectory = runs["saddle"]
    zero = dataclasses.replace(trajectory, arrays={name: 0 * values for name, values in trajectory.arrays.items()})
    lost = dataclasses.replace(trajectory, arrays={name: values * np.nan for name, values in zero.arrays.items()})
    old = dataclasses.replace(trajectory, arrays={"excess_loss": trajectory["excess_loss"]})
    for odd in (zero, lost, old):
        figure_saddle({"saddle": (settings, odd)}).draw_without_rendering()


def test_odd_runs_share_a_time_axis(odd_runs):
    figure_saddle(odd_runs).draw_without_rendering()
