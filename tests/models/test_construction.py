"""The hand-made solution reaches the truth as its attention gets sharper."""

from functools import partial
from itertools import pairwise
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.models.construction import construction
from headway.models.transformer import Transformer
from headway.settings import SettingsError
from headway.tasks.chain import Chain, Features

pytestmark = pytest.mark.usefixtures("double")

COMMON = {"vocab": 5, "horizon": 4, "order": 5, "base": 2.0, "ratio": 1.5}
TASKS = {
    "mean": Chain(blocks=((1, 2), (3, 4)), **COMMON),
    "sum": Chain(blocks=((1, 2), (3, 4)), weighting="sum", **COMMON),
    "given": Chain(blocks=((1, 2), (3, 4)), weighting="given", weights=((0.7, 0.3), (0.0, 1.5)), **COMMON),
    "overlapping": Chain(blocks=((3, 4, 5), (1, 2, 3)), **COMMON),
    "reversed": Chain(blocks=((4, 5), (1, 2, 3)), **COMMON),
    "singletons": Chain(blocks=((1,), (5,)), **COMMON),
}


@pytest.fixture(scope="module", params=TASKS)
def known(request, double) -> tuple[Chain, Features, jax.Array]:
    """A task, what a seed learns of it, and sequences."""
    task = TASKS[request.param]
    world = task.world(jax.random.key(3))
    return task, world, samples(task, world)


@partial(jax.jit, static_argnums=0)
def samples(task: Chain, world: Features) -> jax.Array:
    return jax.vmap(lambda key: task.sample(world, key))(jax.random.split(jax.random.key(4), 200))


def made(task: Chain, world: Features, sharpness: float) -> Transformer:
    return construction(world.matrices, world.weights, task.horizon, sharpness)


class Answers(NamedTuple):
    """Log-probabilities of the model and of the truth, of all tokens and of the ones that came; attention."""

    guess: jax.Array
    truth: jax.Array
    surprise: jax.Array
    pattern: jax.Array

    @property
    def excess_loss(self) -> float:
        return float(self.surprise.mean())

    @property
    def divergence(self) -> float:
        return float(jnp.sum(jnp.exp(self.truth) * (self.truth - self.guess), axis=-1).mean())


@eqx.filter_jit
def answers(model: Transformer, task: Chain, world: Features, sequences: jax.Array) -> Answers:
    def one(sequence):
        reading = model.read(sequence[:-1], task.horizon)
        guess, truth = jax.nn.log_softmax(reading.logits), task.ladder(world, sequence)[-1]
        surprise = jnp.take_along_axis(truth - guess, sequence[task.start :, None], axis=1)
        return Answers(guess, truth, surprise, reading.heads[0].pattern)

    return jax.vmap(one)(sequences)


def test_the_loss_falls_to_the_entropy_as_the_scores_grow(known):
    task, world, sequences = known
    sharper = [answers(made(task, world, each), task, world, sequences) for each in (0, 1, 2, 4, 6, 8, 10, 12, 14)]
    assert all(a.divergence > b.divergence for a, b in pairwise(sharper))
    assert sharper[0].excess_loss > 0.05
    assert abs(sharper[-1].excess_loss) < 1e-4 and sharper[-1].divergence < 1e-4


def test_what_is_left_of_the_divergence_falls_with_the_square_of_the_leak(known):
    """Attention elsewhere is of order exp(-sharpness) and KL is quadratic, so one more divides it by e^2."""
    task, world, sequences = known
    before, after = (answers(made(task, world, each), task, world, sequences).divergence for each in (10, 12))
    assert np.log(before / after) == pytest.approx(2 * 2, rel=0.01)


def test_the_sharp_construction_is_the_truth_itself(known):
    task, world, sequences = known
    sharp = answers(made(task, world, 60), task, world, sequences)
    np.testing.assert_allclose(sharp.guess, sharp.truth, rtol=1e-9, atol=1e-12)


def test_head_k_looks_at_the_lags_of_block_k_in_proportion_to_their_weights(known):
    task, world, sequences = known
    pattern = np.asarray(answers(made(task, world, 60), task, world, sequences).pattern)[0]
    weights = task.lag_weights()
    for k, row in enumerate(weights / weights.sum(axis=1, keepdims=True)):
        for q in range(task.horizon):
            newest_first = pattern[k, q, : task.start + q][::-1]
            np.testing.assert_allclose(newest_first[: task.start], row, atol=1e-12)


def test_without_sharpness_lags_of_equal_weight_are_as_good_as_any_place(known):
    """All scores are then zero, unless the weights within a block differ."""
    task, world, sequences = known
    pattern = np.asarray(answers(made(task, world, 0), task, world, sequences).pattern)[0]
    for q in range(task.horizon):
        uniform = np.full(task.start + q, 1 / (task.start + q))
        assert np.allclose(pattern[:, q, : task.start + q], uniform) == (task.weighting != "given")


def test_negative_weights_are_refused_because_attention_cannot_be_negative():
    task = TASKS["mean"]
    world = task.world(jax.random.key(3))
    with pytest.raises(SettingsError) as caught:
        construction(world.matrices, np.array([[0.5, -0.25], [1, 0]]), task.horizon, 1.0)
    assert str(caught.value) == (
        "the smallest weight is -0.25, but attention cannot be negative. The construction needs weights of at least 0."
    )
