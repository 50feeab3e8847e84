"""Choosing by one half of the test sequences, reporting the other."""

import dataclasses

import numpy as np
import pytest
from tests.report.figures.drawn import labelled, words

from headway.records import Trajectory
from headway.report.colours import rung_colours
from headway.report.figures import figure_choice
from headway.report.figures.choice import choices_of


@pytest.fixture
def run(staircase):
    """run(size, context, even, odd): the loss is 9 but at one step, where both halves have the given losses."""

    def made(samples: int, context: int | None, even: list[float], odd: list[float], **changes):
        halves = np.full((3, 10, 2), 9.0)
        halves[:, 4] = np.stack([even, odd], axis=1)
        halves[:, 6, 1] = 0.0  # a lower loss on the odd sequences at another step, which nobody may look at
        settings = staircase.settings.changed(training={"samples": samples}, task={"context": context})
        return settings, staircase.run(excess_halves=halves, **changes)

    return made


def test_the_length_is_chosen_on_the_even_sequences_and_judged_on_the_odd_ones(run):
    """With the second seed length 5 has the lower loss on the even ones, and is the worse on the odd ones."""
    runs = {
        "longer": run(200, 5, even=[2, 1, 2], odd=[3, 7, 3]),
        "whole": run(200, None, even=[4, 4, 4], odd=[5, 5, 5]),
        "shorter": run(200, 2, even=[1, 2, 1], odd=[1, 2, 4]),
    }
    (choice,) = choices_of(runs)
    np.testing.assert_array_equal(choice.everything, [5, 5, 5])
    np.testing.assert_array_equal(choice.picked, [2, 5, 2])
    np.testing.assert_array_equal(choice.chosen, [1, 7, 4])
    losses, gains = figure_choice(runs).axes
    assert labelled(losses) == {"whole context": [5], "$c = 2$": [2], "$c = 5$": [3], "chosen": [4]}
    for colour, wanted in zip(rung_colours(2), ([4, 1], [-2]), strict=True):
        (dots,) = [line.get_ydata() for line in gains.get_lines() if line.get_color() == colour]
        assert list(dots) == wanted


def test_sizes_with_nothing_to_choose_from_are_left_out_and_the_others_ordered(run):
    three = [1, 1, 1]
    runs = {f"{size}": run(size, None, three, three) for size in (400, 100, 900)}
    runs |= {f"{size}, c = 2": run(size, 2, three, three) for size in (400, 100, 1600)}
    settings, trajectory = run(900, 2, three, three)
    runs["fresh, c = 2"] = settings.changed(training={"data": "fresh"}), trajectory
    runs["900, old"] = settings, staircase_without_halves(trajectory)
    assert [choice.size for choice in choices_of(runs)] == [100, 400]
    assert [text.get_text() for text in figure_choice(runs).axes[0].get_xticklabels()] == ["100", "400"]


def staircase_without_halves(trajectory: Trajectory) -> Trajectory:
    arrays = {name: values for name, values in trajectory.arrays.items() if name != "excess_halves"}
    return dataclasses.replace(trajectory, arrays=arrays)


def test_a_length_that_diverged_is_not_chosen(run):
    lost = run(200, 2, [0, 0, 0], [0, 0, 0], diverged_at=np.array([1, -1, 0]))
    lost[1].arrays["excess_halves"][0, 0] = np.nan
    runs = {"a": run(200, None, [4, 4, 4], [5, 5, 5]), "b": lost, "c": run(200, 3, [1, 1, 1], [1, 1, 1])}
    (choice,) = choices_of(runs)
    np.testing.assert_array_equal(choice.picked, [3, 2, 3])
    np.testing.assert_array_equal(choice.chosen, [1, 0, 1])


def test_only_seeds_that_all_lengths_share_are_compared(run):
    settings, trajectory = run(200, 2, [1, 2, 3], [1, 2, 3])
    other = settings, dataclasses.replace(trajectory, seeds=(7, 3, 5))
    (choice,) = choices_of({"a": run(200, None, [4, 5, 6], [4, 5, 6]), "b": other})
    np.testing.assert_array_equal(choice.everything, [4, 6])  # seeds 3 and 7 of 3, 4, 7
    np.testing.assert_array_equal(choice.chosen, [2, 1])


@pytest.mark.parametrize("loss", [1.0, np.nan])
def test_one_size_or_no_number_or_nothing_to_choose_from_breaks_nothing(run, loss):
    runs = {"whole": run(200, None, [loss] * 3, [loss] * 3)}
    figure = figure_choice(runs)
    assert "no n-gram models" in words(figure.axes[0])
    figure.draw_without_rendering()
    settings, window = run(200, 2, [loss] * 3, [loss] * 3)
    if np.isnan(loss):
        window = dataclasses.replace(window, arrays={name: values * np.nan for name, values in window.arrays.items()})
    figure_choice({**runs, "window": (settings, window)}).draw_without_rendering()
