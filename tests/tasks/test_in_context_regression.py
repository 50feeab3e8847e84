"""In-context regression: the moments are those of the sequences, the rungs have the exact levels, the heads agree."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.analysis.linear_attention import levels, merged_half, merged_start, separate_drops
from headway.records import Cell
from headway.settings import SettingsError
from headway.tasks.in_context_regression import InContextRegression, whitened
from headway.tasks.softmax_regression import SoftmaxRegression
from headway.tasks.sound import require_sound
from headway.training.group import Group

ALL = InContextRegression(sequences=0)
FEW = InContextRegression(sequences=60_000, sums=False)


def test_the_rungs_of_all_sequences_have_the_exact_levels():
    found = np.asarray(ALL.expected_rung_losses(ALL.world(jax.random.key(0))))
    np.testing.assert_allclose(found, [1, 0.6406, 0.3774, 0.2098, 0.1360], atol=6e-5)
    np.testing.assert_allclose(found, levels(np.array(ALL.eigenvalues), ALL.pairs), atol=1e-5)


def test_the_moments_of_a_set_tend_to_those_of_all_sequences():
    own = FEW.world(jax.random.key(1))
    every = InContextRegression(sequences=0, sums=False).world(jax.random.key(0))
    for name in own._fields:
        found, wanted = np.asarray(getattr(own, name)), np.asarray(getattr(every, name))
        assert np.abs(found - wanted).max() < 0.06 * np.abs(wanted).max(), name


def test_weights_are_white_exactly():
    weights = whitened(jax.random.normal(jax.random.key(2), (50, 3)))
    np.testing.assert_allclose(weights.T @ weights / 50, np.eye(3), atol=1e-5)


def test_the_loss_and_the_distances_are_quadratic_in_the_answers():
    """L(M) - L(rung) and E(difference)^2 of a random M, by the moments alone: |a|^2 - |b|^2 = <a - b, a + b>."""
    task = InContextRegression(sequences=500, parts="separate", heads=3, start=0.3)
    world = task.world(jax.random.key(3))
    parameters = task.parameters(world, jax.random.key(4))
    M = sum(
        v * np.outer(k[0], q[0]) for v, k, q in zip(*(np.asarray(parameters[n]) for n in "vkq"), strict=True)
    ).ravel()
    second, target = np.asarray(world.second), np.asarray(world.target)
    loss = float(world.power) - 2 * M @ target + M @ second @ M
    assert float(task.expected_loss(world, parameters)) == pytest.approx(loss, rel=1e-4)
    assert float(task.expected_distances(world, parameters)[0]) == pytest.approx(0.5 * M @ second @ M, rel=1e-4)


def test_merged_heads_and_the_network_start_and_answer_alike():
    merged, network = InContextRegression(start=0.1), InContextRegression(start=0.1, parts="network")
    world, key = merged.world(jax.random.key(5)), jax.random.key(6)
    assert float(merged.expected_loss(world, merged.parameters(world, key))) == pytest.approx(
        float(network.expected_loss(world, network.parameters(world, key))), rel=1e-6
    )


def test_a_balanced_head_for_every_eigenvector():
    task = InContextRegression(parts="separate", heads=4, start=0.02, balanced=True)
    world = task.world(jax.random.key(0))
    found = task.parameter_measures(world, task.parameters(world, jax.random.key(0)))
    assert np.allclose(found["direction"], [[1, 2, 3, 4]]) and np.allclose(found["aligned"], 1)
    for name in ("value", "key", "query"):
        assert np.allclose(found[f"{name}_size"], 0.02)


def trained(**changes):
    """Losses of two seeds at every tenth step, and where each started."""
    settings = InContextRegression.usual().changed(**changes)
    group = Group([Cell(settings, (0, 1))])
    ticks = [tick for tick in group.ticks(0, None) if tick.measured]
    assert all(tick.measured is not None for tick in ticks)
    times = np.array([tick.step for tick in ticks])
    return settings, times, np.stack([tick.measured["loss"] for tick in ticks if tick.measured], axis=1)


def starts(settings):
    """As the program draws them: known from the seed alone."""
    from headway.training.problem import precision
    from headway.training.randomness import WEIGHTS, key_of

    with precision(settings):
        for seed in (0, 1):
            drawn = settings.task.parameters(
                ALL.world(jax.random.key(0)), key_of(jnp.asarray(seed, jnp.uint32), WEIGHTS)
            )
            yield {name: np.asarray(each, float) for name, each in drawn.items()}


def test_descent_of_merged_heads_drops_when_the_closed_form_says():
    """A white spectrum, of which it is exact but for the length of a step, and the paper's: within 1 % of the steps."""
    for spectrum in ((1.0, 1.0, 1.0, 1.0), (4.0, 3.0, 2.0, 1.0)):
        settings, times, losses = trained(
            task={"sequences": 0, "spectrum": spectrum}, training={"steps": 2500}, evaluation={"every": 10}
        )
        task = settings.task
        eigenvalues, tau = np.array(task.eigenvalues), 1 / (2 * settings.training.learning_rate)
        ends = levels(eigenvalues, task.pairs)[[0, -1]]
        for loss, start in zip(losses, starts(settings), strict=True):
            half = times[np.argmax(loss <= ends.mean())]
            found = merged_half(
                merged_start(start["v"], start["U"], eigenvalues), eigenvalues, task.pairs, tau, task.gain
            )
            assert half == pytest.approx(found, rel=0.012)


def test_descent_of_balanced_heads_drops_when_the_closed_form_says():
    settings, times, losses = trained(
        task={"sequences": 0, "parts": "separate", "heads": 4, "start": 0.02, "balanced": True},
        training={"learning_rate": 0.02, "steps": 5000},
        evaluation={"every": 10},
    )
    task, tau = settings.task, 1 / (2 * settings.training.learning_rate)
    eigenvalues = np.array(task.eigenvalues)
    known = levels(eigenvalues, task.pairs)
    for loss, start in zip(losses, starts(settings), strict=True):
        parts = start["v"], start["k"][:, 0], start["q"][:, 0]
        found = separate_drops(*parts, eigenvalues, task.pairs, tau, task.gain)
        halves = [times[np.argmax(loss <= (known[m] + known[m + 1]) / 2)] for m in range(4)]
        np.testing.assert_allclose(halves, found, rtol=0.04)


@pytest.mark.parametrize("parts", ["merged", "separate"])
def test_softmax_reads_sequences_and_a_uniform_look_answers_the_mean(parts):
    task = SoftmaxRegression(parts=parts)
    require_sound(task)
    example = task.sample(jax.random.key(0))
    parameters = {name: jnp.zeros_like(each) for name, each in task.parameters(jax.random.key(1)).items()}
    parameters["v"] = jnp.ones(task.heads)
    mean = jnp.sum(example.inputs[:-1, -1]) / (task.pairs + 1)
    assert task.answer(parameters, example)[0, 0] == pytest.approx(float(task.heads * mean), rel=1e-5)


def test_the_rungs_of_softmax_regression_have_the_levels_of_linear_attention():
    task = SoftmaxRegression()

    def losses(key):
        example = task.sample(key)
        return jax.vmap(lambda rung: task.loss(rung, example))(task.ladder(example))

    means = np.asarray(jax.vmap(losses)(jax.random.split(jax.random.key(2), 40_000))).mean(axis=0)
    np.testing.assert_allclose(means, levels(np.array([0.4, 0.3, 0.2, 0.1]), 31), atol=0.03)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"spectrum": (1.0, 2.0)}, "the largest first"),
        ({"rank": 2}, "only separate keys and queries have one"),
        ({"balanced": True}, "is for separate keys and queries of rank 1"),
    ],
)
def test_what_does_not_fit_is_refused(changes, words):
    with pytest.raises(SettingsError, match=words):
        InContextRegression(**changes)
