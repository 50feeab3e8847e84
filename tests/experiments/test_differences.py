"""H3: a rate that falls on plateaus can end learning at a saddle."""

import numpy as np
import pytest
from tests.claims.exemplary import EXAMPLES, falling_rate, other, scheduled
from tests.claims.made import OFTEN, climbing

from headway.experiments.differences import H3, plateau_schedule_stops_at_saddles

LEAVES, STAYS = "the constant rate leaves", "the plateau schedule stays"


def judged(runs):
    return plateau_schedule_stops_at_saddles(H3, *runs)


def test_the_measure_is_what_is_left_of_the_rate():
    found = judged(EXAMPLES["H3"].runs())
    assert found.verdict == "holds"
    assert found.values == pytest.approx([0.01] * 3)
    assert "The first stage ends at step 60 under a constant rate" in found.detail
    assert f"fallen to a tenth by step {OFTEN[OFTEN >= 40][0]} (medians over seeds)." in found.detail


def test_which_run_is_which_is_told_by_their_schedules():
    runs = EXAMPLES["H3"].runs()
    turned = judged(runs[::-1])
    assert (turned.holds, turned.values) == (judged(runs).holds, judged(runs).values)


@pytest.mark.parametrize(
    "number, steps, missing", [(0, (20,), LEAVES), (1, (20, 900), STAYS)], ids=["both stay", "both leave"]
)
def test_a_saddle_that_both_leave_or_neither_does_is_not_ended_by_the_schedule(number, steps, missing):
    found = judged(other("H3", number, **climbing(*steps)))
    assert found.verdict == "fails"
    assert [part for part, count in found.parts.items() if count == 0] == [missing]


def test_what_never_happens_is_told_so():
    runs = other("H3", 1, rates=falling_rate(None))
    assert "the rate never falls to a tenth" in judged(runs).detail
    assert judged(runs).values == (1,)
    assert "The first stage never ends under a constant rate" in judged(other("H3", 0, **climbing(20))).detail


def test_a_rate_that_falls_in_some_seeds_only_is_told_by_their_median():
    runs = EXAMPLES["H3"].runs()
    rates = np.stack([falling_rate(step) for step in (100, None, 300)])
    runs[1][1]["learning_rate"][:] = rates
    steps = [OFTEN[step <= OFTEN][0] for step in (100, 300)]
    assert f"to a tenth by step {np.mean(steps):.0f} " in judged(runs).detail
    assert judged(runs).values == pytest.approx((0.01, 1, 0.01))


@pytest.mark.parametrize("schedules", [("constant", "constant"), ("plateau", "plateau-step")])
def test_it_needs_one_run_of_either_kind(schedules):
    runs = zip(schedules, EXAMPLES["H3"].runs(), strict=True)
    found = judged([(scheduled(name), trajectory) for name, (_, trajectory) in runs])
    assert (found.verdict, found.detail) == (
        "not run",
        "It needs a run with a constant rate and one with the plateau schedule.",
    )
