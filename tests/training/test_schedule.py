"""When the model is looked at."""

import numpy as np
import pytest

from headway.settings import EvaluationSettings

CASES = [
    (EvaluationSettings(points, also, snapshots), steps)
    for points in (0, 1, 2, 30, 500)
    for also in ((), (60, 300, 5), (1, 1, 0))
    for snapshots in (0, 1, 2, 9)
    for steps in (1, 7, 60, 2000)
]


@pytest.mark.parametrize("measure", [EvaluationSettings.steps, EvaluationSettings.pictures])
def test_steps_come_sorted_and_once_and_never_after_the_end(measure):
    for settings, steps in CASES:
        found = measure(settings, steps)
        assert found == sorted(set(found))
        assert all(type(step) is int and 0 <= step <= steps for step in found)


def test_evaluations_include_the_start_the_end_and_what_is_listed_up_to_it():
    for settings, steps in CASES:
        assert {0, steps, *(s for s in settings.also if s <= steps)} <= set(settings.steps(steps))


def test_without_points_nothing_but_the_start_the_end_and_the_listed_steps_is_evaluated():
    assert EvaluationSettings(points=0, also=(60, 5000)).steps(2000) == [0, 60, 2000]


def test_evaluations_are_log_spaced():
    """Twice as late, twice as far apart: the ratio of neighbours is that of the points, once rounding is small."""
    found = np.array(EvaluationSettings(points=40).steps(10_000)[1:])
    late = found[found > 100]
    assert np.allclose(late[1:] / late[:-1], 10_000 ** (1 / 39), rtol=0.01)
    assert len(found) <= 40


def test_more_points_than_steps_evaluate_every_step():
    assert EvaluationSettings(points=500).steps(12) == list(range(13))


def test_snapshots_are_evaluations_with_the_listed_steps_among_them():
    for settings, steps in CASES:
        found = set(settings.pictures(steps))
        assert found <= set(settings.steps(steps))
        assert {s for s in settings.also if s <= steps} <= found


def test_snapshots_are_as_many_as_asked_for_from_the_start_to_the_end():
    settings = EvaluationSettings(points=100, snapshots=9)
    evaluations, found = settings.steps(2000), settings.pictures(2000)
    assert len(found) == 9
    assert found[0] == 0
    assert found[-1] == 2000
    gaps = np.diff([evaluations.index(step) for step in found])
    assert gaps.max() - gaps.min() <= 1, "evenly many evaluations lie between two of them"


def test_without_snapshots_only_the_listed_steps_are_kept():
    assert EvaluationSettings(snapshots=0, also=(5, 60)).pictures(2000) == [5, 60]
    assert EvaluationSettings(snapshots=0).pictures(2000) == []


@pytest.mark.parametrize("growth", [0.0, 0.05, 0.5])
def test_multiples_are_all_at_first_and_later_as_far_apart_as_the_steps_have_grown(growth):
    settings = EvaluationSettings(every=25, growth=growth)
    found = np.array(settings.steps(20_000))
    gaps = np.diff(found)
    assert found[0] == 0 and found[-1] == 20_000
    assert (found % 25 == 0).all()
    early = found[:-1] < 50 / growth if growth else np.ones(len(gaps), bool)
    assert (gaps[early] == 25).all()
    late = ~early[:-1]
    np.testing.assert_array_less(gaps[:-1][late], growth * found[:-2][late] + 1e-9)
    np.testing.assert_array_less(growth * found[:-2][late] - 25, gaps[:-1][late])


def test_multiples_keep_the_listed_steps_and_snapshots_too():
    settings = EvaluationSettings(every=10, also=(7, 300), snapshots=2)
    assert settings.steps(40) == [0, 7, 10, 20, 30, 40]
    assert settings.pictures(40) == [0, 7, 40]
