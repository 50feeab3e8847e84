"""Each smaller system is the full flow on its own set of states."""

import jax
import numpy as np
import pytest

from headway.theory import coupled as together
from headway.theory import offshoot as leaving
from headway.theory import two_scale as fast
from headway.theory.flow import full, loss, plateaus
from headway.theory.problem import State, geometric, reduced_problem

STRENGTHS = geometric(3, 1.7)


@pytest.fixture
def crowded():
    """More heads than features."""
    return reduced_problem(STRENGTHS, length=6, heads=5)


def head(rng):
    return State(rng.standard_normal(3), rng.dirichlet(np.ones(6)))


def test_heads_that_are_alike_follow_the_coupled_flow(crowded, rng):
    V, s = head(rng)
    velocity = full(crowded, State(np.tile(V, (5, 1)), np.tile(s, (5, 1))))
    expected = together.coupled(crowded, State(V, s))
    assert np.abs(velocity.values - expected.values).max() < 1e-13
    assert np.abs(velocity.attention - expected.attention).max() < 1e-13


def test_the_gradient_of_every_lyapunov_function_is_the_force(crowded, rng):
    state = head(rng)
    for value, force in (
        (together.lyapunov, together.gradient),
        (lambda *a: fast.lyapunov(2, *a), lambda *a: fast.gradient(2, *a)),
    ):
        slope = jax.grad(lambda state, value=value: value(crowded, state))(state)
        for part, expected in zip(force(crowded, state), slope, strict=True):
            assert np.abs(part - expected).max() < 1e-13


@pytest.mark.parametrize("known", [1, 2])
def test_the_offshoot_is_the_full_flow_of_heads_on_one_position_each(crowded, rng, known):
    state = leaving.Offshoot(rng.standard_normal((known, 3)), *head(rng))
    heads = leaving.as_heads(crowded, state)
    expected = full(crowded, heads)
    velocity = leaving.offshoot(crowded, state)
    assert np.abs(expected.values[0] - velocity.settled[0]).max() < 1e-13
    assert np.abs(expected.values[-known:-1] - velocity.settled[1:]).max(initial=0) < 1e-13
    assert np.abs(expected.values[-1] - velocity.value).max() < 1e-13
    assert np.abs(expected.attention[-1] - velocity.attention).max() < 1e-13
    assert np.abs(expected.attention[:-1]).max() < 1e-14
    whole = 0.5 * np.sum(STRENGTHS**2) - leaving.lyapunov(crowded, state)
    assert loss(crowded, heads) == pytest.approx(float(whole), rel=1e-12)


@pytest.mark.parametrize("known", [1, 2])
def test_the_next_head_is_the_offshoot_with_everybody_else_at_their_best(crowded, rng, known):
    state = head(rng)
    settled = leaving.best_settled(crowded, known, state)
    velocity = leaving.offshoot(crowded, leaving.Offshoot(settled, *state))
    expected = fast.next_head(known)(crowded, state)
    assert np.abs(velocity.settled).max() < 1e-13
    assert np.abs(velocity.value - expected.values).max() < 1e-13
    assert np.abs(velocity.attention - expected.attention).max() < 1e-13


def test_too_few_heads_are_refused(problem, rng):
    with pytest.raises(ValueError, match="leave none"):
        leaving.offshoot(problem, leaving.Offshoot(np.zeros((3, 3)), *head(rng)))


def test_heads_that_are_alike_stay_alike_to_the_last_bit(problem):
    """So they never pass the first plateau, where Theorem 1 takes them: u = 0 stops after one stage."""
    state = State(np.zeros((3, 3)), np.full((3, 6), 1 / 6))
    for _ in range(200):
        state = State(
            *(part + 0.1 * np.asarray(speed) for part, speed in zip(state, full(problem, state), strict=True))
        )
    assert np.all(state.values == state.values[0])
    assert np.all(state.attention == state.attention[0])
    assert np.asarray(plateaus(STRENGTHS))[1] < loss(problem, state) < 1.05 * np.asarray(plateaus(STRENGTHS))[1]
