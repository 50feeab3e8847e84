"""What is measured of any task, against NumPy over the stored examples: tokens and numbers, weighted or not."""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.models.initialisation import transformer
from headway.settings import ModelSettings
from headway.tasks.task import Example, shape_of, with_numbers
from headway.training import evaluation
from headway.training.evaluation import EvaluationData, Evaluator

pytestmark = pytest.mark.usefixtures("double")

MODEL = ModelSettings(heads=1, layers=1, width=6, mlp=0, norm="none", dropout=0.0, positions="none")
TESTED = 10
KEY = jax.random.key(5)
GRID = np.linspace(0, 2, 81)


@dataclass(frozen=True)
class Tokens:
    """Two weighted answers; a rung that excludes a token, and a truth that excludes none."""

    vocab: int = 4
    reads: int = 3
    predicted: int = 2
    rungs: ClassVar[tuple[str, ...]] = ("uniform", "not the newest", "truth")

    def sample(self, key):
        inputs = jax.random.randint(key, (3,), 0, 4)
        return Example(inputs, (inputs[1:] + 1) % 4, weights=jnp.asarray([1.0, 3.0]))

    def ladder(self, example):
        tokens, newest = jnp.arange(4), example.inputs[1:, None]
        uniform = jnp.full((2, 4), 0.25)
        others = (tokens != newest) / 3
        truth = jnp.where(tokens == example.targets[:, None], 0.7, 0.1)
        return jnp.log(jnp.stack([uniform, others, truth]))


class Rows(Tokens):
    """The same law as a plain row of tokens with a loss of its own, which no fast form serves."""

    predicted = 2

    def sample(self, key):
        return jnp.concatenate([jax.random.randint(key, (2,), 0, 4), jnp.asarray([1, 2])])

    def ladder(self, row):
        tokens = jnp.arange(4)
        truth = jnp.where(tokens == row[2:, None], 0.7, 0.1)
        return jnp.log(jnp.stack([jnp.full((2, 4), 0.25), (tokens != row[1:3, None]) / 3, truth]))

    def loss(self, outputs, example):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(outputs), example.targets[:, None], axis=1))


@dataclass(frozen=True)
class Certain(Tokens):
    """The truth excludes all tokens but one."""

    def ladder(self, example):
        sure = jnp.arange(4) == example.targets[:, None]
        return jnp.log(jnp.stack([jnp.full((2, 4), 0.25), (sure + 0.0)]))

    rungs: ClassVar[tuple[str, ...]] = ("uniform", "truth")


@dataclass(frozen=True)
class Vectors:
    """y* = the sum of three vectors; silence, the newest alone, the truth."""

    inputs: int = 2
    outputs: int = 2
    reads: int = 3
    predicted: int = 1
    rungs: ClassVar[tuple[str, ...]] = ("silence", "the newest", "truth")

    def sample(self, key):
        inputs = jax.random.normal(key, (3, 2))
        return Example(inputs, jnp.sum(inputs, axis=0)[None])

    def ladder(self, example):
        return jnp.stack([jnp.zeros((1, 2)), example.inputs[-1:], example.targets])


def of_task(task):
    """What is measured and known of a task, and the examples, outputs and ladders from which NumPy may find it."""
    own = shape_of(task)
    model = transformer(MODEL, own.inputs, own.reads, jax.random.key(1), 2.0, own.outputs)
    evaluator = Evaluator(task, None, TESTED, comparisons=False, models=0)
    data = EvaluationData((), (), None, None)
    found = evaluator.probe(model, task, KEY, data) | evaluator.facts(task, KEY, data)
    drawn = [task.sample(jax.random.fold_in(KEY, place)) for place in range(TESTED)]
    examples = [each if isinstance(each, Example) else Example(each[:-1], each[-task.predicted :]) for each in drawn]
    outputs = np.stack([model(each.inputs, own.predicted) for each in examples])
    ladders = np.stack([task.ladder(each) for each in drawn])
    return {name: np.asarray(value) for name, value in found.items()}, examples, outputs, ladders


def log_softmax(logits):
    return logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))


def shares_of(examples):
    weights = np.stack([np.ones(len(each.targets)) if each.weights is None else each.weights for each in examples])
    return weights / weights.sum(axis=1, keepdims=True)


def kl(reference, guess):
    """sum_x r(x) log(r(x) / g(x)), 0 log 0 = 0, term by term."""
    total = np.zeros(reference.shape[:-1])
    for token in range(reference.shape[-1]):
        share = np.exp(reference[..., token])
        total += np.where(share > 0, share * (np.where(share > 0, reference[..., token], 0) - guess[..., token]), 0)
    return total


@pytest.mark.parametrize("task", [Tokens(), Rows()], ids=["examples with weights", "rows with a loss"])
def test_of_tokens_every_number_is_what_numpy_finds_over_the_same_examples(task):
    found, examples, outputs, ladders = of_task(task)
    shares, guess = shares_of(examples), log_softmax(outputs)
    targets = np.stack([each.targets for each in examples])
    surprise = -np.take_along_axis(guess, targets[..., None], axis=2)[..., 0]
    losses = (shares * surprise).sum(axis=1)
    assert found["loss"] == pytest.approx(losses.mean(), rel=1e-9)
    assert found["accuracy"] == pytest.approx((shares * (outputs.argmax(axis=2) == targets)).sum(axis=1).mean())
    far = (shares[:, None] * kl(ladders, guess[:, None])).sum(axis=2)
    np.testing.assert_allclose(found["kl_rungs"], far.mean(axis=0), rtol=1e-9)
    with np.errstate(divide="ignore"):
        said = -np.take_along_axis(ladders, targets[:, None, :, None], axis=3)[..., 0]
    costs = (shares[:, None] * said).sum(axis=2)
    np.testing.assert_allclose(found["rung_loss"], costs.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(found["rung_excess"], (costs - costs[:, -1:]).mean(axis=0), rtol=1e-9, atol=1e-12)
    excess = losses - costs[:, -1]
    assert found["excess_loss"] == pytest.approx(excess.mean(), rel=1e-9)
    np.testing.assert_allclose(found["excess_halves"], [excess[::2].mean(), excess[1::2].mean()], rtol=1e-9)
    entropy = -(np.exp(ladders[:, -1]) * ladders[:, -1]).sum(axis=2)
    assert found["entropy"] == pytest.approx((shares * entropy).sum(axis=1).mean(), rel=1e-9)
    sure = [log_softmax(confidence * ladders[:, -1:]) for confidence in GRID]
    near = [(shares[:, None] * kl(ladders, each)).sum(axis=2).mean(axis=0) for each in sure]
    np.testing.assert_allclose(found["kl_stageless"], np.min(near, axis=0), rtol=1e-9, atol=1e-12)


def test_of_numbers_every_number_is_what_numpy_finds_over_the_same_examples():
    """The KL between normal distributions of variance 1 is half the squared distance of their means."""
    found, examples, outputs, ladders = of_task(Vectors())
    targets = np.stack([each.targets for each in examples])
    losses = 0.5 * ((outputs - targets) ** 2).sum(axis=2).mean(axis=1)
    assert found["loss"] == pytest.approx(losses.mean(), rel=1e-9)
    assert found["excess_loss"] == pytest.approx(losses.mean(), rel=1e-9), "the truth costs nothing"
    np.testing.assert_allclose(found["excess_halves"], [losses[::2].mean(), losses[1::2].mean()], rtol=1e-9)
    far = 0.5 * ((ladders - outputs[:, None]) ** 2).sum(axis=(2, 3))
    np.testing.assert_allclose(found["kl_rungs"], far.mean(axis=0), rtol=1e-9)
    costs = 0.5 * ((ladders - targets[:, None]) ** 2).sum(axis=(2, 3))
    np.testing.assert_allclose(found["rung_loss"], costs.mean(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found["rung_excess"], costs.mean(axis=0), rtol=1e-9, atol=1e-12)
    near = [0.5 * ((ladders - scale * targets[:, None]) ** 2).sum(axis=(2, 3)).mean(axis=0) for scale in GRID]
    np.testing.assert_allclose(found["kl_stageless"], np.min(near, axis=0), rtol=1e-9, atol=1e-12)
    assert "accuracy" not in found and "entropy" not in found


def test_what_a_reference_excludes_is_no_reason_for_what_is_no_number():
    """0 log 0 = 0; how near confidence alone comes to uniform has no meaning where the truth's logits are infinite."""
    found, examples, outputs, _ = of_task(Certain())
    unknown = found.pop("kl_stageless")
    assert not any(np.isnan(value).any() for value in found.values())
    assert np.isnan(unknown).all()
    assert found["entropy"] == 0
    np.testing.assert_allclose(found["rung_loss"], [np.log(4), 0], rtol=1e-12)
    surprise = -np.take_along_axis(log_softmax(outputs), np.stack([e.targets for e in examples])[..., None], 2)[..., 0]
    wanted = (shares_of(examples) * surprise).sum(axis=1).mean()
    assert found["kl_rungs"][1] == pytest.approx(wanted, rel=1e-9), "KL from certainty is the surprise itself"


@dataclass(frozen=True)
class Moved(Vectors):
    """Tested as it is, and with everything moved."""

    NUMBERS: ClassVar[tuple[str, ...]] = ("shift",)
    shift: float = 0.0

    def sample(self, key):
        inputs = jax.random.normal(key, (3, 2)) + self.shift
        return Example(inputs, jnp.sum(inputs, axis=0)[None])

    def tests(self):
        return {"": self, "moved": with_numbers(self, {"shift": 4.0}), "far": with_numbers(self, {"shift": 9.0})}

    def measures(self, example, _reading, test):
        return {f"mean_{test or 'own'}": jnp.mean(example.inputs)}


def test_every_test_is_measured_on_examples_of_its_own_and_only_the_first_counts():
    """A quarter as many of each further test, numbered on behind those of the one that counts."""
    assert evaluation.test_sizes(TESTED, 3).tolist() == [10, 2, 2]
    task = Moved()
    found, _, outputs, _ = of_task(task)
    places = {"own": range(10), "moved": range(10, 12), "far": range(12, 14)}
    for name, each in zip(places, task.tests().values(), strict=True):
        drawn = [each.sample(jax.random.fold_in(KEY, place)).inputs for place in places[name]]
        assert found[f"mean_{name}"] == pytest.approx(np.mean(drawn), rel=1e-6)
    targets = np.stack([task.sample(jax.random.fold_in(KEY, place)).targets for place in range(TESTED)])
    assert found["loss"] == pytest.approx(0.5 * ((outputs - targets) ** 2).sum(axis=(1, 2)).mean(), rel=1e-6)
