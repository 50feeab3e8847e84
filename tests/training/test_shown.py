"""What a page shows of the first test example is what the model makes of that one, and of no other."""

from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.models.switches import stirred

from headway import Answer, Experiment, Training, run
from headway.settings import ModelSettings, SettingsError
from headway.tasks.task import functions_of
from headway.tasks.text import Text
from headway.training import shown
from headway.training.evaluation import EvaluationData, Evaluator, mean_and_first

FILE = str(Path(__file__).parents[1] / "data" / "speeches.txt")
TEXT = Text(FILE, vocab=40, length=24, orders=3, probes=6)
LAYERS = ModelSettings(width=8, heads=2, mlp=0, layers=2, norm="pre", positions="rotary")


def measured(task, model):
    world = functions_of(task).world(jax.random.key(0))
    data = EvaluationData(world, None, None, None)
    key = jax.random.key(1)
    evaluator = Evaluator(task, None, 6, False, 0)
    found, facts = evaluator.probe(model, task, key, data), evaluator.facts(task, key, data)
    return found, facts, functions_of(task).test_example(world, key, 0), world


def spelt(codes) -> list[str]:
    return ["".join(chr(int(code)) for code in row if code) for row in codes]


def test_of_a_text_the_first_stretch_is_shown_token_by_token():
    model = stirred(LAYERS, vocab=40, length=24)
    found, facts, example, world = measured(TEXT, model)
    reading = model.read(example.inputs, 24)
    model_says = jax.nn.log_softmax(reading.logits)
    said = TEXT.ladder(world, example)
    far = np.sum(np.exp(said) * (said - model_says), axis=-1)
    np.testing.assert_array_equal(found["shown_rung"], far.argmin(axis=0))
    np.testing.assert_allclose(found["shown_loss"], -model_says[np.arange(24), example.targets], rtol=1e-5)
    patterns = np.stack([heads.pattern for heads in reading.heads])
    np.testing.assert_allclose(found["shown_attention"], patterns, rtol=1e-5, atol=1e-7)
    assert found["shown_attention"].shape == (2, 2, 24, 24)
    assert not np.allclose(found["shown_attention"][:, :, -16:], found["attention"]), "that is the mean over the probe"
    text = Path(FILE).read_text(encoding="utf-8")
    assert "".join(spelt(facts["shown_written"])) in text and len(facts["shown_written"]) == 25


def test_of_a_long_context_attention_is_kept_from_the_last_positions(monkeypatch):
    monkeypatch.setattr(shown, "MOST_WEIGHTS", 2 * 2 * 24 * 5 + 3)
    model = stirred(LAYERS, vocab=40, length=24)
    found, _, example, _ = measured(TEXT, model)
    patterns = np.stack([heads.pattern for heads in model.read(example.inputs, 24).heads])
    np.testing.assert_allclose(found["shown_attention"], patterns[:, :, -5:], rtol=1e-5, atol=1e-7)


@dataclass(frozen=True)
class First:
    """x_1 .. x_5 -> x_1, in letters."""

    letters: str = "abcd"
    vocab = 4
    predicted = 1
    rungs = ("uniform", "the first")

    def sample(self, key):
        row = jax.random.randint(key, (5,), 0, 4)
        return jnp.concatenate([row, row[:1]])

    def ladder(self, row):
        first = 0.97 * jax.nn.one_hot(row[:1], 4) + 0.0075
        return jnp.log(jnp.stack([jnp.full((1, 4), 0.25), first]))

    def written(self):
        return tuple(self.letters)


@dataclass(frozen=True)
class Own(First):
    """The same with a model of its own, one head over the five positions."""

    def parameters(self, key):
        return {"gain": jnp.ones(()), "v": jax.random.normal(key, (5,))}

    def answer(self, parameters, example):
        attention = jax.nn.softmax(parameters["v"])
        said = parameters["gain"] * attention @ jax.nn.one_hot(example.inputs, 4)
        return Answer(said[None], attention[None, None, None])


def test_attention_of_any_task_that_says_how_tokens_are_written_is_kept_with_the_pictures(tmp_path):
    training = Training(schedule="constant", steps=4, batch=8, data="fresh", test_samples=4)
    ran = run(Experiment.of(Own(), training=training, seeds=2), into=tmp_path)
    (record,) = ran.records.values()
    trajectory = record.trajectory
    assert trajectory.clock_of["shown_attention"] == "snapshot"
    assert trajectory["shown_attention"].shape == (2, len(trajectory.clocks["snapshot"]), 1, 1, 1, 5)
    assert trajectory["shown_attention"].dtype == np.float16
    np.testing.assert_allclose(trajectory["shown_attention"], trajectory["attention"], atol=1e-3)
    for codes in trajectory.facts["shown_written"]:
        letters = "".join(spelt(codes))
        assert len(letters) == 6 and set(letters) <= set("abcd") and letters[0] == letters[-1]
    times = len(trajectory.clocks["evaluation"])
    assert trajectory["shown_rung"].shape == trajectory["shown_loss"].shape == (2, times, 1)


def test_where_only_the_last_token_is_predicted_heads_attend_from_the_last_position():
    model = stirred(LAYERS, vocab=4, length=5)
    found, facts, row, _ = measured(First(), model)
    patterns = np.stack([heads.looked[:, -1:] for heads in model.read(row[:-1], 1).heads])
    np.testing.assert_allclose(found["shown_attention"], patterns, rtol=1e-5, atol=1e-7)
    assert "".join(spelt(facts["shown_written"])) == "".join("abcd"[token] for token in row)


def test_a_task_that_does_not_write_every_token_is_refused():
    with pytest.raises(SettingsError, match="has 3 words, but there are 4 tokens"):
        measured(First("abc"), stirred(LAYERS, vocab=4, length=5))


@pytest.mark.parametrize("chunk", [1, 2, 5, 13, 400])
def test_the_first_example_is_the_first_however_they_are_cut(chunk):
    rows = np.random.default_rng(0).normal(size=(13, 4))
    mean, first = mean_and_first(lambda row: (row[0], {"row": row}), jnp.asarray(rows), chunk)
    np.testing.assert_allclose(mean, rows[:, 0].mean(), rtol=1e-5)
    np.testing.assert_array_equal(first["row"], jnp.asarray(rows)[0])
