"""When a probe is due; needs no PyTorch."""

import itertools

import pytest

from headway.telemetry import Schedule
from headway.telemetry.schedule import Budget


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


def simulated(steps, known, step_seconds=0.04, probe_seconds=0.1, first=3.0, compiling=40.0, share=0.04):
    """Seconds of training and of probes, and the steps that were probed; the first step also compiles."""
    schedule, budget = Schedule(share=share), Budget(share, steps if known else None)
    now, last, training, probed = 0.0, None, 0.0, []
    for step in range(steps + 1):
        if schedule.due(step, last) and budget.allows(step, now):
            took = first if last is None else probe_seconds
            budget.probed(step, now, now + took)
            now, last = now + took, step
            probed.append(step)
        took = step_seconds + (compiling if step == 0 else 0.0)
        now, training = now + took, training + took
    return training, budget, probed


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("steps", [500, 5_000, 50_000])
@pytest.mark.parametrize("step_seconds", [0.01, 0.04, 0.5])
def test_probes_take_at_most_their_share_of_the_training(steps, known, step_seconds):
    """But for what the first takes longer, and for two while nobody knows how long a step takes."""
    training, budget, probed = simulated(steps, known, step_seconds)
    assert budget.first == 3.0 and budget.probes == len(probed)
    assert budget.spent <= 0.04 * training + 2 * 0.1 + 1e-9


def test_a_known_length_lets_early_steps_use_what_late_ones_leave():
    """Of 10000 steps of 40 ms, probes of 0.1 s: as often as without a limit, since all of them take 2.4 %."""
    _, _, probed = simulated(10_000, known=True)
    _, _, unlimited = simulated(10_000, known=True, share=None)
    assert probed == unlimited and len([step for step in probed if step < 1000]) > 50
    _, _, without = simulated(10_000, known=False, compiling=0.0)
    assert len([step for step in without if step < 1000]) < 20


def test_a_short_run_has_few_probes_spread_over_it():
    _, _, probed = simulated(400, known=True)  # 16 s of training: 0.64 s of probes
    assert 5 <= len(probed) <= 9 and probed[-1] > 100 and probed[3] < 60


@pytest.mark.parametrize("wrong", [{"growth": 1.0}, {"every": 0}, {"share": 2.0}, {"growth": None}])
def test_a_schedule_that_means_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match="schedule"):
        Schedule(**wrong)
