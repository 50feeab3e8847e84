"""The regression model of paper A, trained: what its gradients are, and that small steps follow the flow."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.laboratory.flow import flow
from headway.laboratory.regression import draw, log_steps, regression, sample_loss
from headway.records import Cell
from headway.settings import FlowSettings, RegressionSettings
from headway.theory import State, full_problem, geometric
from headway.theory.flow import logits

SMALL = {"features": 2, "length": 5, "noise": 1e-4}
SEEDS = (3, 0)
LAST = 60.0


def trained(optimiser: str = "gd", seeds: tuple[int, ...] = SEEDS, **changes):
    settings = {"dimension": 2, "points": 12, "batch": 32, **SMALL, **changes}
    return regression(Cell(RegressionSettings(optimiser=optimiser, **settings), seeds))


@pytest.fixture(scope="module")
def solved():
    return flow(Cell(FlowSettings(last=LAST, points=4, **SMALL), SEEDS))


@pytest.fixture(scope="module")
def descent():
    """Gradient descent with two steps, one half of the other."""
    return {step: trained(learning_rate=step, steps=round(LAST / step)) for step in (0.02, 0.01)}


@pytest.fixture(scope="module")
def sampled():
    return trained("sgd", learning_rate=0.05, steps=400)


def test_small_steps_follow_the_flow_and_the_error_falls_linearly_with_the_step(solved, descent):
    """Half the step, half the error: that of Euler's method, of order one."""
    wanted = solved.facts["boundaries"]
    coarse, fine = (np.abs(descent[step].facts["boundaries"] / wanted - 1) for step in (0.02, 0.01))
    assert np.isfinite(wanted).all() and fine.max() < 0.01
    np.testing.assert_allclose(coarse / fine, 2, atol=0.1)


def test_at_the_flows_last_time_everything_is_where_the_flow_has_it(solved, descent):
    fine = descent[0.01]
    assert fine.times("loss")[-1] == pytest.approx(solved.times("loss")[-1])
    for name in ("loss", "attention", "values"):
        np.testing.assert_allclose(fine[name][:, -1], solved[name][:, -1], atol=0.01)


def test_descent_on_the_population_does_not_depend_on_the_size_of_the_features(descent):
    larger = trained(dimension=3, learning_rate=0.02, steps=round(LAST / 0.02))
    for name, values in larger.arrays.items():
        np.testing.assert_allclose(values, descent[0.02][name], atol=1e-6)


def test_white_samples_give_the_gradient_of_the_population():
    """The sqrt(d T) e_n, n = 1 .. d T, are exactly white; noise that comes with both signs leaves the mean alone."""
    size, length, rng = 3, 4, np.random.default_rng(7)
    with jax.enable_x64(True):
        problem = full_problem(geometric(2, 1.7), length=length, dimension=size, heads=3)
        state = State(rng.standard_normal((3, size**2)), rng.standard_normal((3, length)))
        white = np.sqrt(size * length) * np.eye(size * length).reshape(-1, size, length)
        noise = rng.standard_normal((size * length, size))
        samples, both = jnp.asarray(np.concatenate([white, white])), jnp.asarray(np.concatenate([noise, -noise]))
        slope = jax.grad(lambda state: sample_loss(problem, state, samples, both))(jax.tree.map(jnp.asarray, state))
        velocity = logits(problem, state)
    assert np.abs(slope.values + velocity.values).max() < 1e-12
    assert np.abs(slope.attention + velocity.attention).max() < 1e-12


def test_what_is_drawn_is_white_and_the_labels_have_their_variance():
    """Second moments of 20 000 draws are within five standard errors, sqrt(2 / n) at most, of the identity."""
    count = 20_000
    problem = full_problem(geometric(1, 2.0), length=2, dimension=2)
    samples, noise = draw(problem, jax.random.key(0), count, 0.25, jnp.float32)
    flat = np.asarray(samples).reshape(count, 4)
    error = 5 * np.sqrt(2 / count)
    assert np.abs(flat.T @ flat / count - np.eye(4)).max() < error
    assert np.abs(np.asarray(noise).T @ np.asarray(noise) / count / 0.25 - np.eye(2)).max() < error


def test_a_seed_does_not_depend_on_its_neighbours(sampled):
    other = trained("sgd", seeds=(7, 0), learning_rate=0.05, steps=400)
    for name, values in other.arrays.items():
        np.testing.assert_array_equal(values[1], sampled[name][1])
        assert not np.allclose(values[0, -1], sampled[name][0, -1], atol=1e-4)


def test_boundaries_are_when_the_loss_goes_through_the_level_between_two_plateaus(sampled):
    """1/2 (L_0 + L_1) with m = (1.7, 1) is 1.2225, and the loss at the kept times is on its two sides."""
    times, loss = sampled.times("loss"), sampled["loss"]
    for row, boundary in zip(loss, sampled.facts["boundaries"][:, 0], strict=True):
        assert row[times < boundary].min() > 1.2225
        assert row[times > boundary][0] < 1.2225


def test_time_is_rate_times_step_but_adamw_counts_steps(sampled):
    ticks = log_steps(400, 12)
    np.testing.assert_allclose(sampled.clocks["time"], 0.05 * ticks)
    adam = trained("adamw", learning_rate=0.05, weight_decay=0.01, steps=400)
    np.testing.assert_array_equal(adam.clocks["evaluation"], ticks)
    assert ((adam.facts["boundaries"] > 1) & (adam.facts["boundaries"] <= 400))[:, 0].all()


def test_a_step_too_large_diverges_says_when_and_stands_still():
    lost = trained(learning_rate=50.0, steps=400)
    assert np.isfinite(lost["loss"]).all() and (lost.facts["diverged_at"] > 0).all()
    for loss, at in zip(lost["loss"], lost.facts["diverged_at"], strict=True):
        assert len(set(loss[log_steps(400, 12) >= at])) == 1


def test_kept_steps_rise_from_nothing_to_the_last():
    ticks = log_steps(1000, 30)
    assert (ticks[0], ticks[1], ticks[-1]) == (0, 1, 1000)
    assert np.all(np.diff(ticks) > 0)


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"features": 6, "length": 5}, "6 features do not fit on 5 positions"),
        ({"features": 5, "dimension": 2}, "do not fit into 2 x 2 matrices"),
        ({"heads": 0}, "heads is 0"),
        ({"ratio": 1.0}, "ratio is 1.0"),
        ({"noise": -1e-6}, "noise is -1e-06"),
        ({"label_noise": -1.0}, "label_noise is -1.0"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
        ({"optimiser": "sgd", "weight_decay": 0.1}, "weight_decay 0, or the optimiser"),
        ({"batch": 0}, "batch is 0"),
        ({"points": 1}, "points is 1"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        RegressionSettings(**wrong)
