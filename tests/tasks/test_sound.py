"""A mistake in a user's task is said before anything is trained: what was got, what was wanted, what to do."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import pytest

from headway.settings import ModelSettings, SettingsError, TrainingSettings
from headway.tasks.chain import Chain
from headway.tasks.recall import Recall
from headway.tasks.run import Settings
from headway.tasks.single_location import SingleLocation
from headway.tasks.sound import require_sound
from headway.tasks.task import Example, shape_of

SMALL = ModelSettings(heads=1, width=8, mlp=0, dropout=0.0)


@dataclass(frozen=True)
class Coin:
    """A row of coins; the next one is as likely heads as tails."""

    length: int = 6
    rungs = ("heads", "fair")
    vocab = 2

    def sample(self, key):
        return jax.random.randint(key, (self.length,), 0, 2)

    def ladder(self, row):
        count = len(row) - 1
        surely = jnp.log(jnp.array([0.9, 0.1]))
        return jnp.stack([jnp.broadcast_to(surely, (count, 2)), jnp.full((count, 2), jnp.log(0.5))])


def test_a_sound_task_is_silent_and_knows_its_shape():
    require_sound(Coin())
    assert shape_of(Coin()) == (2, 2, 5, 5)


@pytest.mark.parametrize("task", [Chain(vocab=5), Recall(vocab=8, pairs=2), SingleLocation(length=4, dimension=3)])
def test_ours_are_sound(task):
    require_sound(task)


class NoDistribution(Coin):
    def ladder(self, row):
        return super().ladder(row) + 0.1


class WrongShape(Coin):
    def ladder(self, row):
        return super().ladder(row)[0]


class BeyondTheVocabulary(Coin):
    def sample(self, key):
        return jax.random.randint(key, (self.length,), 0, 2) + 5


class Fractions(Coin):
    def sample(self, key):
        return jax.random.uniform(key, (self.length,))


class Raises(Coin):
    def sample(self, key):
        return jnp.ones(3) @ jnp.ones(4)


class ManyLosses(Coin):
    def loss(self, outputs, example):
        return outputs[:, 0]


class NotANumber(Coin):
    def ladder(self, row):
        return super().ladder(row) * jnp.nan


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (NoDistribution(), "of NoDistribution.ladder is not a distribution: its probabilities add up to 1.105"),
        (WrongShape(), r"shape \(5, 2\), but wanted is \(2, 5, 2\)"),
        (BeyondTheVocabulary(), "from . to 6, but the vocab is 2: tokens are 0 .. 1"),
        (Fractions(), "of type float32, but a task with a vocab asks for whole numbers"),
        (Raises(), r"Raises.sample fails: TypeError: .*test_sound.py, line \d+: return jnp.ones"),
        (ManyLosses(), "a loss is one finite number"),
        (NotANumber(), "values that are not numbers"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_mistake_is_said_in_words(task, words):
    with pytest.raises(SettingsError, match=words):
        require_sound(task)


@dataclass(frozen=True)
class Nothing:
    size: int = 3


@dataclass(frozen=True)
class Unnamed:
    vocab: int = 2

    def sample(self, key):
        return jnp.zeros(4, int)

    def ladder(self, row):
        return jnp.log(jnp.full((1, 3, 2), 0.5))


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (Nothing(), "the task Nothing has no function sample"),
        (Coin, "must be a frozen dataclass of settings"),
        (3, "must be a frozen dataclass of settings"),
        (Unnamed(), "has a ladder but no names for its rungs"),
    ],
)
def test_what_is_no_task_is_refused_when_settings_are_made(task, words):
    with pytest.raises(SettingsError, match=words):
        Settings(task, SMALL)


def test_vectors_in_and_numbers_out_need_no_vocabulary():
    @dataclass(frozen=True)
    class Sum:
        def sample(self, key):
            x = jax.random.normal(key, (4, 3))
            return Example(x, jnp.sum(x, axis=(0, 1))[None, None])

    assert shape_of(Sum()) == (3, 1, 4, 1)
    require_sound(Sum())


def test_learning_by_a_measure_that_is_not_there_is_an_error():
    from headway.records import Cell
    from headway.training.group import Group

    @dataclass(frozen=True)
    class Odd(Coin):
        PROGRESS = "height"

    training = TrainingSettings(steps=4, batch=4, data="fresh", test_samples=4, threshold=0.5)
    group = Group([Cell(Settings(Odd(), SMALL, training), (0,))])
    with pytest.raises(ValueError, match=r"counts as learnt by 'height', which is not measured\. There are accuracy"):
        list(group.ticks(0, None))
