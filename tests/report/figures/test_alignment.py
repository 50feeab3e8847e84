"""Cosines between values and features, head by head and feature by feature."""

import numpy as np
from tests.report.made_flow import SETTINGS, made_flow

from headway.report.colours import head_colours
from headway.report.figures.alignment import figure_alignment, figure_flow_alignment, flow_cosines, shows_alignment


def thick(axes, colour) -> np.ndarray:
    [line] = [line for line in axes.get_lines() if line.get_color() == colour and line.get_linewidth() == 1.5]
    return np.asarray(line.get_ydata())


def test_heads_are_drawn_in_the_order_of_the_features_that_they_end_on(staircase):
    """Head k ends on block k, whatever number it had: here the seeds' heads are permuted on purpose."""
    times = len(staircase.steps)
    grown = np.linspace(0, 1, times)
    plain = np.stack([grown[:, None] * row for row in np.eye(3)], axis=1)  # (time, head, block)
    cosines = np.stack([plain[:, order] for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0])])[:, :, None]
    figure = figure_alignment(staircase.run(value_alignment=cosines))
    assert [axes.get_title() for axes in figure.axes] == ["$A_1$", "$A_2$", "$A_3$"]
    for block, axes in enumerate(figure.axes):
        for head, colour in enumerate(head_colours(3)):
            np.testing.assert_allclose(thick(axes, colour), grown if head == block else 0 * grown, atol=1e-6)


def test_every_layer_has_a_row_of_its_own(staircase):
    two = np.zeros((3, len(staircase.steps), 2, 3, 3))
    figure = figure_alignment(staircase.run(value_alignment=two))
    assert [axes.get_ylabel() for axes in figure.axes[::3]] == [rf"$\cos(V_k, A_j)$, layer {n}" for n in (1, 2)]


def test_a_record_without_the_measure_is_known_to_lack_it(staircase):
    assert not shows_alignment(staircase.run())


def test_a_flows_cosines_are_its_values_over_their_norms():
    run = made_flow(seeds=(0, 1, 2))
    found = flow_cosines(run)
    known = np.isfinite(found).all(axis=-1)
    np.testing.assert_allclose(np.linalg.norm(found[known], axis=-1), 1, rtol=1e-6)
    assert np.all(np.linalg.norm(run["values"], axis=-1)[~known] == 0)
    figure = figure_flow_alignment(SETTINGS, run)
    assert [axes.get_title() for axes in figure.axes] == [f"$V_{k}^*$" for k in (1, 2, 3)]
