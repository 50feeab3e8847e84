"""When a probe is due; needs no PyTorch."""

import itertools

import pytest

from headway.telemetry import Schedule


def measured(schedule, steps):
    last, found = None, []
    for step in steps:
        if schedule.due(step, last):
            last = step
            found.append(step)
    return found


def test_steps_grow_by_a_tenth_and_by_one_at_least():
    found = measured(Schedule(), range(200))
    assert found[:12] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
    assert all(b >= 1.1 * a for a, b in itertools.pairwise(found)) and len(found) < 45


def test_every_and_at_and_steps_that_are_passed_over():
    assert measured(Schedule(growth=None, every=10), range(35)) == [0, 10, 20, 30]
    assert measured(Schedule(growth=None, at=(3, 7)), range(20)) == [0, 3, 7]
    # A trainer that reports every fourth step is measured at the first report after each.
    assert measured(Schedule(growth=None, every=10), range(0, 40, 4)) == [0, 12, 20, 32]


def test_a_probe_waits_while_those_before_took_more_than_their_share():
    schedule = Schedule(share=0.04)
    assert not schedule.affordable(spent=1.0, elapsed=10.0) and schedule.affordable(spent=1.0, elapsed=25.0)
    assert Schedule(share=None).affordable(spent=1.0, elapsed=1.0)


@pytest.mark.parametrize("wrong", [{"growth": 1.0}, {"every": 0}, {"share": 2.0}, {"growth": None}])
def test_a_schedule_that_means_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match="schedule"):
        Schedule(**wrong)
