"""What settings mean: equal choices have equal names, and widths, windows and epochs follow from them."""

import json
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from headway.presets import beside_ngrams
from headway.records import Cell
from headway.settings import EvaluationSettings, ModelSettings, SettingsError, TrainingSettings
from headway.settings.plain import plain
from headway.store.kinds import revive_cell
from headway.tasks.chain import Chain
from headway.tasks.construction import ConstructionSettings
from headway.tasks.recall import Recall
from headway.tasks.run import Settings
from headway.tasks.single_location import SingleLocation
from headway.tasks.task import shape_of


def test_settings_do_not_change_once_they_are_made():
    with pytest.raises(FrozenInstanceError):
        Chain().ratio = 2.0  # ty: ignore[invalid-assignment]


def given(number: float) -> Settings:
    task = Chain(weighting="given", blocks=((1,), (2,)), weights=((number,), (number,)), ratio=number)
    return Settings(
        task=replace(task, base=number),
        model=ModelSettings(scale=number),
        training=TrainingSettings(clip=number, learning_rate=number),
    )


def test_a_whole_number_where_a_float_is_wanted_gives_the_same_settings_and_the_same_name():
    whole_numbers, floats = given(2), given(2.0)
    assert whole_numbers == floats
    assert json.dumps(plain(whole_numbers)) == json.dumps(plain(floats))
    assert Cell(whole_numbers, (0,)).identity == Cell(floats, (0,)).identity


def test_counts_stay_whole_numbers():
    """A float in their place would be another name for the same cell."""
    assert '"vocab": 50,' in json.dumps(plain(Chain()))
    assert '"also": [60]' in json.dumps(plain(EvaluationSettings(also=(60,))))


def test_settings_survive_being_written_down():
    settings = given(2).changed(task={"references": (1, 2)}, evaluation=EvaluationSettings(also=(5, 7)))
    cell = Cell(settings, (0,))
    assert revive_cell(json.loads(json.dumps(cell.describe()))) == cell


def test_a_sequence_starts_with_as_many_tokens_as_its_furthest_lag_needs_or_as_the_order_says():
    blocks = ((5, 2), (1,))
    assert Chain(blocks=blocks).start == 5
    assert Chain(blocks=blocks, order=9).start == 9
    assert Chain(blocks=blocks).lags == (1, 2, 5)
    assert Chain(blocks=blocks, order=9, horizon=4).length == 9 + 4 - 1


@pytest.mark.parametrize(
    ("embedding", "positions", "stream"),
    [
        ("one-hot", "one-hot", 7 + 11),
        ("one-hot", "learned", 7),
        ("learned", "one-hot", 24),
        ("learned", "none", 24),
    ],
)
def test_one_hot_embeddings_set_the_width_of_the_stream(embedding, positions, stream):
    assert ModelSettings(embedding=embedding, positions=positions, width=24).stream(7, 11) == stream


def test_the_last_batch_of_an_epoch_may_be_smaller():
    assert TrainingSettings(samples=9000, batch=3000).steps_per_epoch == 3
    assert TrainingSettings(samples=9001, batch=3000).steps_per_epoch == 4
    assert TrainingSettings(samples=5, batch=3000).steps_per_epoch == 1


def test_an_ngram_model_differs_from_its_parent_only_in_what_it_sees_and_what_is_kept_of_it():
    kept = EvaluationSettings(points=9, also=(60,), snapshots=5, comparisons=True)
    parent = Settings(Chain(references=(2, 4)), evaluation=kept)
    _, child = parent.references
    assert (child.task.context, child.task.reads, child.references) == (4, 4, ())
    assert child.evaluation == EvaluationSettings(points=9, also=(), snapshots=0, comparisons=False)
    assert child.changed(task={"context": None, "references": (2, 4)}, evaluation=kept) == parent


def test_a_run_alone_is_the_same_but_for_what_it_is_compared_with():
    parent = Settings(Chain(references=(2, 4)))
    assert parent.alone() == Settings() and parent.alone().references == ()
    assert Settings().alone() == Settings()


def test_all_parents_with_the_same_training_share_their_ngram_models():
    """Else every change of what is shown would train the references again."""
    short, long = (
        Settings(Chain(references=(2,))),
        Settings(Chain(references=(2, 4)), evaluation=EvaluationSettings(also=(60,), comparisons=True)),
    )
    assert short.references[0] == long.references[0]


def test_settings_are_changed_by_naming_what_is_different():
    before = Settings(Chain(references=(2,)), training=TrainingSettings(batch=7, steps=5))
    after = before.changed(training={"steps": 10}, task={"ratio": 2, "context": 4})
    assert (after.training.steps, after.training.batch, after.task.ratio, after.task.context) == (10, 7, 2.0, 4)
    assert before.training.steps == 5, "the old ones stay"
    back = after.changed(training={"steps": 5}, task={"ratio": before.task.ratio, "context": None})
    assert back == before
    assert before.changed() == before


def test_a_whole_part_may_be_replaced():
    evaluation = EvaluationSettings(points=3)
    after = Settings(evaluation=EvaluationSettings(also=(60,), comparisons=True)).changed(evaluation=evaluation)
    assert after.evaluation == evaluation


def test_a_change_that_no_setting_has_or_that_cannot_work_is_refused():
    with pytest.raises(SettingsError, match=r"there is no setting training\.stepz\. There are optimiser, "):
        Settings().changed(training={"stepz": 10})
    with pytest.raises(SettingsError, match="no group of settings 'trainings'; there are task, model, training, eval"):
        Settings().changed(trainings={"steps": 10})
    with pytest.raises(SettingsError, match=r"training\.steps is 0"):
        Settings().changed(training={"steps": 0})


@pytest.mark.parametrize(
    ("blocks", "contexts"),
    [
        (((1, 2), (3, 4), (5, 6)), (2, 4, 6)),
        (((5, 6), (3, 4), (1, 2)), (2, 4, 6)),
        (((13, 14), (9, 10, 11, 12), tuple(range(1, 9))), (8, 12, 14)),
        (((5, 6, 7, 8), (3, 4, 5, 6), (1, 2, 3, 4)), (4, 6, 8)),
        (((3, 1), (2, 3)), (3,)),
    ],
    ids=["newest first", "furthest first", "unequal", "overlapping", "two blocks that end together"],
)
def test_beside_ngram_models_means_one_for_each_end_of_a_block_the_shortest_first(blocks, contexts):
    settings = Settings(task=Chain(blocks=blocks), evaluation=EvaluationSettings(comparisons=True))
    assert beside_ngrams(settings) == settings.changed(task={"references": contexts})


def test_a_hand_made_solution_has_settings_of_its_own_kind():
    settings = ConstructionSettings(sharpness=(0, 2.5), task=Chain(ratio=2))
    assert settings.sharpness == (0.0, 2.5)
    same = ConstructionSettings(Chain(ratio=2.0), (0.0, 2.5))
    assert Cell(settings, (0,)).identity == Cell(same, (0,)).identity
    assert (Cell(settings, (0,)).kind, Cell(Settings(), (0,)).kind) == ("construction", "markov")
    assert Cell(settings, (0,)).references() == ()
    assert len(ConstructionSettings().sharpness) == 21 and ConstructionSettings().sharpness[-1] == 20


def test_what_kind_settings_are_is_not_a_setting():
    assert "KIND" not in plain(Settings()) and "KIND" not in plain(ConstructionSettings())


@pytest.mark.parametrize(
    "change, now",
    [
        ({"task": {"tokens": 9}}, "task.vocab"),
        ({"model": {"blocks": 2}}, "model.layers"),
        ({"evaluation": {"subsets": True}}, "evaluation.comparisons"),
        ({"training": {"every": 5}}, "evaluation.every"),
    ],
)
def test_a_name_of_an_older_version_is_refused_with_the_new_one(change, now):
    with pytest.raises(SettingsError, match=rf"It is called {now} now\."):
        Settings().changed(**change)


def test_the_defaults_of_paper_b_are_those_of_its_appendix():
    location, recall = SingleLocation.usual(), Recall.usual()
    for settings, layers in ((location, 2), (recall, 4)):
        model, training = settings.model, settings.training
        assert (model.layers, model.heads, model.width, model.mlp) == (layers, 4, 256, 4 * 256)
        assert (model.positions, model.residual, model.norm, model.dropout) == ("sinusoidal", True, "none", 0)
        assert (training.learning_rate, training.batch, training.data) == (1e-4, 32, "fresh")
    assert (location.training.threshold, recall.training.threshold) == (0.1, 0.05)
    assert shape_of(location.task) == (17, 16, 64, 1)  # it answers at the last of the T tokens
    assert shape_of(recall.task) == (64, 64, 33, 1)


@pytest.mark.parametrize("settings", [SingleLocation.usual(), Recall.usual().changed(task={"copies": 2})])
def test_a_stored_cell_has_the_settings_that_it_was_made_with(settings):
    cell = Cell(settings, (0, 1))
    assert revive_cell(json.loads(json.dumps(cell.describe()))) == cell


def test_evaluations_are_even_at_first_and_then_a_share_of_the_way_apart():
    ticks = np.array(EvaluationSettings(every=20, growth=0.05).steps(10_000))
    gaps = np.diff(ticks)
    assert ticks[0] == 0 and ticks[-1] == 10_000 and (ticks % 20 == 0).all()
    assert (gaps[ticks[:-1] < 400] == 20).all()
    later = ticks[:-1] >= 400
    assert (gaps[later] <= 0.05 * ticks[:-1][later]).all()
    assert (gaps[later][:-1] > 0.05 * ticks[:-1][later][:-1] - 20).all()
