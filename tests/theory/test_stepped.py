"""Gradient descent follows the corrected flow to less than a step, where it lags behind the flow itself."""

import numpy as np
import pytest
from tests.theory.descent import by_descent

from headway.theory.emergence import simulate, stepped
from headway.theory.emergence.toy import toy

UNTIL = {"threshold": 0.1, "longest": 10.0}


@pytest.mark.parametrize("sizes", [(16, 64), (64, 256, 2, 0.1)])
def test_descent_ends_its_plateau_at_the_first_step_behind_the_corrected_flow(sizes):
    problem = toy(*sizes)
    _, (time,) = simulate.by_flow([problem], np.zeros(0), **UNTIL)
    for rate in (0.5, 4.0):
        _, (ended,) = by_descent([problem], np.zeros(0), rate=rate, tail=1.0, **UNTIL)
        whole = ended / rate
        # What is left of the next order moves it by a tenth of a step at most.
        assert -0.1 <= whole - stepped.steps(problem, rate, **UNTIL) <= 1.1
        assert whole - time / rate > 1.2, "the flow alone is ahead, by steps that do not shrink with the rate"


def test_a_flow_that_takes_too_long_has_no_end():
    assert stepped.steps(toy(16, 64), 1.0, threshold=0.1, longest=0.5) == np.inf
