"""Dwells at levels, drops between them, and transitions of any run with a ladder."""

import numpy as np
import pytest

from headway.analysis.dwells import drop_times, dwell_shares, dwells
from headway.analysis.transitions import law, transitions
from headway.records import Trajectory

TIMES = np.arange(0, 101)
STAIRS = np.where(TIMES < 20, 1.0, np.where(TIMES < 60, 0.5, 0.1))


def test_a_staircase_dwells_at_its_steps_and_nowhere_else():
    found = dwells(TIMES, STAIRS, np.array([1.0, 0.7, 0.5, 0.1]), 0.01)
    assert found[[0, 2, 3]].tolist() == [[0, 19], [20, 59], [60, 100]]
    assert np.isnan(found[1]).all()
    shares = dwell_shares(TIMES, np.stack([STAIRS, np.ones(101)]), np.array([1.0, 0.7, 0.5]), 0.01)
    np.testing.assert_allclose(shares, [[1, 0, 39 / 59], [1, 0, 0]])


def test_of_two_stays_the_longer_counts():
    curve = np.where((TIMES < 5) | (TIMES > 50), 1.0, 0.0)
    assert dwells(TIMES, curve, np.array([1.0]), 0.1).tolist() == [[51, 100]]


def test_a_drop_is_where_the_line_meets_half_of_it():
    levels = np.array([[1.0, 0.0], [1.0, -9.0]])
    falling = np.linspace(1, 0, 101)
    found = drop_times(TIMES, np.stack([falling, falling]), levels)
    assert found[0, 0] == pytest.approx(50)
    assert np.isnan(found[1, 0]), "it never got there"


def made(waits, gains, seeds=3):
    """Seeds whose loss steps down by `gains` after `waits`."""
    ends, levels = np.cumsum(waits), 1 + np.sum(gains) - np.concatenate([[0], np.cumsum(gains)])
    times = np.arange(0, int(ends[-1]) + 50)
    loss = levels[np.searchsorted(ends, times, side="right")]
    facts = {"rung_loss": np.tile(levels, (seeds, 1))}
    arrays = {"loss": np.tile(loss, (seeds, 1))}
    return Trajectory(tuple(range(seeds)), {"evaluation": times}, arrays, {"loss": "evaluation"}, facts)


def test_waits_and_gains_are_read_off_a_ladder():
    found = transitions(made([10, 20, 80], [0.4, 0.2, 0.05]))
    assert found is not None
    np.testing.assert_allclose(found.waits[0], [10, 20, 80], atol=0.6)
    np.testing.assert_allclose(found.gains[0], [0.4, 0.2, 0.05])


def test_a_law_that_was_made_is_found():
    """wait = 8 / gain: a power of -1, and every smaller gain is waited for longer."""
    gains = np.array([0.4, 0.2, 0.1, 0.05])
    run = transitions(made(800 * gains.min() / gains, gains))
    assert run is not None
    told = law([run])
    assert told is not None
    assert told.power == pytest.approx(-1, abs=0.02) and told.ordered == 1
    assert (told.seeds, told.plateaus) == (3, 12)


def test_rungs_that_gain_nothing_are_left_out_and_runs_without_a_ladder_say_so():
    found = transitions(made([10, 20], [0.4, 0.0]))
    assert found is not None and found.rungs == (1,)
    bare = made([10], [0.4])
    assert transitions(Trajectory(bare.seeds, bare.clocks, bare.arrays, bare.clock_of)) is None
    ended = Trajectory(bare.seeds, bare.clocks, bare.arrays, bare.clock_of, {"plateau": np.array([5.0, 6.0, 7.0])})
    one = transitions(ended)
    assert one is not None and one.times[:, 0].tolist() == [5, 6, 7] and law([one]) is None


def test_a_rung_that_is_worse_than_an_earlier_one_does_not_count_nor_one_that_only_makes_up_for_it():
    levels = np.tile([1.0, 0.5, 0.8, 0.6, 0.2], (3, 1))
    run = made([10, 20], [0.5, 0.3])
    found = transitions(Trajectory(run.seeds, run.clocks, run.arrays, run.clock_of, {"rung_loss": levels}))
    assert found is not None and found.rungs == (1, 4)
    np.testing.assert_allclose(found.gains[0], [0.5, 0.3])


def test_a_seed_without_a_gain_does_not_count_towards_a_law():
    run = transitions(made([10, 20, 80], [0.4, 0.2, 0.05]))
    assert run is not None
    gains = run.gains.copy()
    gains[0, 1] = -0.1
    before, after = law([run]), law([run._replace(gains=gains)])
    assert before is not None and after is not None
    assert (before.plateaus, after.plateaus) == (9, 8) and np.isfinite(after.power)


def test_equal_gains_say_nothing_about_a_law():
    equal = transitions(made([10, 20, 80], [0.2, 0.2 + 1e-16, 0.2]))
    unequal = transitions(made([10, 20, 80], [0.4, 0.2, 0.05]))
    assert equal is not None and unequal is not None
    assert law([equal]) is None and law([equal, unequal]) == law([unequal])
