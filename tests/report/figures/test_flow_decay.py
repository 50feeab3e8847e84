"""Boundaries and last losses against weight decay."""

import numpy as np
from tests.report.made_stage_times import made_stage_times

from headway.claims.flow_decay import is_solved
from headway.experiments.flow_decay import EXPERIMENT
from headway.report.figures.flow_decay import figure_flow_decay


def test_medians_are_lines_and_what_is_never_reached_is_said():
    grid = [run for run in EXPERIMENT.grids["as-run"].values() if is_solved(run)]
    runs = [(settings, made_stage_times(settings)) for settings in grid]
    left, right = figure_flow_decay(runs, lambda strength, decay, length: decay).axes
    medians = [np.median(run[1].facts["boundaries"][:, 0]) for run in runs]
    thick = [line for line in left.get_lines() if line.get_linewidth() == 1.3]
    np.testing.assert_allclose(thick[0].get_ydata(), medians)
    assert len(thick[2].get_ydata()) == 6, "the third stage is never reached with the two largest decays"
    assert [text.get_text() for text in left.texts] == ["3/3 never"] * 2
    np.testing.assert_allclose(right.get_lines()[-1].get_ydata(), [3 * run.weight_decay for run in grid[1:]])
