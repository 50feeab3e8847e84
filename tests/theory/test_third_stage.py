"""The third boundary of the flow: its parts, and the prediction against the solver."""

import numpy as np
import pytest
from scipy import integrate

from headway.tasks.flow_third_stage import K, _TwoGroups
from headway.theory import geometric, reduced_problem
from headway.theory.simulate import boundaries
from headway.theory.stage_times import log_growth
from headway.theory.start import logit_starts
from headway.theory.third_stage import third_stage


def test_the_constant_is_its_integral():
    whole, _ = integrate.quad(lambda q: 1 / np.sqrt(2 * (np.exp(q) - np.e + 0.5)), 1, 60)
    assert pytest.approx(whole, rel=1e-6) == K


@pytest.mark.parametrize("projections", [1, 2])
def test_heads_that_are_all_alike_grow_apart_as_in_the_second_stage(projections):
    """Nobody ahead: both groups follow the coupled flow, and a difference at position 2 grows as `log_growth`."""
    strengths = geometric(3, 1.7)
    flow = _TwoGroups(strengths, length=10, heads=4, projections=projections)
    start = flow.start(0.0)
    start[flow.cuts[4] + 1 : flow.cuts[4] + 3] = 1.0, 0.0
    times = np.array([0.0, 2.0, 6.0])
    path = integrate.solve_ivp(flow.velocity, (0, 6.0), start, t_eval=times, method="LSODA", rtol=1e-9, atol=1e-11)
    V, q, W, p, _, dq, sizes = np.split(path.y, flow.cuts)
    np.testing.assert_allclose(W, V, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(p, q, rtol=1e-9, atol=1e-12)
    means = [np.sum(flow.copies * flow.attention(q[:, at]) * dq[:, at]) for at in range(3)]
    found = sizes[0] + np.log(np.abs(dq[1] - means))
    wanted = log_growth(strengths, times, length=10, heads=4, projections=projections)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_without_a_third_feature_or_a_third_head_there_is_no_third_stage():
    shared = {"length": 10, "projections": 1, "noise": 1e-6, "last": 100.0}
    assert third_stage((2.0, 1.0), heads=3, **shared).end == np.inf
    assert third_stage((4.0, 2.0, 1.0), heads=2, **shared).end == np.inf


def test_less_noise_waits_longer_and_a_last_time_cuts_it_off():
    shared = {"length": 20, "heads": 3, "projections": 1}
    strengths = tuple(geometric(3, 1.7))
    ends = [third_stage(strengths, noise=noise, last=1e4, **shared).end for noise in (1e-4, 1e-6, 1e-8)]
    assert ends[0] < ends[1] < ends[2]
    first, second = np.diff(ends)
    assert second == pytest.approx(first, rel=0.2), "in proportion to the logarithm of the noise"
    assert third_stage(strengths, noise=1e-8, last=20.0, **shared).end == np.inf


def test_the_solver_agrees_within_a_factor_of_two_at_little_noise():
    problem = reduced_problem(geometric(3, 1.7), length=20, projections=1)
    met = boundaries(problem, logit_starts(problem, range(3), 1e-5), end=400.0)[:, 2]
    told = third_stage(tuple(geometric(3, 1.7)), length=20, heads=3, projections=1, noise=1e-5, last=400.0).end
    assert np.all(np.abs(np.log(met / told)) < np.log(2))
