"""The rung that a run is said to be at while it goes on."""

import numpy as np

from headway.sweep.rungs import Rungs


def told(kl):
    """kl (evaluation, rung) of one member -> its rung at every evaluation."""
    rungs = Rungs()
    return [int(rungs.update(np.asarray(row, float)[None])[0]) for row in kl]


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
