"""How long a stage takes: formulas against the solver."""

import jax
import numpy as np
import pytest
import scipy.integrate

from headway.theory.flow import full, logits
from headway.theory.problem import State, geometric, reduced_problem
from headway.theory.reduction import merge_positions
from headway.theory.simulate import halfway, logit_loss
from headway.theory.solve import log_times
from headway.theory.stage_times import fall_time, first_stage, growth_rate, last_part, log_growth
from headway.theory.start import near_uniform

STRENGTHS = geometric(3, 1.7)


def run(problem, start, times, level=None):
    """The flow by scipy, which has nothing to compile: states at `times`, or when the loss falls to `level`."""
    shape = start.values.shape
    cut = int(np.prod(shape))

    def state_of(y):
        return State(y[:cut].reshape(shape), y[cut:].reshape(start.attention.shape))

    field, loss = jax.jit(logits), jax.jit(logit_loss)

    def velocity(_, y):
        return np.concatenate([np.ravel(part) for part in field(problem, state_of(y))])

    def above(_, y):
        return float(loss(problem, state_of(y))) - level

    above.terminal = True
    path = scipy.integrate.solve_ivp(
        velocity, (0, times[-1]), np.concatenate([np.ravel(part) for part in start]), t_eval=times,
        method="DOP853", rtol=1e-11, atol=1e-13, events=None if level is None else above,
    )  # fmt: skip
    return path.y.T if level is None else float(path.t_events[0][0])


def test_a_fall_without_friction_has_a_closed_form():
    assert fall_time(0, 1) == pytest.approx(np.pi / np.sqrt(2), rel=1e-9)
    assert fall_time(0, 2) == pytest.approx(np.sqrt(np.pi / 2), rel=1e-9)


def test_a_fall_through_much_friction_takes_half_of_it():
    """k dy/dt = -1/y: y^2 = 1 - 2 t/k."""
    assert fall_time(50, 2) == pytest.approx(25, rel=0.01)


def test_the_last_part_ends_sooner_where_more_heads_share_the_work():
    """They need less of c and of s each; without anything to reach, infinity counts too much: -2/c*."""
    parts = [last_part(damping) for damping in (0.1, 1, 10, 100)]
    assert np.all(np.diff(parts) < 0)


@pytest.mark.parametrize("projections, within", [(1, 0.02), (2, 0.1)])
def test_the_first_stage_of_even_heads_takes_what_the_formula_says(projections, within):
    """At T = 40, and sixteen times as near at T = 640 with Pi once, six times with Pi twice: O(1/T), O(log T / T)."""
    errors = []
    for length in (40, 640):
        problem = reduced_problem(STRENGTHS, length=length, heads=6, projections=projections)
        small, even, _ = merge_positions(problem, near_uniform(problem, 0, noise=0.0))
        start = State(even.values, np.log(np.asarray(even.attention)))
        found = run(small, start, np.array([0.0, 1e4]), level=halfway(STRENGTHS)[0])
        formula = first_stage(float(STRENGTHS[0]), length=length, heads=6, projections=projections)
        errors.append(abs(found / formula - 1))
    assert errors[0] < within
    assert errors[1] < errors[0] / (10 if projections == 1 else 4)


@pytest.mark.parametrize("projections, end", [(1, 40.0), (2, 150.0)])
def test_small_differences_between_heads_grow_as_the_linear_equation_says(projections, end):
    """Two heads that differ by 1e-7 at position 2, in opposite directions, in the flow itself."""
    length, tiny = 6, 1e-7
    problem = reduced_problem(STRENGTHS, length=length, heads=2, projections=projections)
    q = np.full((2, length), -np.log(length))
    q[:, 1] += [tiny, -tiny]
    times = np.array([0.0, 0.3 * end, end])
    path = run(problem, State(np.zeros((2, 3)), q), times)
    s = np.asarray(jax.nn.softmax(path[:, 6:].reshape(3, 2, length), axis=-1))
    measured = np.log((s[:, 0, 1] - s[:, 1, 1]) / (s[:, 0, 1] + s[:, 1, 1]) / tiny)
    growth = log_growth(STRENGTHS, times, length=length, heads=2, projections=projections)
    assert growth[2] > 2, "they have grown"
    assert growth[1:] == pytest.approx(measured[1:], abs=1e-4)


@pytest.mark.parametrize("projections, last, within", [(1, 3e3, 0.01), (2, 3e4, 0.05)])
def test_the_logarithm_of_the_growth_rises_like_the_root_of_time(projections, last, within):
    """So the wait for smaller noise rises like the square of its logarithm."""
    sizes = {"length": 20, "heads": 3, "projections": projections}
    times = log_times(1.0, last, 60)
    growth = log_growth(STRENGTHS, times, **sizes)
    rate = (growth[-1] - growth[-5]) / (np.sqrt(times[-1]) - np.sqrt(times[-5]))
    assert rate == pytest.approx(growth_rate(STRENGTHS, **sizes), rel=within)


def test_with_pi_twice_the_first_stage_amplifies_differences_at_its_own_position():
    """Where all heads go: from there on they are ahead of differences at position 2 by a constant factor."""
    times = np.array([0.0, 300.0, 1000.0])
    sizes = {"length": 40, "heads": 3, "projections": 2}
    ahead = log_growth(STRENGTHS, times, **sizes, begins=0) - log_growth(STRENGTHS, times, **sizes)
    assert ahead[1:] == pytest.approx([2.5, 2.5], abs=0.1)


def test_differences_that_cancel_leave_the_others_where_they_are(problem, rng):
    """To first order: P does not change, so a third head's velocity does not, and theirs differ by the linear one."""
    V, s = rng.standard_normal(3), rng.dirichlet(np.ones(6))
    dV = rng.standard_normal(3)
    signs = np.array([1.0, -1.0, 0.0])[:, None]

    def velocity(size):
        return full(problem, State(V + size * signs * dV, np.tile(s, (3, 1)))).values[2]

    _, change = jax.jvp(velocity, (0.0,), (1.0,))
    assert np.abs(change).max() < 1e-14
