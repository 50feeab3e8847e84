"""The pixels are the heads' attention: they are read back from the figures."""

import numpy as np
import pytest
from matplotlib.colors import to_hex as colour_of

from headway.report.colours import blend, head_colours, rung_colours, to_rgb
from headway.report.figures import draw_attention, draw_heads, new_figure


def pixels_of(axes) -> np.ndarray:
    (image,) = axes.get_images()
    return np.asarray(image.get_array())


def test_panels_show_the_nearest_snapshots_and_say_their_true_steps(staircase):
    figure = new_figure()
    draw_attention(figure, staircase.run(), 3, (0, 60, 790))
    assert [axes.get_title() for axes in figure.axes] == ["$t = 0$", "$t = 50$", "$t = 800$"]


def test_where_heads_overlap_the_colour_is_their_blend_and_where_nobody_looks_it_is_white(staircase):
    """At step 10 all heads are on block 1; at step 50 heads 1 and 3; at step 800 each has its own."""
    figure, colours = new_figure(), head_colours(3)
    draw_attention(figure, staircase.run(), 3, (10, 50, 800), staircase.blocks)
    together, leaving, apart = (pixels_of(axes) for axes in figure.axes)
    last, newest, third, fourth = (
        staircase.horizon - 1,
        staircase.length - 1,
        staircase.length - 3,
        staircase.length - 4,
    )
    half = 0.5  # blocks of two lags give each lag one half; the largest weight shown is 1, on block 2
    np.testing.assert_allclose(together[last, newest], blend(np.full(3, half), colours))
    np.testing.assert_allclose(leaving[last, newest], blend(np.array([half, 0, half]), colours))
    np.testing.assert_allclose(leaving[last, third], to_rgb(colours[1]))
    np.testing.assert_allclose(apart[last, newest], blend(np.array([half, 0, 0]), colours))
    np.testing.assert_allclose(apart[last, fourth], blend(np.array([0, 0, half]), colours))
    assert (together[last, : newest - 1] == 1).all()
    future = np.arange(staircase.length)[None] > staircase.start - 1 + np.arange(staircase.horizon)[:, None]
    assert (apart[future] == 1).all()


def test_bars_below_a_matrix_mark_the_keys_of_each_block(staircase):
    figure = new_figure()
    blocks = ((1, 2), (3,), (4, 6, 7))
    draw_attention(figure, staircase.run(), 3, (0,), blocks)
    (axes,) = figure.axes
    for block, colour in zip(blocks, rung_colours(3), strict=True):
        bars = [bar for bar in axes.patches if colour_of(bar.get_facecolor()) == colour.lower()]
        # Positions count from 1 and the last row stands on position staircase.length, which is its lag 1.
        covered = [key for bar in bars for key in np.arange(bar.get_x(), bar.get_x() + bar.get_width()) + 0.5]
        assert sorted(covered) == sorted(staircase.length + 1 - lag for lag in block)


def test_bars_of_overlapping_blocks_do_not_hide_each_other(staircase):
    figure = new_figure()
    draw_attention(figure, staircase.run(), 3, (0,), ((1, 2, 3), (3, 4), (5,)))
    first, second, third = (bar.get_y() for bar in figure.axes[0].patches)
    assert first == third > second


def test_each_head_has_a_row_of_its_own(staircase):
    figure, run, colours = new_figure(), staircase.run(), head_colours(3)
    draw_heads(figure, run, 7, (50, 800))
    panels = np.reshape(np.array(figure.axes, dtype=object), (3, 2))
    for head in range(3):
        for column, snapshot in enumerate((2, 4)):
            wanted = blend(run["attention"][2, snapshot, 0, head][None], (colours[head],))
            np.testing.assert_allclose(pixels_of(panels[head, column]), wanted)


def test_every_layer_is_shown(staircase):
    run = staircase.run()
    two = {name: np.concatenate([run[name], run[name]], axis=2) for name in ("attention", "attention_by_lag")}
    figure = new_figure()
    draw_attention(figure, staircase.run(**two), 3, (0, 10, 800), columns=2)
    assert [axes.get_title() for axes in figure.axes] == ["$t = 0$", "$t = 10$", "$t = 800$"] * 2


def test_a_seed_that_was_not_run_is_refused(staircase):
    with pytest.raises(ValueError, match=r"seed 5 is not in this trajectory.*\(3, 4, 7\)"):
        draw_attention(new_figure(), staircase.run(), 5, (0,))


def test_no_steps_are_refused(staircase):
    with pytest.raises(ValueError, match="no steps were given"):
        draw_heads(new_figure(), staircase.run(), 3, ())
