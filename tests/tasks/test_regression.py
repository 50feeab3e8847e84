"""The regression model of paper A, trained: what its gradients are, and that small steps follow the flow."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.laboratory.flow import flow
from headway.records import Cell
from headway.settings import FlowSettings, SettingsError
from headway.tasks.regression import Regression
from headway.tasks.sound import require_sound
from headway.theory import State, full_problem, geometric, near_uniform
from headway.theory.flow import logits
from headway.theory.simulate import halfway, logit_loss
from headway.training.group import Group

SMALL = {"features": 2, "length": 5, "noise": 1e-4}
TASK = Regression(dimension=2, **SMALL)
SEEDS = (3, 0)
LAST = 60.0
FRESH = {"data": "fresh", "precision": "float32", "learning_rate": 0.05, "steps": 400, "batch": 32}


def trained(task: Regression = TASK, seeds: tuple[int, ...] = SEEDS, **training: Any):
    settings = replace(Regression.usual(), task=task).changed(training=training, evaluation={"points": 12})
    group = Group([Cell(settings, seeds)])
    part = group.part(list(group.ticks(0, None)), 0)
    [facts] = group.facts()
    return part, facts


@pytest.fixture(scope="module")
def solved():
    return flow(Cell(FlowSettings(last=LAST, points=4, **SMALL), SEEDS))


@pytest.fixture(scope="module")
def descent():
    """Gradient descent with two steps, one half of the other."""
    return {step: trained(learning_rate=step, steps=round(LAST / step)) for step in (0.02, 0.01)}


@pytest.fixture(scope="module")
def sampled():
    return trained(**FRESH)


def test_small_steps_follow_the_flow_and_the_error_falls_linearly_with_the_step(solved, descent):
    """Half the step, half the error: that of Euler's method, of order one."""
    wanted = solved.facts["boundaries"]
    coarse, fine = (np.abs(step * descent[step][1]["boundaries"] / wanted - 1) for step in (0.02, 0.01))
    assert np.isfinite(wanted).all() and fine.max() < 0.01
    np.testing.assert_allclose(coarse / fine, 2, atol=0.1)


def test_at_the_flows_last_time_everything_is_where_the_flow_has_it(solved, descent):
    fine, _ = descent[0.01]
    assert 0.01 * fine.times("loss")[-1] == pytest.approx(solved.times("loss")[-1])
    for name in ("loss", "attention", "values"):
        np.testing.assert_allclose(fine[name][:, -1], solved[name][:, -1], atol=0.01)


def test_descent_on_the_population_does_not_depend_on_the_size_of_the_features(descent):
    larger, _ = trained(replace(TASK, dimension=3), learning_rate=0.02, steps=round(LAST / 0.02))
    for name in ("loss", "attention", "values", "kl_rungs"):
        np.testing.assert_allclose(larger[name], descent[0.02][0][name], atol=1e-6)


def test_a_seed_has_the_features_and_the_start_of_the_flows_and_its_loss():
    task = Regression(features=3, heads=2, length=6, dimension=3, noise=1e-4)
    problem = full_problem(geometric(3, 1.7), length=6, dimension=3, heads=2, seed=7)
    start = near_uniform(problem, 7, noise=1e-2)
    with jax.enable_x64(True):
        world = task.world_of_seed(7)
        own = task.parameters(world, jax.random.key(0))
        np.testing.assert_array_equal(world["features"], problem.features)
        np.testing.assert_allclose(jax.nn.softmax(own["q"]), start.attention, rtol=1e-12)
        own = {"V": jax.random.normal(jax.random.key(1), own["V"].shape), "q": own["q"]}
        state = State(own["V"], own["q"])
        assert task.expected_loss(world, own) == pytest.approx(float(logit_loss(problem, state)), rel=1e-12)
        slope, speed = jax.grad(task.expected_loss, argnums=1)(world, own), logits(problem, state)
    np.testing.assert_allclose(-slope["V"], speed.values, atol=1e-12)
    np.testing.assert_allclose(-slope["q"], speed.attention, atol=1e-12)
    np.testing.assert_allclose(task.levels, halfway(geometric(3, 1.7)), rtol=1e-12)


def test_rungs_are_what_knows_the_first_features_and_their_losses_the_plateaus():
    with jax.enable_x64(True):
        world = TASK.world_of_seed(1)
        empty = TASK.parameters(world, jax.random.key(0))
        np.testing.assert_allclose(TASK.expected_distances(world, empty), [0, 0.5 * 1.7**2, 0.5 * (1.7**2 + 1)])
        np.testing.assert_allclose(TASK.expected_rung_losses(world), [0.5 * (1.7**2 + 1), 0.5, 0], atol=1e-15)
    assert TASK.rungs == ("0 features", "1 feature", "2 features")


def test_white_samples_give_the_gradient_of_the_population():
    """The sqrt(d T) e_n, n = 1 .. d T, are exactly white."""
    size, length = 3, 4
    task = Regression(features=2, heads=3, length=length, dimension=size, label_noise=0.0)
    with jax.enable_x64(True):
        world = jax.tree.map(jnp.asarray, task.world_of_seed(0))
        own = task.parameters(world, jax.random.key(0))
        own = {"V": jax.random.normal(jax.random.key(1), own["V"].shape), "q": own["q"]}
        white = jnp.asarray(np.sqrt(size * length) * np.eye(size * length).reshape(-1, size, length))
        drawn = task.samples(world, jax.random.key(2), size * length)
        matrices = (jnp.asarray(task.strengths)[:, None] * world["features"]).reshape(-1, size, size)
        truth = jnp.einsum("jab,nbj->na", matrices, white[..., :2])[:, None]
        drawn = drawn._replace(inputs=jnp.swapaxes(white, 1, 2), targets=truth)

        def loss(own):
            said = jax.vmap(lambda each: task.answer(world, own, each))(drawn)
            return 0.5 * jnp.mean(jnp.sum((said - drawn.targets) ** 2, axis=(1, 2)))

        of_samples, of_all = jax.grad(loss)(own), jax.grad(lambda own: task.expected_loss(world, own))(own)
    for name in ("V", "q"):
        np.testing.assert_allclose(of_samples[name], of_all[name], atol=1e-12)


def test_what_is_drawn_is_white_and_the_labels_have_their_variance():
    """Second moments of 20 000 draws are within five standard errors, sqrt(2 / n) at most, of the identity."""
    count = 20_000
    task = Regression(features=1, length=2, dimension=2, label_noise=0.25)
    world = task.world_of_seed(0)
    drawn = task.samples(world, jax.random.key(0), count)
    flat = np.asarray(drawn.inputs).reshape(count, 4)
    noise = np.asarray(drawn.targets[:, 0]) - np.asarray(drawn.inputs[:, 0]) @ world["features"].reshape(2, 2).T
    error = 5 * np.sqrt(2 / count)
    assert np.abs(flat.T @ flat / count - np.eye(4)).max() < error
    assert np.abs(noise.T @ noise / count / 0.25 - np.eye(2)).max() < error


def test_a_seed_does_not_depend_on_its_neighbours(sampled):
    other, _ = trained(seeds=(7, 0), **FRESH)
    for name in ("loss", "attention", "values"):
        np.testing.assert_allclose(other[name][1], sampled[0][name][1], rtol=1e-6, atol=1e-7)
        assert not np.allclose(other[name][0, -1], sampled[0][name][0, -1], atol=1e-4)


def test_boundaries_are_when_the_loss_goes_through_the_level_between_two_plateaus(sampled):
    """1/2 (L_0 + L_1) with m = (1.7, 1) is 1.2225, and the loss at the kept times is on its two sides."""
    part, facts = sampled
    times, loss = part.times("loss"), part["loss"]
    for row, boundary in zip(loss, facts["boundaries"][:, 0], strict=True):
        assert row[times < boundary].min() > 1.2225
        assert row[times > boundary][0] < 1.2225


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"features": 6, "length": 5}, "6 features do not fit on 5 positions"),
        ({"features": 5, "dimension": 2}, "do not fit into 2 x 2 matrices"),
        ({"heads": 0}, "task.heads is 0"),
        ({"ratio": 1.0}, "task.ratio is 1.0"),
        ({"noise": -1e-6}, "task.noise is -1e-06"),
        ({"label_noise": -1.0}, "task.label_noise is -1.0"),
    ],
)
def test_settings_that_cannot_work_are_refused(wrong, words):
    with pytest.raises(SettingsError, match=words):
        Regression(**wrong)


def test_the_task_is_sound():
    require_sound(TASK)
