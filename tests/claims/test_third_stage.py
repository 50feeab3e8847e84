"""T9 and T10 on made boundaries that are the prediction, and on some that are not."""

from functools import cache

import numpy as np
from tests.report.made_stage_times import made_stage_times

from headway.claims.third_stage import differing, parted, predicted
from headway.experiments.third_stage import EXPERIMENT, SEVERAL, T9, T10
from headway.report.figures.third_stage import figure_third_stage

GRID = EXPERIMENT.grids["quick"]


@cache
def times() -> dict[str, float]:
    return {name: predicted(settings) for name, settings in GRID.items()}


def made(power: float = 1.0, several: float = 1.0) -> dict:
    """t_3 = predicted^power; in the third seed of runs with several factors it is `several` times that."""
    runs = {}
    for name, settings in GRID.items():
        trajectory = made_stage_times(settings)
        trajectory.facts["boundaries"][:, 2] = times()[name] ** power
        if "," in name:
            trajectory.facts["boundaries"][2, 2] *= several
        runs[name] = settings, trajectory
    return runs


def test_runs_with_one_factor_and_with_several_are_told_apart_by_their_settings():
    few, others = parted(list(made().values()))
    assert len(others) == 2 and len(few) == len(GRID) - 2
    assert differing(GRID["base"], GRID["base"]) == 0
    wide = EXPERIMENT.grids["printed"]
    assert differing(wide["base"], wide["features 5"]) == 1, "as many heads as features follow them"
    assert sum(differing(wide["base"], settings) > 1 for settings in wide.values()) == len(SEVERAL)


def test_boundaries_where_they_are_predicted_show_both_claims():
    for claim in (T9, T10):
        found = claim.held_against(made(), "quick")
        assert found.holds == (True, True, True)
        np.testing.assert_allclose(found.values, 1, rtol=1e-6)


def test_another_power_breaks_the_law_and_one_seed_that_misses_breaks_its_test():
    assert not any(T9.held_against(made(power=1.3), "quick").holds)
    assert T10.held_against(made(several=1.6), "quick").holds == (True, True, False)


def test_every_median_is_drawn_where_it_was_predicted():
    figure = figure_third_stage(list(made().values()))
    drawn = [line for line in figure.axes[0].get_lines() if line.get_marker() in "oD" and len(line.get_xdata())]
    np.testing.assert_allclose([line.get_ydata()[0] for line in drawn], [line.get_xdata()[0] for line in drawn])
    assert len(drawn) == len(GRID)
