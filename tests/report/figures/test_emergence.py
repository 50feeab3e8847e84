"""Figures of paper B's transformers: what is drawn where, and what cannot be drawn stops nobody."""

import numpy as np
import pytest
from tests.report.made_emergence import made_emergence

from headway.experiments.recall import EXPERIMENT as RECALL
from headway.experiments.recall_repetition import EXPERIMENT as REPETITION
from headway.experiments.transformer_law import EXPERIMENT as LAW
from headway.report.figures import (
    figure_embeddings,
    figure_emergence,
    figure_plateau_sizes,
    figure_recall,
    figure_recall_sizes,
    figure_repetition,
    figure_two_attentions,
)


def runs(experiment):
    return {name: (settings, made_emergence(settings)) for name, settings in experiment.grids["quick"].items()}


def test_plateaus_stand_against_every_size_beside_the_published_law():
    usual = [run for run in runs(LAW).values() if run[0].model.initialisation != "xavier"]
    length, dimension, copies, share = figure_plateau_sizes(usual, lambda run: 100.0).axes
    assert [axes.get_xlabel() for axes in (length, dimension, copies, share)] == ["T", "d", "copies B", "share p"]
    medians = [line for line in length.get_lines() if line.get_linestyle() == "-"]
    assert [line.get_xdata().tolist() for line in medians] == [[8, 16, 32]] * 2
    made = made_emergence(LAW.grids["quick"]["T = 8, d = 4"]).facts["plateau"]
    assert medians[0].get_ydata()[0] == pytest.approx(np.median(made))
    law = [line for line in copies.get_lines() if line.get_linestyle() == "--"]
    assert law[0].get_xdata().tolist() == [1, 2, 4] and set(law[0].get_ydata()) == {100.0}
    (shares,) = [line for line in share.get_lines() if line.get_linestyle() == "-"]
    assert shares.get_xdata().tolist() == [0, 0.4, 0.8] and share.get_title() == "T = 16, to a loss of 0.4"


def test_a_transition_shows_loss_gain_and_attention():
    left, right = figure_emergence(runs(LAW)["T = 32, d = 8"]).axes
    assert left.get_title() == "T = 32, d = 8"
    names = [text.get_text() for text in right.texts]
    assert "attention" in names and len(names) == 2


def test_recall_shows_every_run_and_both_attentions():
    several = runs(RECALL)
    usual = [run for run in several.values() if run[0].model.initialisation != "fan-in"]
    figure = figure_recall(usual)
    assert [axes.get_title() for axes in figure.axes] == ["2 pairs", "4 pairs"]
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == ["N_tokens = 64", "N_tokens = 128", "end of the plateau", "any value"]
    for axes, pairs in zip(figure.axes, (2, 4), strict=True):
        assert len({line.get_color() for line in axes.get_lines()}) == 3, "two runs and the end of their plateaus"
        *level, threshold = [line.get_ydata()[0] for line in axes.get_lines() if line.get_linestyle() == "--"]
        assert threshold == 0.05
        assert level == [1 / pairs + (1 - 1 / pairs) / symbols for symbols in (64, 128)], "the query's, or as good"
    _, right = figure_two_attentions(several["vocabulary size 64, 4 pairs"]).axes
    assert {text.get_text() for text in right.texts} == {"value to key", "query to value"}


def test_times_of_recall_stand_against_both_sizes_for_both_ends():
    usual = [run for run in runs(RECALL).values() if run[0].model.initialisation != "fan-in"]
    panels = figure_recall_sizes(usual, lambda run: 100.0, 0.5).axes
    assert [axes.get_title() for axes in panels] == [f"to an accuracy of {end}%" for end in (5, 5, 50, 50)]
    medians = [[line for line in axes.get_lines() if line.get_linestyle() == "-"] for axes in panels]
    assert [lines[0].get_xdata().tolist() for lines in medians] == [[2, 4], [64, 128]] * 2
    sooner, later = (lines[0].get_ydata() for lines in (medians[0], medians[2]))
    assert np.all(later > sooner), "half of the answers take longer than the first few"
    published = [[line for line in axes.get_lines() if line.get_linestyle() == "--"] for axes in panels]
    assert [len(lines) for lines in published] == [2, 2, 0, 0]


def test_embeddings_stand_beside_the_published_law_with_a_colour_each():
    usual = [run for run in runs(RECALL).values() if run[0].model.initialisation != "fan-in"]
    few = [run for run in usual if run[0].task.pairs == 2]
    figure = figure_embeddings({"small": usual, "large": few}, lambda run: 100.0)
    assert [axes.get_title() for axes in figure.axes] == ["2 pairs", "4 pairs"]
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named == ["small", "large", "published law"]
    for axes, groups in zip(figure.axes, (2, 1), strict=True):
        medians = [line for line in axes.get_lines() if line.get_linestyle() == "-"]
        assert [line.get_xdata().tolist() for line in medians] == [[64, 128]] * groups
        assert len({line.get_color() for line in medians}) == groups
        (law,) = [line for line in axes.get_lines() if line.get_linestyle() == "--"]
        assert set(law.get_ydata()) == {100.0}


def test_repetition_shows_copies_on_the_left_and_shares_on_the_right():
    left, right = figure_repetition(list(runs(REPETITION).values())).axes
    words = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in (left, right)]
    assert words[0] == ["B = 1", "B = 2", "B = 4", "with repetition"]
    assert words[1] == ["p = 0", "p = 0.5", "p = 0.9", "with repetition"]


@pytest.mark.parametrize("last", [1, None])
def test_figures_without_numbers_can_be_drawn(last):
    """From one evaluation, or from none that is a number."""
    for figure_of, experiment in ((figure_recall, RECALL), (figure_repetition, REPETITION)):
        several = runs(experiment)
        for _, trajectory in several.values():
            for values in trajectory.arrays.values():
                values[:, last:] = np.nan
                values[:, : 0 if last else None] = np.nan
        figure_of(list(several.values())).draw_without_rendering()
    settings, trajectory = runs(LAW)["T = 8, d = 4"]
    for values in trajectory.arrays.values():
        values[:] = np.nan
    trajectory.facts["plateau"][:] = np.nan
    figure_emergence((settings, trajectory)).draw_without_rendering()
    figure_plateau_sizes([(settings, trajectory)], lambda run: 100.0).draw_without_rendering()
