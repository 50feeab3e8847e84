"""Heads of their own against the loss, and measured steps against predicted ones."""

import numpy as np
from tests.claims.made_text import LAW, LEVELS, PLAIN, WOVEN, attends, falling_to, made, on_time, texts_on_time

from headway.report.figures.text_found import figure_contexts, figure_own_heads


def test_a_dot_is_the_attention_and_the_loss_of_a_seed_at_the_end():
    two = made(WOVEN, falling_to(1.5, 1.7), attends({2: 50, 4: 200}, {2: 50}))
    one = made(WOVEN.changed(model={"layers": 1}), falling_to(2.5, 2.7), attends({2: 50}, {2: 50}))
    upper, lower = figure_own_heads({"speeches, interleaved": two, "speeches, interleaved, 1 layer": one}).axes
    assert (upper.get_title(), upper.get_ylabel(), lower.get_ylabel()) == (
        "speeches",
        "loss, 1 layer",
        "loss, 2 layers",
    )
    np.testing.assert_allclose(lower.get_lines()[0].get_xydata(), [[0.9, 1.5], [0.02, 1.7]])
    np.testing.assert_allclose(upper.get_lines()[0].get_ydata(), [2.5, 2.7])


def test_steps_that_follow_a_law_lie_on_the_diagonal():
    runs = {f"text {number}": run for number, run in enumerate(texts_on_time(PLAIN, LAW))}
    (axes,) = figure_contexts(runs).axes
    dots = np.concatenate([line.get_xydata() for line in axes.get_lines()[:-1]])
    assert len(dots) >= 12
    np.testing.assert_allclose(dots[:, 1], dots[:, 0], rtol=0.15)


def test_one_text_alone_is_drawn_without_a_prediction():
    (axes,) = figure_contexts({"text": on_time(PLAIN, LEVELS, LAW)}).axes
    assert np.isnan(axes.get_lines()[0].get_xdata()).all()
