"""When the model is looked at."""

import numpy as np
import pytest
from headway.training.schedule import evaluation_steps, snapshot_steps

from headway.settings import EvaluationSettings

CASES = [
    (EvaluationSettings(points, also, snapshots), steps)
    for points in (0, 1, 2, 30, 500)
    for also in ((), (60, 300, 5), (1, 1, 0))
    for snapshots in (0, 1, 2, 9)
    for steps in (1, 7, 60, 2000)
]


@pytest.mark.parametrize("measure", [evaluation_steps, snapshot_steps])
def test_steps_come_sorted_and_once_and_never_after_the_end(measure):
    for settings, steps in CASES:
        found = measure(settings, steps)
        assert found == sorted(set(found))
        assert all(type(step) is int and 0 <= step <= steps for step in found)


def test_evaluations_include_the_start_the_end_and_what_is_listed_up_to_it():
    for settings, steps in CASES:
        assert {0, steps, *(s for s in settings.also if s <= steps)} <= set(evaluation_steps(settings, steps))


def test_without_points_nothing_but_the_start_the_end_and_the_listed_steps_is_evaluated():
    assert evaluation_steps(EvaluationSettings(points=0, also=(60, 5000)), 2000) == [0, 60, 2000]


def test_evaluations_are_log_spaced():
    """Twice as late, twice as far apart: the ratio of neighbours is that of the points, once rounding is small."""
    found = np.array(evaluation_steps(EvaluationSettings(points=40), 10_000)[1:])
    late = found[found > 100]
    assert np.allclose(late[1:] / late[:-1], 10_000 ** (1 / 39), rtol=0.01)
    assert len(found) <= 40


def test_more_points_than_steps_evaluate_every_step():
    assert evaluation_steps(EvaluationSettings(points=500), 12) == list(range(13))


def test_snapshots_are_evaluations_with_the_listed_steps_among_them():
    for settings, steps in CASES:
        found = set(snapshot_steps(settings, steps))
        assert found <= set(evaluation_steps(settings, steps))
        assert {s for s in settings.also if s <= steps} <= found


def test_snapshots_are_as_many_as_asked_for_from_the_start_to_the_end():
    settings = EvaluationSettings(points=100, snapshots=9)
    evaluations, found = evaluation_steps(settings, 2000), snapshot_steps(settings, 2000)
    assert len(found) == 9
    assert found[0] == 0
    assert found[-1] == 2000
    gaps = np.diff([evaluations.index(step) for step in found])
    assert gaps.max() - gaps.min() <= 1, "evenly many evaluations lie between two of them"


def test_without_snapshots_only_the_listed_steps_are_kept():
    assert snapshot_steps(EvaluationSettings(snapshots=0, also=(5, 60)), 2000) == [5, 60]
    assert snapshot_steps(EvaluationSettings(snapshots=0), 2000) == []
