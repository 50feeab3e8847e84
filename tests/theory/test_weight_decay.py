"""The flow with weight decay: what it descends on, and where one head on one feature comes to rest."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import lambertw

from headway.theory import State, crossings, geometric, reduced_problem, solve
from headway.theory.flow import logits
from headway.theory.simulate import halfway, last_losses, logit_loss
from headway.theory.start import logit_starts
from headway.theory.weight_decay import Decayed, logits_with, settled_loss


def test_with_pi_twice_it_is_gradient_flow_on_the_loss_and_half_the_squared_parameters():
    """d(V, q)/dt = -grad [ 1/2 |G - P|^2 + lambda/2 (|V|^2 + |q|^2) ]."""
    rng, decay = np.random.default_rng(0), 0.3
    problem = reduced_problem(geometric(3, 1.7), length=5, projections=2)
    state = State(rng.normal(size=(3, 3)), rng.normal(size=(3, 5)))

    def regularised(values, attention):
        squares = jnp.sum(values**2) + jnp.sum(attention**2)
        return logit_loss(problem, State(values, attention)) + 0.5 * decay * squares

    with jax.enable_x64(True):
        slope = jax.grad(regularised, argnums=(0, 1))(jnp.asarray(state.values), jnp.asarray(state.attention))
        moved = Decayed(decay)(problem, state)
    np.testing.assert_allclose(moved.values, -slope[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(moved.attention, -slope[1], rtol=1e-10, atol=1e-12)


def test_without_decay_it_is_the_flow_itself():
    assert logits_with(0.0) is logits
    assert logits_with(0.1) == logits_with(0.1) != logits_with(0.2), "what is compiled for one serves the other"


def test_a_constant_in_the_logits_decays_on_its_own():
    """q + c and q have the same attention, and V at every time."""
    problem = reduced_problem(geometric(2, 1.7), length=4, projections=2)
    start = logit_starts(problem, [0], 1e-2)
    shifted = State(start.values, start.attention + 3.0)
    one, other = (solve(Decayed(0.05), problem, each, np.array([0.0, 20.0])) for each in (start, shifted))
    np.testing.assert_allclose(other.values, one.values, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("decay", [0.003, 0.03])
def test_a_single_head_ends_where_the_formula_says(decay):
    problem = reduced_problem(np.array([1.5]), length=6, heads=1, projections=2)
    start = logit_starts(problem, [0], 1e-3)
    [found] = last_losses(problem, start, end=12 / decay, decay=decay)
    assert found == pytest.approx(settled_loss(1.5, decay, 6), rel=1e-3)


def test_for_little_decay_the_loss_that_is_left_is_decay_times_half_the_gap():
    """D e^(2 D) = m^2 T / lambda, so D = W(2 m^2 T / lambda) / 2."""
    strength, length = 1.7, 40
    off = []
    for decay in (1e-4, 1e-6):
        gap = float(np.real(lambertw(2 * strength**2 * length / decay))) / 2
        off.append(abs(settled_loss(strength, decay, length) / (decay * gap / 2 * (1 - 1 / length)) - 1))
    assert off[0] > off[1] and off[1] < 0.005


def test_much_decay_leaves_the_feature_unlearned():
    assert settled_loss(1.0, 0.3, 40) > 0.45, "of 0.5"
    problem = reduced_problem(np.array([1.0]), length=40, heads=1, projections=2)
    [[met]] = crossings(
        Decayed(0.3), logit_loss, problem, logit_starts(problem, [0], 1e-3), halfway(problem.strengths), end=100.0
    )
    assert np.isinf(met)
