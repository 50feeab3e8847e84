"""A7: the smaller the start of the scores, the later the first stage ends; from zero it never does."""

from itertools import permutations

import pytest
from tests.claims.exemplary import EXAMPLES, other, started
from tests.claims.made import climbing, made_run

from headway.experiments.init_scale import A7, smaller_start_is_later

LATER = "later for smaller u"
STOPS = "u = 0 stops"


def judged(*runs):
    return smaller_start_is_later(A7, *runs)


def test_the_measure_is_how_much_later_the_smallest_start_leaves_the_first_stage():
    found = judged(*EXAMPLES["A7"].runs())
    assert found.values == pytest.approx([150 / 60] * 3, rel=0.01)
    assert found.detail == "The first stage ends at steps 60 and 150 for u = 0.001, 1e-06."
    assert found.parts == {LATER: 3, STOPS: 3}


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_runs_may_come_in_any_order(order):
    runs = EXAMPLES["A7"].runs()
    assert judged(*(runs[place] for place in order)) == judged(*runs)


@pytest.mark.parametrize(
    "changed, missing",
    [
        (other("A7", 0, **climbing(20, 300, 600)), LATER),
        (other("A7", 1, **climbing(20, 60, 300)), LATER),
        (other("A7", 1, **climbing(20)), LATER),
        (other("A7", 2, **climbing(20, 900)), STOPS),
    ],
    ids=["a larger start is later", "both end together", "a start above 0 never leaves", "zero leaves, too"],
)
def test_one_run_that_does_otherwise_is_enough_to_fail(changed, missing):
    found = judged(*changed)
    assert found.verdict == "fails"
    assert [part for part, count in found.parts.items() if count == 0] == [missing]


def test_a_start_in_the_middle_that_is_out_of_line_fails_though_the_ends_are_right():
    runs = EXAMPLES["A7"].runs(seeds=(0,))
    early = made_run(started(1e-5), **climbing(10, 40, 150))
    found = judged(runs[0], early, *runs[1:])
    assert (found.verdict, found.parts) == ("fails", {LATER: 0, STOPS: 1})
    assert found.values[0] > 1


@pytest.mark.parametrize("left_out", range(3))
def test_it_needs_two_starts_above_zero_and_zero_itself(left_out):
    runs = [run for place, run in enumerate(EXAMPLES["A7"].runs()) if place != left_out]
    found = judged(*runs)
    assert (found.verdict, found.detail) == ("not run", "It needs two starts above 0, and 0 itself.")
