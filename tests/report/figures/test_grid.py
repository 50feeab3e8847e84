"""Small multiples: one panel a run, and the same axes for all, so that panels can be compared."""

import dataclasses

import numpy as np
import pytest
from tests.report.figures.drawn import curves, labelled, upright, words

from headway.analysis.seed_stages import stage_starts
from headway.report.colours import rung_colours
from headway.report.figures import figure_grid, rung_names


def test_every_run_has_a_panel_under_its_name_with_its_seeds_and_medians(staircase):
    kl = staircase.run()["kl_rungs"]
    runs = {f"{factor} times": (staircase.settings, staircase.run(kl_rungs=factor * kl)) for factor in (1, 2, 3)}
    panels = figure_grid(runs).axes
    assert [axes.get_title() for axes in panels] == list(runs)
    for axes, (_, trajectory) in zip(panels, runs.values(), strict=True):
        drawn = labelled(axes)
        assert list(drawn) == list(rung_names(3))
        for rung, (median, colour) in enumerate(zip(drawn.values(), rung_colours(3), strict=True), start=1):
            np.testing.assert_allclose(median, np.median(trajectory["kl_rungs"][..., rung], axis=0))
            assert sum(line.get_color() == colour for line in curves(axes)) == 3 + 1
        starts = np.nanmedian(stage_starts(trajectory), axis=0)
        np.testing.assert_allclose(upright(axes), starts)
    assert len({axes.get_ylim() for axes in panels}) == 1
    assert panels[0].get_ylim()[1] >= (3 * kl[..., 1:]).max()


def test_the_longest_run_sets_the_time_axis_of_all(staircase):
    short = staircase.run()
    short = dataclasses.replace(
        short,
        arrays={"kl_rungs": short["kl_rungs"][:, :4]},
        clocks={"evaluation": short.clocks["evaluation"][:4]},
        clock_of={"kl_rungs": "evaluation"},
    )
    long = staircase.run()
    for order in ((long, short), (short, long)):
        panels = figure_grid({f"{place}": (staircase.settings, run) for place, run in enumerate(order)}).axes
        assert [axes.get_xlim() for axes in panels] == [(0, 800)] * 2
        assert [axes.get_xscale() for axes in panels] == ["symlog"] * 2


def test_one_wild_seed_does_not_flatten_all_others(staircase):
    kl = staircase.run()["kl_rungs"].copy()
    highest = np.median(kl[..., 1:], axis=0).max()
    kl[2, 4] = 1000.0
    (axes,) = figure_grid({"wild": (staircase.settings, staircase.run(kl_rungs=kl))}).axes
    assert highest < axes.get_ylim()[1] < 3 * highest


def test_eight_odd_runs_have_eight_panels_and_those_without_a_number_say_so(odd_runs):
    figure = figure_grid(odd_runs)
    figure.draw_without_rendering()
    assert [axes.get_title() for axes in figure.axes] == list(odd_runs)
    silent = [axes.get_title() for axes in figure.axes if "no numbers" in words(axes)]
    assert silent == ["diverged at once", "nothing is a number"]


@pytest.mark.parametrize("count", [1, 2, 4, 5])
def test_time_is_named_below_the_last_row(staircase, count):
    runs = {f"{number}": (staircase.settings, staircase.run()) for number in range(count)}
    named = [axes.get_title() for axes in figure_grid(runs).axes if axes.get_xlabel()]
    assert named == {1: ["0"], 2: ["0", "1"], 4: ["2", "3"], 5: ["3", "4"]}[count]
