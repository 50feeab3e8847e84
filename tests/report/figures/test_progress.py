"""One run's loss, ladder and pictures."""

import dataclasses

import numpy as np
import pytest
from tests.report.figures.drawn import labelled, upright, words
from tests.report.made_run import made_settings, made_trajectory

from headway.analysis.seed_stages import stage_starts
from headway.report.figures import figure_progress, new_figure, rung_names, with_pictures
from headway.report.figures.progress import pictured_steps


@pytest.fixture(scope="module")
def made():
    settings = made_settings()
    return settings, made_trajectory(settings)


def titles(figure) -> list[str]:
    return [axes.get_title() for axes in figure.axes]


def test_loss_and_ladder_stand_side_by_side_with_the_stages_marked(made):
    left, right = figure_progress(made).axes
    starts = np.nanmedian(stage_starts(made[1]), axis=0)
    assert len(starts) == 3
    for axes in (left, right):
        np.testing.assert_allclose(upright(axes), starts)
        assert axes.get_xscale() == "symlog"
    assert [*labelled(left), *labelled(right)] == ["model", *rung_names(3)]


def test_levels_are_left_out_where_the_rungs_own_losses_are_not_known(made):
    settings, trajectory = made
    left, _ = figure_progress((settings, dataclasses.replace(trajectory, facts={}))).axes
    assert "uniform" not in words(left)
    assert "uniform" in words(figure_progress(made).axes[0])


def test_pictures_show_the_start_each_rung_and_the_end(staircase):
    given = new_figure()
    figures = with_pictures({"curves": given}, {"pictures": (staircase.settings, staircase.run())})
    assert list(figures) == ["curves", "pictures"]
    assert figures["curves"] is given
    assert titles(figures["pictures"]) == [f"$t = {step}$" for step in (0, 10, 50, 200, 800)]


def test_a_run_without_matrices_adds_no_picture(odd_runs):
    _, trajectory = odd_runs["no matrices"]
    arrays = {name: values for name, values in trajectory.arrays.items() if name != "attention"}
    never = odd_runs["one seed"][0], dataclasses.replace(trajectory, arrays=arrays)
    assert with_pictures({}, {"kept none": odd_runs["no matrices"], "measured none": never}) == {}


def test_four_pictures_at_least_where_there_are_four_and_those_that_differ_most(staircase):
    """Nothing is known of the ladder: to the start and the end come steps 10 and 50, for 200 looks like the end."""
    unknown = staircase.run(kl_rungs=np.full((3, 10, 4), np.nan))
    assert pictured_steps(unknown, 3) == (0, 10, 50, 800)


def test_as_many_pictures_as_there_are(odd_runs):
    _, trajectory = odd_runs["start and end only"]
    assert pictured_steps(trajectory, 0) == (0, 2000)


def test_every_layer_has_its_rows(staircase):
    run = staircase.run()
    two = {name: np.concatenate([run[name], run[name]], axis=2) for name in ("attention", "attention_by_lag")}
    figure = with_pictures({}, {"two": (staircase.settings, staircase.run(**two))})["two"]
    assert titles(figure) == [f"$t = {step}$" for step in (0, 10, 50, 200, 800)] * 2
    assert figure.get_figheight() > 1.5 * with_pictures({}, {"one": (staircase.settings, run)})["one"].get_figheight()


@pytest.mark.parametrize(
    "odd", ["one seed", "every seed diverged", "nothing is a number", "start and end only", "one block"]
)
def test_odd_runs_have_their_figures_too(odd, odd_runs):
    run = odd_runs[odd]
    figures = with_pictures({"curves": figure_progress(run)}, {"pictures": run})
    assert list(figures) == ["curves", "pictures"]
    for figure in figures.values():
        figure.draw_without_rendering()
