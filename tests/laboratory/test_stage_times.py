"""A cell of stage times: facts of every seed, and infinity where a stage did not end."""

from dataclasses import replace

import numpy as np
import pytest

from headway.laboratory.stage_times import reaches, stage_times
from headway.records import Cell
from headway.settings import StageTimesSettings
from headway.theory.stage_times import first_stage

SETTINGS = StageTimesSettings(features=2, length=6, noise=1e-8, projections=1, last=200.0)


@pytest.fixture(scope="module")
def facts():
    return stage_times(Cell(SETTINGS, (0, 1))).facts


def test_stages_end_one_after_the_other_near_where_the_theory_says(facts):
    ends = facts["boundaries"]
    assert ends.shape == (2, 2) and np.all(ends[:, 1] > ends[:, 0])
    assert np.allclose(facts["first_stage"], first_stage(1.7, length=6, heads=2, projections=1))
    assert ends[:, 0] == pytest.approx(facts["first_stage"], rel=0.2)
    assert ends[:, 1] == pytest.approx(facts["foretold"], rel=0.5)


def test_differences_have_grown_to_about_one_when_the_second_stage_ends(facts):
    reached = SETTINGS.length * SETTINGS.noise**0.5 * np.exp(facts["growth"])
    assert np.all((reached > 0.1) & (reached < 30))


def test_a_stage_that_has_not_ended_ends_at_infinity_and_has_no_growth(facts):
    middle = float(facts["boundaries"].mean(axis=1).min())
    short = stage_times(Cell(replace(SETTINGS, last=middle), (0, 1))).facts
    assert short["boundaries"][:, 0] == pytest.approx(facts["boundaries"][:, 0])
    assert np.all(short["boundaries"][:, 1] == np.inf) and np.isnan(short["growth"]).all()


@pytest.mark.parametrize("level, time", [(-1.0, 0.0), (1.0, 1.5), (3.0, np.inf)])
def test_a_level_is_reached_where_values_rise_above_it_for_good(level, time):
    assert reaches(np.array([0.0, 1.0, 2.0]), np.array([0.5, 0.0, 2.0]), level) == time


@pytest.mark.parametrize(
    "change, complaint",
    [({"features": 1}, "features"), ({"length": 2, "features": 3}, "do not fit"), ({"noise": 0.0}, "noise")],
)
def test_settings_without_a_second_stage_are_refused(change, complaint):
    with pytest.raises(ValueError, match=complaint):
        replace(SETTINGS, **change)
