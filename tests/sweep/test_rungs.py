"""The rung that a run is said to be at while it goes on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.analysis.ladders_of_blocks import ladder_of

from headway.sweep.rungs import Rungs

TOP = 3


def told(kl):
    """kl (evaluation, rung) of one member -> its rung at every evaluation."""
    rungs = Rungs()
    return [int(rungs.update(np.asarray(row, float)[None])[0]) for row in kl]


def climb(progress):
    """KL to rungs 0 .. 3 of a model that has gone `progress` of the way, from 0 to 3: (evaluation, rung)."""
    return np.abs(np.asarray(progress)[:, None] - np.arange(TOP + 1)) + 0.1


def test_a_model_is_at_a_rung_until_it_turns_away_from_it():
    """Columns: KL to uniform, to the first rung, to the second."""
    kl = [[0, 2, 3], [1, 1, 2.5], [2, 0.1, 2], [2.5, 0.5, 1], [3, 1, 0.2], [3, 1.2, 0.1]]
    assert told(kl) == [1, 1, 1, 2, 2, 2]


def test_a_rung_that_is_never_left_is_the_last_one_told():
    assert told([[0, 2, 3], [1, 1, 2.5], [2, 0.5, 2], [2, 0.2, 1.9]]) == [1, 1, 1, 1]


def test_trembling_is_not_turning():
    """Up to three hundredths of the descent."""
    assert told([[0, 2, 3], [1, 1.0, 2], [1, 1.029, 2]]) == [1, 1, 1]
    assert told([[0, 2, 3], [1, 1.0, 2], [1, 1.031, 2]]) == [1, 1, 2]


def test_beyond_the_last_rung_there_is_only_the_last_rung():
    assert told([[0, 2, 3], [1, 0.1, 0.1], [2, 1, 1]]) == [1, 1, 2]


def test_members_are_told_apart():
    rungs = Rungs()
    rungs.update(np.array([[0, 2.0, 3.0], [0, 2.0, 3.0]]))
    rungs.update(np.array([[0, 1.0, 2.0], [0, 1.0, 2.0]]))
    assert list(rungs.update(np.array([[0, 0.5, 1.5], [0, 1.5, 1.5]]))) == [1, 2]


def test_a_member_that_is_no_number_any_more_disturbs_nobody():
    rungs = Rungs()
    rungs.update(np.array([[0, 2.0, 3.0], [0, 2.0, 3.0]]))
    found = rungs.update(np.array([[np.nan] * 3, [0, 1.0, 2.0]]))
    assert found[1] == 1
    assert 1 <= found[0] <= 2


@given(st.lists(st.floats(0, TOP), min_size=1, max_size=40))
def test_whoever_only_climbs_never_goes_down(progress):
    rungs = told(climb(np.sort(progress)))
    assert rungs == sorted(rungs)


def test_a_climb_to_the_truth_visits_every_rung_and_ends_at_the_last():
    rungs = told(climb(np.linspace(0, TOP, 60)))
    assert (rungs[0], rungs[-1], set(rungs)) == (1, TOP, {1, 2, 3})


@pytest.mark.parametrize("position", [1, 25, 45, 59])
def test_a_run_that_goes_on_without_its_history_tells_its_rung_as_soon_as_it_moves(position):
    """What was measured before an interruption is not looked at again."""
    whole = climb(np.linspace(0, TOP, 60))
    resumed, undisturbed = told(whole[position:]), told(whole)[position:]
    assert resumed == sorted(resumed)
    assert resumed[0] == 1
    # A little early, because the descent of which a share must be gone up again is shorter.
    assert all(0 <= rung - true <= 1 for rung, true in zip(resumed[1:], undisturbed[1:], strict=True))
    assert resumed[-1] == TOP or position == 59


def test_one_block_has_one_rung():
    assert told([[3.0, 2.0], [3.0, 1.0], [3.0, 1.5]]) == [1, 1, 1]


def test_the_last_of_four_rungs_is_reported_though_its_step_is_a_small_part_of_the_descent():
    """KL to rung 3 rises by 2 % of its whole descent, which is 9 % of its descent since rung 2."""
    _, ladders = ladder_of("four, 1500 steps")
    for kl in ladders:
        rungs = told(kl)
        assert rungs[-1] == 4 and set(rungs) == {1, 2, 3, 4}
    _, (seed, *_) = ladder_of("four, 600 steps")
    assert told(seed)[-1] == 4, "approached, though not yet its stage"
