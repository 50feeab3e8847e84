"""V_k = 0 and s_k = 1/T + noise_k: the start of the paper's simulation, on the simplex."""

from collections.abc import Sequence

import numpy as np

from headway.tasks.feature_draws import near_uniform_attention
from headway.theory.problem import Problem, State
from headway.theory.simplex import OffSimplex


def near_uniform(
    problem: Problem,
    seed: int,
    *,
    noise: float,
    otherwise: OffSimplex = "project",
) -> State:
    """V_k = 0, s_k = 1/T + noise * normal, one draw a head; a seed's start does not depend on other seeds.

    `noise` is a standard deviation. The paper's section B.4 gives a covariance 1e-6 I, so 1e-3, and leaves the start
    off the simplex; here it is projected. With `noise` 0 the heads are alike and the start is the symmetric one.
    """
    if noise and not np.all(problem.copies == 1):
        raise ValueError(
            "noise distinguishes positions, but some positions of this problem were merged because they are alike. "
            "Use noise=0, or the problem before `merge_positions`."
        )
    if noise:
        attention = near_uniform_attention(seed, problem.heads, problem.length, noise, otherwise)
    else:
        attention = np.full((problem.heads, problem.length), 1 / problem.copies.sum())
    return State(np.zeros((problem.heads, problem.size)), attention)


def logit_starts(problem: Problem, seeds: Sequence[int], noise: float) -> State:
    """`near_uniform` of every seed, with q_k = log s_k in the place of s_k."""
    states = [near_uniform(problem, seed, noise=noise) for seed in seeds]
    return stack([State(state.values, np.log(state.attention)) for state in states])


def stack(states: Sequence[State]) -> State:
    """Starts of many seeds as one state with a leading axis, for one call that solves all of them."""
    return State(np.stack([s.values for s in states]), np.stack([s.attention for s in states]))
