"""Figures of paper B's toy: what is drawn where, and what cannot be drawn stops nobody."""

from dataclasses import replace

import numpy as np
import pytest
from tests.report.made_toy import FORMULA, made_toy

from headway.experiments.toy_sizes import every_size
from headway.report.figures import (
    figure_late,
    figure_law,
    figure_over,
    figure_plateaus,
    figure_repeated,
    figure_transition,
)
from headway.tasks.toy import Toy, toy_settings

SIZES = every_size(Toy(), dimension=(4, 16), length=(32, 64), copies=(1, 2))


def made(every=SIZES, **how):
    runs = [toy_settings(task) for task in every]
    return [(settings, made_toy(settings, points=21, **how)) for settings in runs]


def lines(axes):
    return [line for line in axes.get_lines() if len(np.atleast_1d(line.get_xdata())) > 2]


def test_the_transition_is_drawn_in_steps():
    figure = figure_transition(made()[-1])
    left, _ = figure.axes
    assert left.get_title() == "d = 16, T = 64, B = 2"
    steps = lines(left)[-1].get_xdata()
    assert steps[-1] == pytest.approx(2.5 * FORMULA * 4 * 64 / 2)


@pytest.mark.parametrize("along, count", [("length", 4), ("copies", 4)])
def test_plateaus_are_shown_as_shares_of_root_d_times_t_beside_the_closed_form(along, count):
    (axes,) = figure_plateaus({"one": made()}, along=along).axes
    solid = [line for line in axes.get_lines() if line.get_linestyle() == "-"]
    dashed = [line for line in axes.get_lines() if line.get_linestyle() == "--"]
    assert (len(solid), len(dashed)) == (count, 2)
    assert dashed[0].get_ydata()[0] == pytest.approx(FORMULA / (1 if along == "copies" else 2))
    assert solid[-1].get_ydata() / dashed[-1].get_ydata() == pytest.approx(np.full(2, 1.3 * 1.005 / FORMULA))


def test_a_law_stands_over_what_it_predicts():
    plateaus = np.stack([trajectory.facts["plateau"] for _, trajectory in made()], axis=1)
    (axes,) = figure_law({"one": (plateaus, plateaus * 1.1, plateaus[0] * 2)}).axes
    published, fitted = axes.get_lines()[:2]
    assert fitted.get_ydata() == pytest.approx(np.full(8, 1.1))
    assert published.get_ydata() == pytest.approx(np.full(8, 2.0), rel=0.02)
    censored = np.where(np.arange(8) == 0, np.inf, plateaus)
    (axes,) = figure_law({"one": (censored, plateaus, plateaus[0])}).axes
    assert axes.get_title() == "one (2 of 16 never ended)"


def test_many_laws_stand_in_rows_of_three_that_show_all_marks():
    plateaus = np.stack([trajectory.facts["plateau"] for _, trajectory in made()], axis=1)
    far = {f"law {number}": (plateaus, plateaus, plateaus[0] * 50.0 ** (number == 4)) for number in range(5)}
    panels = figure_law(far).axes
    assert [axes.get_title() for axes in panels if axes.axison] == list(far)
    assert len({axes.get_subplotspec().colspan.start for axes in panels}) == 3
    low, high = panels[3].get_ylim()
    assert low < 1 and high > 50, "a row shares its height, and shows what is furthest off"


def test_a_prediction_stands_over_its_measurement():
    one = [task for task in SIZES if task.copies == 1]
    panels = figure_over(made(one, constant=1.4), made(one, constant=1.3), ("told", "seen")).axes
    assert panels[0].get_title() == "d = 16, T = 64"
    assert [len(lines(axes)) for axes in panels[:2]] == [2, 4]
    ratios = np.concatenate([line.get_ydata() for line in panels[2].get_lines()[:2]])
    assert ratios == pytest.approx(np.full(4, 1.4 / 1.3))


@pytest.mark.parametrize("lost", [True, False])
def test_every_figure_can_be_drawn_without_a_number(lost):
    runs = made(every_size(SIZES[0], dimension=(4, 16), repeated=(0.0, 0.2)))
    if lost:
        for place, (settings, trajectory) in enumerate(runs):
            arrays = {name: np.full_like(values, np.nan) for name, values in trajectory.arrays.items()}
            facts = {**trajectory.facts, "plateau": np.full_like(trajectory.facts["plateau"], np.inf)}
            runs[place] = settings, replace(trajectory, arrays=arrays, facts=facts)
    plateaus = np.stack([trajectory.facts["plateau"] for _, trajectory in runs], axis=1)
    for figure in (
        figure_transition(runs[-1]),
        figure_repeated(runs[2:]),
        figure_over(runs, runs, ("a", "b")),
        figure_late(runs[0], runs[0], ("a", "b")),
        figure_plateaus({"a": runs, "b": runs}, along="repeated"),
        figure_law({"a": (plateaus, plateaus, plateaus[0])}),
    ):
        figure.draw_without_rendering()
