"""Paper B's toy as a task: its closed forms against theory's and against samples, and descent in any coordinates."""

from dataclasses import replace
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.records import Cell
from headway.settings import SettingsError
from headway.tasks.sound import require_sound
from headway.tasks.toy import Toy, toy_settings
from headway.theory.emergence import escape, logits, sample
from headway.theory.emergence.sample import Triple
from headway.theory.emergence.toy import toy
from headway.training.group import Group
from headway.training.problem import shape

SMALL = Toy(dimension=3, length=12)
NOWHERE = jnp.zeros(())
"""In coordinates W* does not matter."""
SIZES = [
    replace(SMALL, dimension=dimension, copies=copies, repeated=repeated)
    for dimension, copies, repeated in product((3, 6), (1, 3), (0.0, 0.3))
]


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def of_theory(task):
    sizes = task.dimension, task.length, task.copies, task.repeated
    return toy(*sizes, shared=task.trained == "gap")


def descended(*settings, seeds=(0, 5), **training: Any):
    group = Group([Cell(each.changed(training=training), seeds) for each in settings])
    ticks = list(group.ticks(0, None))
    return [(group.part(ticks, index), facts) for index, facts in enumerate(group.facts())]


@pytest.fixture(scope="module")
def coordinates():
    return descended(*map(toy_settings, SIZES))


@pytest.mark.parametrize("task", SIZES)
@pytest.mark.parametrize("trained", ["logits", "gap"])
def test_loss_and_steps_in_coordinates_are_those_of_the_three_variable_flow(task, trained):
    """A step along -grad of the loss moves w~, w and the gap as theory's flow does, whatever stretches the gap."""
    task = replace(task, trained=trained)
    problem, (along, across, gap) = of_theory(task), (0.4, 0.9, 0.7)
    stretch = 1.0 if trained == "gap" else np.sqrt(task.length / (task.length - task.copies) / task.copies)
    own = {"repeated": jnp.asarray(along), "other": jnp.asarray(across), "gap": jnp.asarray(gap / stretch)}
    state = Triple(along, across, gap)
    assert task.expected_loss(NOWHERE, own) == pytest.approx(float(sample.loss(problem, state)), rel=1e-13)
    assert task.tests()[""].expected_loss(NOWHERE, own) == pytest.approx(
        float(sample.tested(problem, state)), rel=1e-13
    )
    slope, speed = jax.grad(task.expected_loss, argnums=1)(NOWHERE, own), sample.flow(problem, state)
    assert -slope["repeated"] == pytest.approx(float(speed.repeated), rel=1e-12)
    assert -slope["other"] == pytest.approx(float(speed.other), rel=1e-12)
    assert -stretch * slope["gap"] == pytest.approx(float(speed.gap), rel=1e-12)


@pytest.mark.parametrize("task", SIZES[:4])
def test_loss_and_gradient_of_matrices_are_theorys_and_what_samples_estimate(task):
    task = replace(task, trained="matrices")
    key = jax.random.key(0)
    world = task.world(key)
    own = {"W": jax.random.normal(key, world.shape), "a": jax.random.normal(key, (task.length,))}
    state, whole = logits.Matrices(own["W"], own["a"]), logits.Population(of_theory(task), world)
    assert task.expected_loss(world, own) == pytest.approx(float(logits.loss(whole, state)), rel=1e-12)
    slope, speed = jax.grad(task.expected_loss, argnums=1)(world, own), logits.flow(whole, state)
    np.testing.assert_allclose(-slope["W"], speed.values, atol=1e-12)
    np.testing.assert_allclose(-slope["a"], speed.logits, atol=1e-12)
    drawn = task.samples(world, jax.random.key(1), 40_000)
    said = jax.jit(jax.vmap(lambda each: task.answer(world, own, each).logits))(drawn)
    one = 0.5 * np.sum((np.asarray(said) - np.asarray(drawn.targets)) ** 2, axis=(1, 2))
    assert abs(np.mean(one) - task.expected_loss(world, own)) < 5 * np.std(one) / 200


@pytest.mark.parametrize("task", SIZES[:4])
def test_distances_to_the_rungs_are_what_samples_estimate(task):
    """Silence, W* times the mean of all tokens, and y*; a rung's own loss is its distance to y*."""
    task = replace(task, trained="matrices")
    world, key = task.world(jax.random.key(0)), jax.random.key(2)
    own = {"W": jax.random.normal(key, world.shape), "a": jax.random.normal(key, (task.length,))}
    drawn = task.samples(world, jax.random.key(1), 40_000)
    said = jax.vmap(lambda each: task.answer(world, own, each).logits)(drawn)[:, 0]
    mean = jnp.mean(drawn.inputs, axis=1) @ world.T
    rungs = (jnp.zeros_like(mean), mean, drawn.targets[:, 0])
    for found, rung in zip(task.expected_distances(world, own), rungs, strict=True):
        one = 0.5 * jnp.sum((said - rung) ** 2, axis=1)
        assert abs(jnp.mean(one) - found) < 5 * jnp.std(one) / 200
    for found, rung in zip(task.expected_rung_losses(world), rungs, strict=True):
        one = 0.5 * jnp.sum((rung - drawn.targets[:, 0]) ** 2, axis=1)
        assert abs(jnp.mean(one) - found) <= 5 * jnp.std(one) / 200 + 1e-12


def test_what_theory_says_of_the_plateau_is_a_fact(coordinates):
    for task, (_, facts) in zip(SIZES, coordinates, strict=True):
        problem = of_theory(task)
        assert facts["closed_form"] == pytest.approx(float(escape.plateau(problem)), rel=1e-12)
        assert facts["escape_time"] == pytest.approx(float(escape.escape_time(problem)), rel=1e-12)
        assert task.closed_form == pytest.approx(float(escape.plateau(problem)), rel=1e-12)


def test_sizes_in_coordinates_share_a_program_and_matrices_have_their_own():
    assert len({shape(toy_settings(task)) for task in SIZES}) == 1
    full = [toy_settings(replace(task, trained="matrices")) for task in SIZES if not task.repeated]
    assert len({shape(settings) for settings in full}) == len(full)


def test_a_size_does_not_depend_on_those_that_are_descended_beside_it(coordinates):
    [(alone, facts)] = descended(toy_settings(SIZES[5]))
    beside, others = coordinates[5]
    for name in ("plateau", "stopped_at"):
        np.testing.assert_array_equal(facts[name], others[name])
    count = len(alone.clocks["evaluation"])
    np.testing.assert_allclose(beside["loss"][:, :count], alone["loss"], rtol=1e-10)


def test_matrices_and_logits_in_full_are_their_coordinates_and_w_does_not_matter(coordinates):
    """Whatever orthogonal W* a seed draws."""
    for place in (1, 2):
        [(full, facts)] = descended(toy_settings(replace(SIZES[place], trained="matrices")))
        few, wanted = coordinates[place]
        np.testing.assert_array_equal(facts["plateau"], wanted["plateau"])
        count = len(full.clocks["evaluation"])
        for name in ("loss", "gain", "gain_repeated", "attention_relevant", "kl_rungs"):
            np.testing.assert_allclose(full[name], few[name][:, :count], atol=1e-9, err_msg=name)


def test_a_training_set_depends_on_its_seed_and_a_seed_on_nobody_else():
    settings = toy_settings(replace(SIZES[3], trained="matrices"), 20)
    [(_, facts)] = descended(settings, seeds=(4, 1, 2))
    assert len(set(facts["plateau"].tolist())) > 1
    [(_, alone)] = descended(settings, seeds=(1,))
    assert alone["plateau"][0] == facts["plateau"][1]


def test_a_rate_that_is_too_large_is_told_as_a_divergence():
    found = descended(*map(toy_settings, SIZES[:4]), learning_rate=1000.0)
    assert all((facts["diverged_at"] > 0).all() and np.isnan(facts["plateau"]).all() for _, facts in found)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"copies": 12}, "12 copies leave no other token among 12."),
        ({"dimension": 1}, "task.dimension is 1"),
        ({"repeated": 1.0}, "below 1"),
    ],
)
def test_what_cannot_be_computed_is_refused(changes, words):
    with pytest.raises(SettingsError, match=words):
        replace(SMALL, **changes)


def test_samples_are_for_matrices():
    with pytest.raises(SettingsError, match=r"Use task\.trained matrices, or training\.data exact"):
        toy_settings(SMALL, 10)
    require_sound(replace(SMALL, trained="matrices"))
