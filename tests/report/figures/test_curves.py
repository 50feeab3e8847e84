"""The lines are the numbers: they are read back from the figures."""

import numpy as np
import pytest
from matplotlib.colors import to_hex as colour_of
from tests.report.figures.drawn import upright, words

from headway.report.colours import rung_colours
from headway.report.figures import draw_excess, draw_kl, new_figure, reference_names, rung_names
from headway.report.figures.lines import spread


def labelled(axes) -> dict[str, np.ndarray]:
    """Name in the legend -> what was drawn under it."""
    return {line.get_label(): line.get_ydata() for line in axes.get_lines() if line.get_label()[0] != "_"}


def test_the_thick_lines_are_the_medians_and_the_thin_ones_are_the_seeds(staircase):
    run, axes = staircase.run(), new_figure().subplots()
    draw_kl(axes, run)
    drawn = labelled(axes)
    assert list(drawn) == list(rung_names(3))  # rung 0, the uniform prediction, is left out
    for rung, median in enumerate(drawn.values(), start=1):
        np.testing.assert_allclose(median, np.median(run["kl_rungs"][..., rung], axis=0))
    thin = [line.get_ydata() for line in axes.get_lines() if line.get_linewidth() < 1]
    wanted = [run["kl_rungs"][seed, :, rung] for rung in (1, 2, 3) for seed in range(3)]
    np.testing.assert_allclose(thin[: len(wanted)], wanted)


def test_references_are_drawn_under_their_contexts_and_the_uniform_rung_when_asked_for(staircase):
    run, (left, right) = staircase.run(), new_figure().subplots(1, 2)
    draw_kl(left, run, reference_names((2, 3, 5)), "kl_references")
    drawn = labelled(left)
    assert list(drawn) == ["$c = 2$", "$c = 3$", "$c = 5$"]
    np.testing.assert_allclose(drawn["$c = 3$"], np.median(run["kl_references"][..., 1], axis=0))
    draw_kl(right, run, uniform=True)
    np.testing.assert_allclose(labelled(right)["uniform"], np.median(run["kl_rungs"][..., 0], axis=0))


def test_curves_without_names_of_their_own_must_be_named(staircase):
    for names in (None, ("one", "two")):
        with pytest.raises(ValueError, match=r"3 curves to name.*reference_names"):
            draw_kl(new_figure().subplots(), staircase.run(), names, "kl_references")


def test_levels_lie_at_the_excess_loss_of_the_rungs(staircase):
    axes = new_figure().subplots()
    draw_excess(axes, staircase.run())
    np.testing.assert_allclose(labelled(axes)["model"], np.median(staircase.run()["excess_loss"], axis=0))
    dotted = {
        colour_of(line.get_color()): line.get_ydata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 2
    }
    assert [dotted[colour.lower()] for colour in rung_colours(3)] == [1.0, 0.4, 0.0]
    assert 3.0 in dotted.values()
    plain = new_figure().subplots()
    draw_excess(plain, staircase.run(), levels=False)
    assert all(len(line.get_xdata()) == len(staircase.steps) for line in plain.get_lines())


def test_names_of_close_levels_keep_their_distance_and_their_order():
    np.testing.assert_allclose(spread(np.array([0.9, 0.12, 0.1, np.nan, 0.0]), 0.1), [0.9, 0.2, 0.1, np.nan, 0.0])


def test_a_stage_begins_at_the_median_of_the_seeds_that_have_it(staircase):
    axes = new_figure().subplots()
    starts = np.array([[100.0, 200.0, np.nan], [120.0, np.nan, np.nan], [170.0, 400.0, np.nan]])
    draw_kl(axes, staircase.run(), starts=starts)
    assert upright(axes) == [120.0, 300.0]
    assert words(axes) == ["start", "stage 1", "stage 2", *rung_names(3)]


@pytest.mark.parametrize(
    ("starts", "numbers"),
    [
        ((0, 65, 450), ["1", "2", "3"]),
        ((10, 65, 450), ["1", "2", "3"]),
        ((200, np.nan, 450), ["start", "1", "3"]),
        ((np.nan, np.nan, np.nan), []),
    ],
    ids=["from the first step on", "no room for the word", "a rung is skipped", "no stage"],
)
def test_a_stage_has_the_number_of_its_rung_and_what_comes_before_the_first_is_the_start(staircase, starts, numbers):
    axes = new_figure().subplots()
    draw_excess(axes, staircase.run(), levels=False, starts=starts)
    assert [name.removeprefix("stage ") for name in words(axes)] == numbers
    assert upright(axes) == [start for start in starts if start > 0]


def test_step_0_is_in_sight_on_both_kinds_of_axis(staircase):
    for log_steps in (False, True):
        axes = new_figure().subplots()
        draw_excess(axes, staircase.run(), log_steps=log_steps)
        assert axes.get_xlim() == (0, 800)
        assert np.isfinite(axes.transData.transform((0, 1))).all()
        assert axes.get_xlabel() == "training steps"


def test_a_diverged_seed_ends_where_it_diverged_and_leaves_the_median(staircase):
    run, axes = staircase.run(diverged_at=np.array([-1, 50, -1])), new_figure().subplots()
    draw_excess(axes, run, levels=False)
    others = np.median(run["excess_loss"][[0, 2]], axis=0)
    everyone = np.median(run["excess_loss"], axis=0)
    np.testing.assert_allclose(labelled(axes)["model"], np.where(staircase.steps < 50, everyone, others))
    assert np.isnan(axes.get_lines()[1].get_ydata()).sum() == np.sum(staircase.steps >= 50)
