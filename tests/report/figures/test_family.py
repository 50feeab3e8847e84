"""Several runs on one pair of axes: every line is a run's own, and every name stands by its line."""

import dataclasses

import numpy as np
import pytest
from tests.report.figures.drawn import curves, labelled, named, words

from headway.report.colours import run_colours
from headway.report.figures import figure_family
from headway.report.figures.ends import GAP, keep_apart


@pytest.fixture(scope="module")
def runs(staircase):
    """The same staircase three times, at different heights; the last stops at step 100."""
    loss = staircase.run()["excess_loss"]
    family = {
        name: (staircase.settings, staircase.run(excess_loss=factor * loss))
        for name, factor in {"high": 1.0, "middle": 0.5, "low": 0.1}.items()
    }
    settings, low = family["low"]
    kept = low.times("excess_loss") <= 100
    arrays = {"excess_loss": low["excess_loss"][:, kept]}
    clocks = {"evaluation": low.clocks["evaluation"][kept]}
    clock_of = {"excess_loss": "evaluation"}
    family["low"] = settings, dataclasses.replace(low, arrays=arrays, clocks=clocks, clock_of=clock_of)
    return family


def test_both_panels_show_every_seed_and_the_median_of_every_run(runs):
    plain, logarithmic = figure_family(runs).axes
    for axes in (plain, logarithmic):
        drawn = labelled(axes)
        assert list(drawn) == ["high", "middle", "low"]
        for name, (_, trajectory) in runs.items():
            np.testing.assert_allclose(drawn[name], np.median(trajectory["excess_loss"], axis=0), rtol=1e-6)
        assert [line.get_color() for line in named(axes).values()] == list(run_colours(3))
        assert len(curves(axes)) == 3 * (3 + 1)


def test_the_left_panel_is_linear_as_in_the_paper_and_the_right_one_logarithmic(runs):
    plain, logarithmic = figure_family(runs).axes
    assert [axes.get_xscale() for axes in (plain, logarithmic)] == ["linear", "symlog"]
    assert [axes.get_yscale() for axes in (plain, logarithmic)] == ["linear", "log"]
    assert plain.get_xlim() == logarithmic.get_xlim() == (0, 800)
    assert plain.get_ylim()[0] == 0


def test_names_stand_beside_the_ends_of_their_lines(runs):
    """The staircase ends at zero, below a logarithmic axis; lifted, it ends where the axis says."""
    lifted = {
        name: (settings, dataclasses.replace(trajectory, arrays={"excess_loss": trajectory["excess_loss"] + height}))
        for (name, (settings, trajectory)), height in zip(runs.items(), (1.0, 0.1, 0.01), strict=True)
    }
    axes = figure_family(lifted).axes[1]
    for name, text in zip(lifted, axes.texts, strict=True):
        assert text.get_text() == name
        low, high = np.log(axes.get_ylim())
        end = labelled(axes)[name][-1]
        np.testing.assert_allclose(text.get_position()[1], (np.log(end) - low) / (high - low), atol=1e-6)


def test_a_diverged_seed_ends_and_leaves_the_median(staircase):
    run = staircase.run(diverged_at=np.array([-1, 50, -1]))
    axes = figure_family({"one": (staircase.settings, run)}).axes[0]
    everyone, others = (np.median(run["excess_loss"][rows], axis=0) for rows in ([0, 1, 2], [0, 2]))
    np.testing.assert_allclose(labelled(axes)["one"], np.where(staircase.steps < 50, everyone, others), rtol=1e-6)
    np.testing.assert_array_equal(np.isnan(axes.get_lines()[1].get_ydata()), staircase.steps >= 50)


def test_published_plateaus_lie_where_they_were_published(staircase):
    axes = figure_family({"one": (staircase.settings, staircase.run())}, plateaus=(0.87, 0.34)).axes[1]
    dotted = [line.get_ydata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 2]
    assert dotted == [0.87, 0.34]
    assert {"0.87 published", "0.34"} <= set(words(axes))


def test_odd_runs_share_a_figure_and_one_without_a_number_says_so(odd_runs):
    figure = figure_family(odd_runs)
    figure.draw_without_rendering()
    lost = {"nothing is a number", "diverged at once"}
    assert set(words(figure.axes[1])) == {f"{name} (no numbers)" if name in lost else name for name in odd_runs}


def test_more_names_than_fit_go_below(staircase):
    figure = figure_family({f"run {number}": (staircase.settings, staircase.run()) for number in range(14)})
    assert not figure.axes[1].texts
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [f"run {number}" for number in range(14)]


def test_names_that_have_room_stay_and_others_make_room_in_both_directions():
    np.testing.assert_allclose(keep_apart(np.array([0.9, 0.1, 0.5]), 0.1), [0.9, 0.1, 0.5])
    np.testing.assert_allclose(keep_apart(np.array([0.54, 0.5, 0.0]), 0.1), [0.57, 0.47, 0.0])


def test_names_stay_beside_the_axes_and_those_of_lines_that_end_together_keep_the_order_of_the_runs():
    for height in (0.0, 0.5, 1.0):
        places = keep_apart(np.full(8, height), GAP)
        np.testing.assert_allclose(np.diff(places), -GAP)
        assert places.min() >= 0 and places.max() <= 1
