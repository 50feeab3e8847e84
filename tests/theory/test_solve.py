"""The solver, against a closed form and against scipy."""

import jax
import numpy as np
import pytest
import scipy.integrate

from headway.theory.flow import full, logits
from headway.theory.problem import State, geometric, reduced_problem
from headway.theory.simulate import logit_loss
from headway.theory.solve import crossings, log_times, solve
from headway.theory.start import near_uniform, stack

TIMES = log_times(0.1, 300, 30)
ALONE = reduced_problem(np.array([2.0]), length=1, heads=3)
"""One feature and one position: attention has nowhere to go, and V = m/H (1 - e^{-H t}) in every head."""
NOTHING = State(np.zeros((1, 3, 1)), np.zeros((1, 3, 1)))


def scipy_path(problem, start):
    shapes = [part.shape for part in start]
    cut = int(np.prod(shapes[0]))
    field = jax.jit(full)

    def velocity(_, y):
        state = State(y[:cut].reshape(shapes[0]), y[cut:].reshape(shapes[1]))
        return np.concatenate([np.ravel(part) for part in field(problem, state)])

    y = np.concatenate([part.ravel() for part in start])
    solution = scipy.integrate.solve_ivp(
        velocity, (0, TIMES[-1]), y, t_eval=TIMES, method="DOP853", rtol=1e-11, atol=1e-13
    )
    return State(solution.y[:cut].T.reshape(-1, *shapes[0]), solution.y[cut:].T.reshape(-1, *shapes[1]))


@pytest.fixture(scope="module")
def expected():
    with jax.enable_x64(True):
        problem = reduced_problem(geometric(2, 1.7), length=4)
        start = near_uniform(problem, 0, noise=1e-3)
        return problem, start, scipy_path(problem, start)


def test_the_solution_is_scipys(expected):
    problem, start, wanted = expected
    path = solve(full, problem, stack([start]), TIMES, tolerance=1e-11)
    assert np.abs(path.values[0] - wanted.values).max() < 1e-8
    assert np.abs(path.attention[0] - wanted.attention).max() < 1e-8


def test_the_implicit_solver_and_the_logits_give_the_same_solution(expected):
    """The softmax flow on logits is the flow on s, over a whole run."""
    problem, start, wanted = expected
    logs = stack([State(start.values, np.log(start.attention))])
    path = solve(logits, problem, logs, TIMES, method="implicit", tolerance=1e-8)
    attention = np.exp(path.attention[0])
    assert np.abs(attention / attention.sum(axis=-1, keepdims=True) - wanted.attention).max() < 1e-6


def square(problem, y):
    """dy/dt = y^2: y = y0 / (1 - y0 t), infinite at time 1 / y0."""
    return y * y


def test_a_closed_form_is_met_in_double_precision_whatever_is_set():
    times, start = np.linspace(0, 2, 21), np.array([0.1, 0.4])
    with jax.enable_x64(False):
        path = solve(square, ALONE, start, times)
    assert path.dtype == np.float64
    assert np.abs(path - start[:, None] / (1 - start[:, None] * times)).max() < 1e-9


def test_a_solver_that_gives_up_says_where_and_what_to_do():
    with pytest.raises(RuntimeError, match=r"start\(s\) \[1\].*loosen the tolerance"):
        solve(square, ALONE, np.array([0.1, 1.0]), np.linspace(0, 2, 21))


def test_crossings_are_exact_and_infinite_where_there_are_none():
    """The loss is 2 e^{-6 t}; a level above the start is met at once."""
    levels = np.array([5.0, 1.0, 0.1, 1e-60])
    times = crossings(logits, logit_loss, ALONE, NOTHING, levels, end=4.0)
    assert times[0, 0] == 0
    assert times[0, 1:3] == pytest.approx(np.log(2 / levels[1:3]) / 6, rel=1e-8)
    assert times[0, 3] == np.inf
    with pytest.raises(ValueError, match="highest first"):
        crossings(logits, logit_loss, ALONE, NOTHING, levels[::-1], end=4.0)
