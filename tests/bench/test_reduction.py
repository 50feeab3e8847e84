"""The reduction is measured only where it is the same flow."""

import numpy as np
import pytest

from benchmarks.bench.parts.reduction import FLOW, contestants, difference
from benchmarks.bench.record import BenchError
from headway.theory.problem import State


def test_both_flows_end_at_the_same_matrices_and_have_moved():
    whole, reduced = contestants(FLOW, 3)
    end = whole()
    assert end.values.shape == (3, 9)
    assert difference(end, reduced(), 3) < 1e-8
    assert np.abs(end.values).max() > 0.5 and end.attention.max() > 0.3


def test_flows_that_end_elsewhere_are_not_compared():
    here, there = (State(np.full((2, 4), shift), np.zeros((2, 3))) for shift in (0.0, 1e-6))
    with pytest.raises(BenchError, match=r"d = 2 .* end 1.0e-06 apart"):
        difference(here, there, 2)
