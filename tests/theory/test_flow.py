"""The flow is gradient flow on the loss of the model, whatever way it is written."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.theory.flow import full, logits, loss, loss_parts, plateaus, residual, softmax
from headway.theory.problem import State, full_problem, geometric
from headway.theory.simplex import spread

DIMENSION, LENGTH, HEADS = 3, 5, 4


@pytest.fixture
def matrices():
    """Two features, four heads: as many heads as features is not needed."""
    return full_problem(geometric(2, 1.7), length=LENGTH, dimension=DIMENSION, heads=HEADS)


@pytest.fixture
def anywhere(rng):
    """Values and logits without any symmetry."""
    return State(rng.standard_normal((HEADS, DIMENSION**2)), rng.standard_normal((HEADS, LENGTH)))


def model_loss(problem, state):
    """1/2 E||y - y*||^2 over data with E x_i x_j^T = 1 if i = j, from the model's own formula.

    The data are the sqrt(d T) e_n, n = 1 .. d T, read as d x T matrices: their second moments are exactly white.
    """
    d, time = DIMENSION, LENGTH
    data = np.sqrt(d * time) * np.eye(d * time).reshape(-1, d, time)
    heads = jnp.einsum("kab,nbt,kt->na", state.values.reshape(-1, d, d), data, jax.nn.softmax(state.attention))
    features = problem.features.reshape(-1, d, d)
    truth = jnp.einsum("k,kab,nbk->na", problem.strengths, features, data[:, :, : problem.count])
    return 0.5 * jnp.mean(jnp.sum((heads - truth) ** 2, axis=1))


def test_the_loss_is_the_distance_of_two_tensors(matrices, anywhere):
    """Proposition 1."""
    state = State(anywhere.values, softmax(matrices, anywhere.attention))
    assert loss(matrices, state) == pytest.approx(float(model_loss(matrices, anywhere)), rel=1e-13)


def test_the_printed_flow_is_gradient_flow_of_the_model_in_values_and_logits(matrices, anywhere):
    slope = jax.grad(lambda state: model_loss(matrices, state))(anywhere)
    velocity = logits(matrices, anywhere)
    assert np.abs(velocity.values + slope.values).max() < 1e-12
    assert np.abs(velocity.attention + slope.attention).max() < 1e-12


@pytest.mark.parametrize("projections", [1, 2])
def test_attention_moves_as_its_logits_tell(matrices, anywhere, projections):
    """ds = Pi(s) dq, so Pi(s) once more than in dq."""
    problem = full_problem(geometric(2, 1.7), length=LENGTH, dimension=DIMENSION, heads=HEADS, projections=projections)
    s = softmax(problem, anywhere.attention)
    velocity = full(problem, State(anywhere.values, s))
    _, expected = jax.jvp(jax.nn.softmax, (anywhere.attention,), (logits(problem, anywhere).attention,))
    assert np.abs(velocity.attention - expected).max() < 1e-13
    assert np.abs(velocity.attention.sum(axis=1)).max() < 1e-14


def test_pi_is_the_matrix_it_says_it_is(matrices, rng):
    s, v = rng.dirichlet(np.ones(LENGTH)), rng.standard_normal(LENGTH)
    assert np.abs(spread(matrices, s, v) - (np.diag(s) - np.outer(s, s)) @ v).max() < 1e-15


def test_the_velocity_is_the_tensor_equation(matrices, anywhere):
    state = State(anywhere.values, np.asarray(softmax(matrices, anywhere.attention)))
    gap = np.asarray(residual(matrices, state))
    velocity = full(matrices, state)
    for k, (V, s) in enumerate(zip(*state, strict=True)):
        pi = np.diag(s) - np.outer(s, s)
        assert np.abs(velocity.values[k] - gap @ s).max() < 1e-13
        assert np.abs(velocity.attention[k] - pi @ pi @ (V @ gap)).max() < 1e-13


def test_the_parts_sum_to_the_loss_in_the_span_of_the_features(matrices, anywhere, rng):
    s = np.asarray(softmax(matrices, anywhere.attention))
    inside = State(rng.standard_normal((HEADS, 2)) @ matrices.features, s)
    assert loss_parts(matrices, inside).sum() == pytest.approx(float(loss(matrices, inside)), rel=1e-13)
    outside = State(anywhere.values, s)
    assert loss_parts(matrices, outside).sum() < loss(matrices, outside) - 1e-3


def test_the_plateaus_are_what_unlearned_features_cost():
    assert np.allclose(plateaus(np.array([3.0, 2.0, 1.0])), [7.0, 2.5, 0.5, 0.0])
