"""A record's model gives what training measured of it, for every task that the one program trains."""

import json
from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.experiments.tiny import small_construction
from tests.training.test_own_model import Known, Sum
from tests.training.tiny import TINY, changed

from headway import registry
from headway.records import Cell
from headway.settings import EvaluationSettings, ModelSettings, SettingsError, TrainingSettings
from headway.settings.keeping import Keep
from headway.settings.plain import Open
from headway.store import Store
from headway.sweep.here import run_cells
from headway.tasks.chain import Chain
from headway.tasks.construction import ConstructionSettings
from headway.tasks.in_context_chain import InContextChain
from headway.tasks.minimal_induction import MinimalInduction
from headway.tasks.moving_window import MovingWindow
from headway.tasks.recall import Recall
from headway.tasks.run import Settings
from headway.tasks.single_location import SingleLocation
from headway.tasks.sub_n_grams import SubNGrams
from headway.tasks.sub_n_grams_simple import SimpleSubNGrams
from headway.tasks.task import as_example, functions_of
from headway.tasks.task import tests_of as variants_of
from headway.tasks.text import Text
from headway.trained.own import answers
from headway.training.problem import precision
from headway.training.randomness import FEATURES, TEST_SET, key_of

pytestmark = pytest.mark.usefixtures("unchecked")
SMALL = ModelSettings(heads=2, width=8, mlp=8, norm="pre", dropout=0.0)
SHORT = TrainingSettings(
    learning_rate=0.01, schedule="constant", batch=8, samples=16, steps=6, test_samples=12, data="fresh"
)
RARELY = EvaluationSettings(points=3, snapshots=1)
TEXT = Path(__file__).parent / "data" / "speeches.txt"
TASKS = {
    "markov": Chain(vocab=5, blocks=((1,), (2,)), horizon=4),
    "single-location": SingleLocation(length=4, dimension=3),
    "recall": Recall(vocab=6, pairs=3),
    "moving-window": MovingWindow(count=5),
    "in-context-markov": InContextChain(states=3, length=12),
    "sub-n-grams": SubNGrams(symbols=3, grams=2, length=8),
    "minimal-induction": MinimalInduction(states=3, length=8),
    "sub-n-grams-simple": SimpleSubNGrams(symbols=3, grams=2, length=8),
    "text": Text(str(TEXT), vocab=30, length=16, orders=2, probes=12),
    "sum": Sum(),
}
DEEP = {"recall"}
"""Tasks of two layers; a second one takes as long to compile as the first."""
OWN = {"sum", "minimal-induction", "sub-n-grams-simple"}
"""Tasks with a model of their own."""
EXPECTED = {"toy", "regression", "in-context-regression", "softmax-regression"}
"""Tasks that know their loss, or draw all samples at once: no examples to ask a model about."""


def settings_of(name):
    model = replace(SMALL, layers=2) if name in DEEP else SMALL
    return Settings(TASKS[name], None if name in OWN else model, SHORT, RARELY)


@pytest.fixture(scope="module", params=TASKS)
def record(request, tmp_path_factory):
    cell = Cell(settings_of(request.param), (0, 3))
    store = Store(tmp_path_factory.mktemp("runs"))
    registry.add(type(cell.settings.task), cell.kind)
    run_cells([cell], store, keep=Keep("all"))
    return store.load(cell)


def test_every_task_is_tried():
    assert set(registry.TASKS) <= set(TASKS) | EXPECTED, "a new task needs a line above"


def test_a_model_of_any_task_gives_the_loss_that_was_measured(record):
    """At every kept step, by the task's own loss, over the test examples that the evaluation saw."""
    settings = record.cell.settings
    tested = next(iter(variants_of(settings.task).values()))
    functions = functions_of(tested)

    @jax.jit  # one program: drawn and judged step by step, each operation would be compiled alone
    def losses(world, key, logits):
        def loss(number, answer):
            return functions.loss(world, answer, as_example(tested, functions.test_example(world, key, number)))

        return jax.vmap(loss)(jnp.arange(12), logits)

    for row, seed in enumerate(record.cell.seeds):
        with precision(settings):
            world = jax.jit(functions_of(settings.task).world)(key_of(seed, FEATURES))
        for step in record.steps(seed):
            model = record.model(seed, step)
            logits = model(model.examples(12)).logits
            with precision(settings):
                measured = losses(world, key_of(seed, TEST_SET), jnp.asarray(logits))
            place = list(record.trajectory.times("loss")).index(step)
            np.testing.assert_allclose(np.mean(measured), record.trajectory["loss"][row, place], rtol=2e-5, atol=1e-6)


def test_every_head_has_its_attention_and_its_contribution(record):
    model = record.model()
    seen = model(model.examples(2))
    if record.cell.settings.model is None:
        assert seen.contributions == ()
        return
    assert len(seen.attention) == record.cell.settings.model.layers
    outputs = seen.logits.shape[-2:]
    for attention, contribution in zip(seen.attention, seen.contributions, strict=True):
        assert attention.shape[:2] == contribution.shape[:2] == (2, 2)
        assert contribution.shape[-2:] == outputs
        np.testing.assert_allclose(attention.sum(axis=-1), 1, atol=1e-5)
    np.testing.assert_allclose(model(model.examples(2)[1]).logits, seen.logits[1], atol=1e-5)


def test_models_survive_where_the_task_is_not_known(record, monkeypatch):
    """The record says what its models read; only what the task itself computes needs its code."""
    if record.cell.settings.model is None:
        return
    told = json.loads((record.path / "record.json").read_text())
    opened = replace(record, cell=Cell(Open(told["cell"]["settings"]), record.cell.seeds, record.cell.kind, "else"))
    inputs = record.model(3).examples(2)
    np.testing.assert_array_equal(opened.model(3)(inputs).logits, record.model(3)(inputs).logits)
    with pytest.raises(SettingsError, match="drawn by its task's code, which is not loaded"):
        opened.model(3).examples(2)


def test_a_model_of_windows_reads_one_window(tmp_path):
    settings = changed(TINY, task={"context": 2}, training={"steps": 2})
    store = Store(tmp_path)
    run_cells([Cell(settings, (0,))], store)
    model = store.load(Cell(settings, (0,))).model()
    assert (model.reads.positions, model.reads.predicted) == (2, 1)
    assert model(model.examples(3)).logits.shape == (3, 1, 5)


def test_a_model_that_knows_its_loss_in_closed_form_answers_nothing():
    class Closed(Known):
        sample = None

    with pytest.raises(SettingsError, match="answers no examples"):
        answers(Closed(), 0, {}, np.zeros((2, 1)))


def test_what_is_no_training_has_no_model(tmp_path):
    store = Store(tmp_path)
    cell = Cell(small_construction(ConstructionSettings()), (0,))
    run_cells([cell], store)
    with pytest.raises(SettingsError, match="is a construction, of which there is no trained model"):
        store.load(cell).model(0)
