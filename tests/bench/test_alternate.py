"""Rival and Headway in turn; ratios of neighbours; exponents of known powers."""

import numpy as np
import pytest
from tests.bench.made import made

from benchmarks.bench import alternate as module
from benchmarks.bench.alternate import alternate, spread, warm_up
from benchmarks.bench.contestant import Contestant
from benchmarks.bench.power_law import exponent
from benchmarks.bench.tables import ratios


@pytest.fixture
def clock(monkeypatch):
    """A clock that only moves when a contestant works."""
    now = [0.0]
    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(module.time, "sleep", lambda seconds: None)
    return now


def contestant(name, clock, calls, seconds, seeds=1, steps=2, first=0.0):
    def advance():
        clock[0] += seconds + (0 if name in calls else first)
        calls.append(name)
        return np.zeros((seeds, steps))

    return Contestant(name, seeds, steps, advance)


def test_every_rival_is_followed_by_headway(clock):
    calls = []
    headway = contestant("headway", clock, calls, 1.0, seeds=4, steps=5)
    rivals = [contestant("torch", clock, calls, 8.0), contestant("jax", clock, calls, 2.0)]
    rounds = list(alternate(headway, rivals, 3))
    assert calls == ["torch", "headway", "jax", "headway"] * 3
    assert [tuple(pair) for pair in rounds[0]] == [("torch", 4.0, 0.05), ("jax", 1.0, 0.05)], "per seed and step"


def test_compiling_is_what_the_first_call_takes_longer(clock):
    assert warm_up(contestant("jax", clock, [], 2.0, first=30.0)) == pytest.approx(30.0)
    assert warm_up(contestant("torch", clock, [], 2.0)) == 0.0


def test_a_disturbance_of_both_leaves_their_ratio():
    over = ratios(made("rivals"))["torch"]
    assert (over.median, over.low, over.high) == pytest.approx((4, 4, 4))
    assert ratios(made("rivals"))["jax"].low == pytest.approx(1)


def test_a_spread_has_range_and_quartiles():
    over = spread([5.0, 1.0, 2.0, 4.0, 3.0])
    assert (over.low, over.lower_quartile, over.median, over.upper_quartile, over.high) == (1, 2, 3, 4, 5)


@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_a_pure_power_is_found_without_error(power):
    values = np.array([2.0, 5.0, 9.0, 30.0])
    found = exponent(values.tolist(), (0.3 * values**power).tolist())
    assert found == pytest.approx((power, 0, 0.3), abs=1e-9)


def test_the_standard_error_of_an_exponent_is_that_of_least_squares():
    """x = -1, 0, 1 and y = 0, 1, 0 in logs: slope 0, residuals -1/3, 2/3, -1/3, so the variance is (6/9) / 1 / 2."""
    found = exponent(np.exp([-1, 0, 1]).tolist(), np.exp([0, 1, 0]).tolist())
    assert (found.value, found.standard_error) == pytest.approx((0, 3**-0.5), abs=1e-9)


def test_two_points_have_a_slope_and_no_standard_error():
    assert exponent([1.0, 2.0], [1.0, 4.0])[:2] == (pytest.approx(2), None)
