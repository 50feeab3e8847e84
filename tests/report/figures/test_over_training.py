"""What stands in the figures of the flow beside training."""

from dataclasses import replace

import numpy as np
from tests.claims.made import OFTEN, climbing, made_run, made_settings
from tests.claims.made_flows import ADAMW, BOUNDARIES, FLOW, GD, SGD, made_theory

from headway.report.figures.over_training import figure_overlay, figure_regression

SEEDS = (0, 1, 2)


def drawn(adamw=(30.0, 60.0, 960.0), sgd=BOUNDARIES):
    """The panels of a figure of three runs: over time, over steps, ratios."""
    runs = {
        "GD": made_theory(GD, seeds=SEEDS),
        "SGD": made_theory(SGD, sgd, seeds=SEEDS),
        "AdamW": made_theory(ADAMW, adamw, seeds=SEEDS),
    }
    figure = figure_regression(made_theory(FLOW, seeds=SEEDS), runs)
    figure.draw_without_rendering()
    return figure.axes


def dots(axes):
    """(place, ratio) of every seed and boundary."""
    points = [line.get_xydata() for line in axes.lines if line.get_marker() == "o"]
    return np.concatenate([each for each in points if len(each)])


def test_every_seed_and_boundary_has_a_dot_at_its_ratio_to_the_flow():
    found = dots(drawn()[2])
    assert len(found) == 3 * 3 * len(SEEDS)
    np.testing.assert_allclose(found[: 6 * len(SEEDS), 1], 1)


def test_adamw_is_laid_on_the_flows_first_boundary_and_has_an_axis_of_its_own():
    time, steps, ratios = drawn()
    np.testing.assert_allclose(dots(ratios)[-3 * len(SEEDS) :: len(SEEDS), 1], [1, 0.5, 2])
    assert (time.get_xlabel(), steps.get_xlabel()) == ("time (learning rate × step)", "training steps")
    named = ["GD, step 0.01", "SGD, batch 256", "flow as printed", "AdamW, first boundary laid on"]
    (legend,) = time.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == named
    assert time.lines[-1].get_xdata()[-1] == steps.lines[0].get_xdata()[-1] / 3


def test_boundaries_that_were_never_met_are_counted():
    ratios = drawn(sgd=(10, 40, np.inf))[2]
    assert len(dots(ratios)) == 8 * len(SEEDS)
    assert [text.get_text() for text in ratios.texts] == ["3 never"]


def overlaid(*steps: float, flow=BOUNDARIES):
    run = made_run(made_settings(), times=OFTEN, **{name: climbing(*steps)[name] for name in ("kl", "loss")})
    flows = {"one": made_theory(FLOW, flow), "two": made_theory(replace(FLOW, base=2.0), flow)}
    figure = figure_overlay(run, flows)
    figure.draw_without_rendering()
    return figure.axes


def test_the_flow_is_stretched_until_its_boundary_after_stage_1_is_the_transformers():
    """From time 40 to about step 200: the flow's last time, 1000, comes to lie at about 5000."""
    left, right = overlaid(30, 200, 800)
    ends = [line.get_xdata()[-1] for line in left.lines if line.get_label() in ("one", "two")]
    np.testing.assert_allclose(ends, 5000, rtol=0.1)
    assert sum(line.get_marker() == "o" for line in right.lines) == 4


def test_without_a_boundary_to_lay_it_on_no_flow_is_drawn():
    for axes in (overlaid(30), overlaid(30, 200, 800, flow=(10, np.inf, np.inf))):
        assert axes[0].get_legend_handles_labels()[1] == ["minimal transformer"]
