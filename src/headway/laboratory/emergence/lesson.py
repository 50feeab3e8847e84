"""Settings of paper B as pure functions for one member: its task, its fresh batches, what is measured."""

from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from headway.laboratory.randomness import FEATURES, ORDER, TEST_SET, WEIGHTS, key_of
from headway.measurement import mean_over
from headway.models.initialisation import transformer
from headway.models.transformer import Reading, Transformer
from headway.settings import LocationTaskSettings, RecallSettings, RecallTaskSettings, SingleLocationSettings
from headway.tasks.recall import AssociativeRecall, RecallExample, associative_recall
from headway.tasks.single_location import LocationExample, SingleLocation, single_location
from headway.training.ensemble import Lesson
from headway.training.train import Member

EmergenceSettings = SingleLocationSettings | RecallSettings
AT_A_TIME = 128
"""Test sequences that are read together."""
SHARE = 4
"""What is measured beside the test gets one of so many of its sequences."""


class Repetition(NamedTuple):
    """What may differ between the members of one program: B and p."""

    copies: Float[Array, ""] | float
    repeated: Float[Array, ""] | float


NONE = Repetition(1, 0.0)


def repetition_of(settings: EmergenceSettings) -> Repetition:
    """B and p of the settings."""
    task = settings.task
    return Repetition(task.copies, task.repeated if isinstance(task, LocationTaskSettings) else task.favoured)


@cache
def lesson(settings: EmergenceSettings) -> Lesson:
    """The settings as functions of a member, whose own numbers are its repetition; the same for equal settings."""
    training = settings.training
    regression = isinstance(settings, SingleLocationSettings)
    error = _location_loss if regression else _recall_loss

    def begin(member: Member):
        task = _new_task(settings.task, key_of(member.seed, FEATURES))
        model = transformer(
            settings.model, settings.inputs, settings.length, key_of(member.seed, WEIGHTS), outputs=settings.outputs
        )
        return model, task

    def loss(model, member: Member, task, step):
        def one(key):
            example = task.sample(key, *member.numbers)
            return error(model.read(example.inputs, 1), example)

        keys = jax.random.split(jax.random.fold_in(key_of(member.seed, ORDER), step), training.batch)
        return jnp.mean(jax.vmap(one)(keys))

    def probe(model, member: Member, task):
        sets = (_location_sets if regression else _recall_sets)(member.numbers, task)
        measure = _examine_location if regression else _examine_recall
        return _means(model, member, task, sets, measure, training.test_samples)

    return Lesson(begin, loss, optax.adam(training.learning_rate), probe)


def _new_task(task: LocationTaskSettings | RecallTaskSettings, key: PRNGKeyArray) -> SingleLocation | AssociativeRecall:
    """What a seed has to learn."""
    return single_location(task, key) if isinstance(task, LocationTaskSettings) else associative_recall(task)


def _means(model: Transformer, member: Member, task, sets, measure, count: int) -> dict[str, Array]:
    """Means of what `measure` names, each over its own set of test sequences: (set, value) by name.

    All sets go through the model in one pass, because every further pass would be compiled, too.
    """
    sizes = np.array([count] + [max(1, count // SHARE)] * (len(sets) - 1))
    number = jnp.repeat(jnp.arange(len(sets)), sizes, total_repeat_length=int(sizes.sum()))
    # Float and not integer, because the mean B of recall need not be whole.
    copies, repeated = (jnp.stack([jnp.asarray(x, jnp.float32) for x in column]) for column in zip(*sets, strict=True))
    key = key_of(member.seed, TEST_SET)

    def one(place_and_number):
        place, number = place_and_number
        example = task.sample(jax.random.fold_in(key, place), copies[number], repeated[number])
        found = measure(model.read(example.inputs, 1), example)
        share = jnp.asarray(sizes.sum() / sizes, jnp.float32)[number]
        return {name: jnp.where(number == own, share * value, 0) for name, (own, value) in found.items()}

    return mean_over(one, (jnp.arange(sizes.sum()), number), AT_A_TIME)


def _location_loss(reading: Reading, example: LocationExample) -> Float[Array, ""]:
    """1/2 |y - y*|^2."""
    return 0.5 * jnp.sum((reading.logits[0] - example.target) ** 2)


def _recall_loss(reading: Reading, example: RecallExample) -> Float[Array, ""]:
    """-log p(value), in nats."""
    return -jax.nn.log_softmax(reading.logits[0])[example.target]


def _location_sets(repetition: Repetition, task: SingleLocation) -> list[Repetition]:
    """Never with cross-sample repetition: with the copies of the training; with one; with nothing but copies."""
    return [Repetition(repetition.copies, 0.0), NONE, Repetition(task.length, 0.0)]


def _examine_location(reading: Reading, example: LocationExample) -> dict[str, tuple[int, Array]]:
    """`gain` is E<y, y*> where every position is relevant, so that wherever a head looks it sees the same.

    It is what the toy model calls w / sqrt(d), read apart from attention.
    """
    relevant = example.relevant.astype(reading.logits.dtype)
    loss = _location_loss(reading, example)
    return {
        "loss": (0, loss),
        "attention_relevant": (0, jnp.stack([heads.pattern[:, -1] @ relevant for heads in reading.heads])),
        "loss_alone": (1, loss),
        "gain": (2, jnp.dot(reading.logits[0], example.target)),
    }


def _recall_sets(repetition: Repetition, _task: AssociativeRecall) -> list[Repetition]:
    """Without any repetition, and with that of the training."""
    return [NONE, repetition]


def _examine_recall(reading: Reading, example: RecallExample) -> dict[str, tuple[int, Array]]:
    """`attention_relevant` is the query's attention on the value it should say, `attention_previous` that of values on
    the keys right before them, in all layers but the last, of which only the query's row is computed.
    """
    loss = _recall_loss(reading, example)
    right = (jnp.argmax(reading.logits[0]) == example.target).astype(loss.dtype)
    relevant = example.relevant.astype(loss.dtype)
    found = {
        "loss": (0, loss),
        "accuracy": (0, right),
        "attention_relevant": (0, jnp.stack([heads.pattern[:, -1, 1::2] @ relevant for heads in reading.heads])),
        "loss_repeated": (1, loss),
        "accuracy_repeated": (1, right),
    }
    before = [_previous(heads.pattern) for heads in reading.heads[:-1]]
    return {**found, "attention_previous": (0, jnp.stack(before))} if before else found


def _previous(pattern: Float[Array, "head query key"]) -> Float[Array, " head"]:
    """Mean over the values' positions 1, 3, .. of the attention on the position before."""
    value = jnp.arange(1, pattern.shape[1], 2)
    return jnp.mean(pattern[:, value, value - 1], axis=1)
