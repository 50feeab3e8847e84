"""Few numbers carry the whole flow, exactly."""

import jax
import numpy as np
import pytest

from headway.theory.flow import full, loss
from headway.theory.problem import State, full_problem, geometric
from headway.theory.reduction import merge_positions, merge_values
from headway.theory.solve import log_times, solve
from headway.theory.start import near_uniform, stack

STRENGTHS = geometric(3, 1.7)
TIMES = log_times(0.1, 300, 30)


def path(problem, start):
    return solve(full, problem, stack([start]), TIMES, tolerance=1e-12)


def test_the_reduced_flow_is_the_full_flow_over_a_whole_run():
    """From V = 0: three numbers a head instead of a hundred."""
    problem = full_problem(STRENGTHS, length=6, dimension=10)
    start = near_uniform(problem, 0, noise=1e-3)
    small, small_start, basis = merge_values(problem, start)
    assert small.size == 3
    whole, reduced = path(problem, start), path(small, small_start)
    assert np.abs(reduced.values @ basis - whole.values).max() < 1e-8
    assert np.abs(reduced.attention - whole.attention).max() < 1e-8
    assert loss(problem, jax.tree.map(lambda part: part[0, -1], whole)) < 0.01


def test_a_start_outside_the_span_adds_one_direction_a_head(rng):
    problem = full_problem(STRENGTHS, length=6, dimension=10)
    start = State(rng.standard_normal((3, 100)), near_uniform(problem, 0, noise=1e-3).attention)
    small, small_start, basis = merge_values(problem, start)
    assert small.size == 6
    assert np.abs(small_start.values @ basis - start.values).max() < 1e-13
    velocity, reduced = full(problem, start), full(small, small_start)
    assert np.abs(reduced.values @ basis - velocity.values).max() < 1e-12
    assert np.abs(reduced.attention - velocity.attention).max() < 1e-12


@pytest.mark.parametrize("dimension", [10, 50, 500])
def test_nothing_depends_on_the_dimension(dimension, rng):
    """Whatever d is, the reduced problem is the same, of the same cost, and its velocity is the full one's."""
    problem = full_problem(STRENGTHS, length=6, dimension=dimension)
    start = near_uniform(problem, 0, noise=1e-3)
    small, small_start, basis = merge_values(problem, start)
    tiny = full_problem(STRENGTHS, length=6, dimension=2)
    smallest = merge_values(tiny, near_uniform(tiny, 0, noise=1e-3))
    assert np.array_equal(small.features, np.eye(3))
    assert np.array_equal(small_start.attention, smallest[1].attention)
    assert small_start.values.shape == (3, 3)
    somewhere = State(rng.standard_normal((3, 3)), np.asarray(small_start.attention))
    velocity = full(problem, State(somewhere.values @ basis, somewhere.attention))
    reduced = full(small, somewhere)
    assert np.abs(reduced.values @ basis - velocity.values).max() < 1e-13
    assert np.abs(reduced.attention - velocity.attention).max() < 1e-13


def test_positions_that_are_alike_stay_alike(rng):
    """Where they are alike their velocity is; so three entries for the features and one for all the rest are enough."""
    problem = full_problem(STRENGTHS, length=40, dimension=2)
    draws = rng.uniform(0.5, 1.5, (3, 3)) / 40
    rest = np.repeat((1 - draws.sum(axis=1, keepdims=True)) / 37, 37, axis=1)
    start = State(rng.standard_normal((3, 4)), np.concatenate([draws, rest], axis=1))
    merged, merged_start, entry = merge_positions(problem, start)
    assert merged.copies.tolist() == [1, 1, 1, 37]
    velocity, reduced = full(problem, start), full(merged, merged_start)
    assert np.abs(reduced.attention[:, entry] - velocity.attention).max() < 1e-14
    assert np.abs(reduced.values - velocity.values).max() < 1e-13
    assert loss(merged, merged_start) == pytest.approx(float(loss(problem, start)), rel=1e-13)


def test_where_the_start_has_noise_no_positions_are_merged():
    problem = full_problem(STRENGTHS, length=6, dimension=2)
    assert merge_positions(problem, near_uniform(problem, 0, noise=1e-3))[0].length == 6
    merged = merge_positions(problem, near_uniform(problem, 0, noise=0))[0]
    assert merged.length == 4
    with pytest.raises(ValueError, match="merged because they are alike"):
        near_uniform(merged, 0, noise=1e-3)
