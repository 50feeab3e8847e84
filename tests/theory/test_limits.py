"""Where the flow ends: Remark 2's start, exactly, and Theorem 1 from starts as far off as its region allows."""

import numpy as np
import pytest
import scipy.optimize

from headway.theory.coupled import coupled
from headway.theory.problem import Problem, State, geometric, random_features, reduced_problem
from headway.theory.solve import log_times, solve
from headway.theory.two_scale import two_scale

STRENGTHS = geometric(3, 1.7)


@pytest.mark.parametrize("projections, share, value", [(2, 0.309, 2.462), (1, 0.173, 2.057)])
def test_remark_2_ends_with_attention_left_on_what_is_known(projections, share, value):
    """Where the conserved quantity lets it: the share a of s' on position 1 solves one equation, and V' = m_2/(1-a)."""
    epsilon, heads = 0.1, 3
    problem = reduced_problem(STRENGTHS, length=5, heads=heads, projections=projections)
    first = STRENGTHS[0] / heads
    start = State(np.array([[first, epsilon, 0]]), np.array([[1 - epsilon, epsilon, 0, 0, 0]]))
    end = solve(two_scale, problem, start, np.array([0.0, 1e3, 1e5]), method="implicit", tolerance=1e-9)

    def conserved(a, square):
        return np.log(a) + square / 2 if projections == 1 else np.log(a / (1 - a)) - 1 / a + square

    before = conserved(1 - epsilon, first**2 + epsilon**2)
    left = scipy.optimize.brentq(lambda a: conserved(a, (STRENGTHS[1] / (1 - a)) ** 2) - before, 1e-6, 0.6)
    assert left == pytest.approx(share, abs=1e-3)
    for when in (1, 2):
        assert end.attention[0, when] == pytest.approx([left, 1 - left, 0, 0, 0], abs=1e-4)
        assert end.values[0, when] == pytest.approx([0, value, 0], abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize("length", [5, 33])
def test_theorem_1_as_corrected_from_32_starts_of_its_region(length):
    """||V(0)|| up to 50, partly outside the features' span, a third on the border: V -> m_1/H V_1*, s -> e_1."""
    rng = np.random.default_rng(length)
    count, heads = 32, 3
    problems = [
        Problem(geometric(3, rng.uniform(1.2, 2)), random_features(seed, 3, 2), np.ones(length), heads=heads)
        for seed in range(count)
    ]
    seen = rng.uniform(-1, 1, (count, 3))
    seen[:, 0] = np.maximum(np.abs(seen[:, 0]), seen[:, 1:].max(axis=1))
    looked = rng.dirichlet(np.ones(length), count)
    looked[:, :3] = -np.sort(-looked[:, :3], axis=1)
    seen[::3, 1], looked[::3, 1] = seen[::3, 0], looked[::3, 0]
    looked /= looked.sum(axis=1, keepdims=True)
    features = np.stack([np.asarray(problem.features) for problem in problems])
    outside = rng.standard_normal((count, 4))
    outside -= np.einsum("nj,njv->nv", np.einsum("nv,njv->nj", outside, features), features)
    values = np.einsum("nj,njv->nv", seen, features) + outside * (np.arange(count) % 2)[:, None]
    values *= (rng.uniform(0, 50, count) / np.linalg.norm(values, axis=1))[:, None]
    end = solve(coupled, problems, State(values, looked), log_times(0.01, 1e4, 10), tolerance=1e-8)
    m = np.array([np.asarray(problem.strengths)[0] for problem in problems])
    wanted = m[:, None] / heads * features[:, 0]
    # With Pi squared what is elsewhere vanishes like the root of H T / (2 m_1^2 t), which is 0.05 there.
    assert end.attention[:, -1, 0].min() > 0.9
    assert (np.abs(end.values[:, -1] - wanted).max(axis=1) / m).max() < 0.1
