"""Kept models: they change no number of a run, survive kills, and are those of a run that was never disturbed."""

import dataclasses
import shutil
from itertools import pairwise

import jax
import numpy as np
import pytest
from scipy.special import log_softmax
from tests.training.tiny import EVALUATIONS, TINY

import headway
from headway.presets import MINIMAL
from headway.records import Cell
from headway.settings import SettingsError
from headway.settings.keeping import Keep, keep_of
from headway.store import Store, StoreError
from headway.sweep.bundle import Bundle, decode, encode
from headway.sweep.here import run_cells
from headway.sweep.watch import Silence
from headway.tasks.run import Settings
from headway.trained import reads_of_task

# The same runs are made with every shape and type checked in `test_here.py`.
pytestmark = pytest.mark.usefixtures("unchecked")

SEEDS = (0, 1, 2)
CELL = Cell(TINY, SEEDS)
WORDS = ("3", "stages", "all")


def kept_bits(record):
    """Every bit of every file of models."""
    steps = {step: record.weights(step) for step in record.kept}
    return {(step, name): values.tobytes() for step, models in steps.items() for name, values in models.items()}


def state_bits(record):
    return {name: values.tobytes() for name, values in record.state().items() if name != "seconds"}


@pytest.fixture(scope="module", params=WORDS)
def keeping(request, tmp_path_factory):
    """A run that keeps models, by every word."""
    store = Store(tmp_path_factory.mktemp("keeping"))
    run_cells([CELL], store, keep=Keep(request.param))
    return store.load(CELL)


def test_keeping_models_changes_neither_the_name_nor_a_bit(keeping, undisturbed, bits):
    assert keeping.identity == undisturbed.identity
    assert bits(keeping) == bits(undisturbed)
    assert not undisturbed.kept and not undisturbed.has_state


def test_every_word_keeps_what_it_says(keeping):
    word = keeping.provenance["keep_weights"]
    if word == "all":
        assert keeping.kept == tuple(EVALUATIONS[:-1])
    elif word == "3":
        assert keeping.kept == (0, 1, 5)  # nearest to 1 and sqrt(12); the last is there anyway
    kl = keeping.trajectory["kl_rungs"]
    if word == "stages":
        for row, seed in enumerate(SEEDS):
            lowest = {EVALUATIONS[place] for place in np.argmin(kl[row, :, 1:], axis=0)}
            assert set(keeping.steps(seed)) == lowest | {0, 12}


@pytest.mark.usefixtures("save_always")
def test_a_run_that_dies_at_every_evaluation_keeps_the_same_models(store, dying_at, death, keeping, bits):
    keep = Keep(keeping.provenance["keep_weights"])
    for _, step in pairwise(EVALUATIONS):
        with pytest.raises(death):
            run_cells([CELL], store, dying_at(step), keep=keep)
    run_cells([CELL], store)  # the word was saved, and need not be said again
    found = store.load(CELL)
    assert bits(found) == bits(keeping)
    assert kept_bits(found) == kept_bits(keeping)
    assert state_bits(found) == state_bits(keeping)
    found.verify()
    assert [path.name for path in store.root.iterdir() if path.suffix == ".partial"] == []


def test_how_much_is_kept_is_noted_before_it_is(store):
    notes = []

    class Heard(Silence):
        def note(self, text):
            notes.append(text)

    run_cells([CELL], store, Heard(), keep=Keep("2"))
    model = 3 * 2 * 2 * 100 * 4  # seeds, two matrices of two heads, 10 x 10 of four bytes
    assert notes[0].startswith(f"keeping models (2), {model / 1e6:.3g} MB a step, and at the end 0.0")
    files = store.load(CELL).files
    assert abs(files["weights-00000000.safetensors"]["bytes"] - model) < 400


def test_a_model_gives_the_loss_that_was_measured_at_its_step(tmp_path):
    store = Store(tmp_path)
    run_cells([CELL], store, keep=Keep("all"))
    record = store.load(CELL)
    for seed in (0, 2):
        rows = _test_rows(seed)
        for place, step in enumerate(EVALUATIONS):
            model = record.model(seed, step)
            assert (model.seed, model.step) == (seed, step)
            logits = log_softmax(model(rows[:, :-1]).logits, axis=-1)
            loss = -np.mean(np.take_along_axis(logits, rows[:, -4:, None], axis=2))
            np.testing.assert_allclose(loss, record.trajectory["loss"][seed, place], rtol=1e-5)
            np.testing.assert_array_equal(model.examples(16), rows[:, :-1])


def _test_rows(seed):
    from headway.training.randomness import FEATURES, TEST_SET, key_of

    @jax.jit  # one program instead of one for each of its operations
    def drawn(of_features, of_rows):
        world = TINY.task.world(of_features)
        return jax.vmap(lambda i: TINY.task.sample(world, jax.random.fold_in(of_rows, i)))(np.arange(16))

    return np.asarray(drawn(key_of(seed, FEATURES), key_of(seed, TEST_SET)))


def test_a_stage_has_its_step_and_its_model(tmp_path):
    store = Store(tmp_path)
    run_cells([CELL], store, keep=Keep("all"))
    record = store.load(CELL)
    for seed, stages in zip(SEEDS, headway.stages(record), strict=True):
        for rung in set(stages.rungs):
            moment = record.at(stage=rung, seed=seed)
            assert stages.at(moment.step) == rung
            assert moment.model.step == moment.step
        with pytest.raises(SettingsError, match=r"has no stage 9; its stages are"):
            record.at(stage=9, seed=seed)


def test_a_record_without_models_names_the_option(undisturbed):
    assert undisturbed.model(1).step == 12
    assert undisturbed.steps() == (12,)
    with pytest.raises(StoreError, match=r"no model of step 5 was kept.*--keep-weights 12, or keep_weights=12"):
        undisturbed.model(1, step=5)
    with pytest.raises(SettingsError, match=r"has no seed 7; it has 0, 1, 2"):
        undisturbed.model(7)


def test_a_small_copy_has_no_models_and_says_so(keeping, tmp_path):
    small = Store(keeping.path.parent).copy_small(CELL, Store(tmp_path / "small"))
    assert not small.kept and not small.has_state and small.reduced["weights"] == "left out"
    with pytest.raises(StoreError, match=r"the weights were not kept.*--keep-weights"):
        small.model(0)


@pytest.mark.parametrize("name", ["weights-00000001.safetensors", "state.safetensors"])
def test_a_flipped_bit_of_a_model_or_a_state_is_found(keeping, tmp_path, name):
    if name not in keeping.files:
        pytest.skip("this word keeps no model of that step")
    folder = tmp_path / keeping.identity
    shutil.copytree(keeping.path, folder)
    data = bytearray((folder / name).read_bytes())
    data[-1] ^= 1
    (folder / name).write_bytes(data)
    record = headway.load(folder)
    with pytest.raises(StoreError, match="does not have the SHA-256 it was written with"):
        record.verify()


def test_what_is_done_without_models_is_not_passed_for_a_run_that_keeps_them(undisturbed, keeping):
    with pytest.raises(SettingsError, match=r"keeps only its last model, not by '12'; records are never rewritten"):
        headway.run(TINY, seeds=3, into=undisturbed.path.parent, keep_weights=12)
    word = keeping.provenance["keep_weights"]
    assert headway.run(TINY, seeds=3, into=keeping.path.parent, keep_weights=word) == keeping


@pytest.mark.parametrize("word", ["0", "-1", "some", "1.5", "1" * 20, True])
def test_a_word_that_says_nothing_is_refused(word):
    with pytest.raises(SettingsError, match=r"it must be a number of"):
        keep_of(word)


def test_stages_of_a_task_without_a_ladder_are_refused_before_training(store):
    @dataclasses.dataclass(frozen=True)
    class Blind:
        """x x x: a row of one token."""

        vocab: int = 3

        def sample(self, key):
            return jax.numpy.repeat(jax.random.randint(key, (1,), 0, self.vocab), 4)

    cell = Cell(Settings(Blind(), dataclasses.replace(MINIMAL, heads=1), TINY.training, TINY.evaluation), SEEDS)
    with pytest.raises(SettingsError, match="has no ladder, so its stages are not known"):
        run_cells([cell], store, keep=Keep("stages"))


def test_an_order_for_workers_says_what_to_keep():
    bundle = Bundle((CELL,), 20, Keep("stages"))
    assert decode(encode([bundle])) == [bundle]


def test_models_refuse_what_they_do_not_read(undisturbed):
    model = undisturbed.model(0)
    assert model(np.zeros((2, 3, 5), int)).logits.shape == (2, 3, 4, 5)
    with pytest.raises(ValueError, match=r"got tokens of shape \(4,\), but this model reads \(..., 5\) tokens"):
        model([0, 1, 2, 3])
    with pytest.raises(ValueError, match=r"got tokens from 0 to 5, but this model reads .* each 0 .. 4"):
        model([0, 1, 2, 3, 5])
    with pytest.raises(ValueError, match="Pass whole numbers"):
        model([0.0, 1, 2, 3, 4])


def test_a_record_says_what_its_models_read(undisturbed):
    assert undisturbed.provenance["reads"] == dataclasses.asdict(reads_of_task(TINY.task))
