"""The figure of stage times: what is on its axes, and odd runs."""

import numpy as np
import pytest
from tests.report.made_stage_times import made_stage_times

from headway.experiments.stage_times import EXPERIMENT
from headway.report.figures.stage_times import FACTORS, durations, figure_stage_times


def made(grid="quick", seeds=(0, 1, 2)):
    return {name: (settings, made_stage_times(settings, seeds)) for name, settings in EXPERIMENT.grids[grid].items()}


def test_every_factor_has_a_panel_with_its_values_and_fitted_laws():
    figure = figure_stage_times(made("printed"))
    panels = figure.axes
    assert [panel.get_xlabel() for panel in panels] == [*FACTORS.values(), FACTORS["noise"]]
    assert [label.get_text() for label in panels[0].get_xticklabels()] == ["10", "20", "40", "80", "160"]
    words = [text.get_text() for text in panels[0].texts]
    assert words[0].startswith("$a$ = 1.00 [1.00, 1.00]"), "the made first stage goes like T"
    assert [text.get_text()[:9] for text in panels[4].texts][1] == "$b$ = 0.5", "1 / RATE"


def test_durations_are_differences_and_unknown_from_a_stage_that_never_ends():
    trajectory = made_stage_times(EXPERIMENT.grids["quick"]["base"])
    ends = trajectory.facts["boundaries"]
    ends[1, 1:] = np.inf
    found = durations(trajectory)
    assert found[0] == pytest.approx([ends[0, 0], ends[0, 1] - ends[0, 0], ends[0, 2] - ends[0, 1]])
    assert found[1, 0] == ends[1, 0] and np.isnan(found[1, 1:]).all()


@pytest.mark.parametrize("odd", ["never", "one seed", "one run"])
def test_odd_runs_break_nothing(odd):
    runs = made(seeds=(7,)) if odd == "one seed" else made()
    if odd == "never":
        for _, trajectory in runs.values():
            trajectory.facts["boundaries"][:] = np.inf
            trajectory.facts["growth"][:] = np.nan
            trajectory.facts["foretold"][:] = np.inf
    if odd == "one run":
        runs = {"base": runs["base"]}
    figure = figure_stage_times(runs)
    figure.draw_without_rendering()
    if odd == "never":
        assert "3/3 never" in {text.get_text() for text in figure.axes[0].texts}
