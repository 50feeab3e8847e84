"""What settings mean: equal choices have equal names, and widths, windows and epochs follow from them."""

import json
from dataclasses import FrozenInstanceError, replace

import pytest

from headway.records import Cell, plain, revive
from headway.settings import EvaluationSettings, ModelSettings, SettingsError, TrainingSettings
from headway.tasks.chain import Chain
from headway.tasks.construction import ConstructionSettings
from headway.tasks.run import Settings


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
    assert '"tokens": 50,' in json.dumps(plain(Chain()))
    assert '"also": [60]' in json.dumps(plain(EvaluationSettings(also=(60,))))


def test_settings_survive_being_written_down():
    settings = replace(given(2), references=(1, 2), evaluation=EvaluationSettings(also=(5, 7)))
    assert revive(Settings, json.loads(json.dumps(plain(settings)))) == settings


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
    parent = Settings(
        references=(2, 4), evaluation=EvaluationSettings(points=9, also=(60,), snapshots=5, comparisons=True)
    )
    child = parent.ngram(4)
    assert (child.context, child.length, child.references) == (4, 4, ())
    assert child.evaluation == EvaluationSettings(points=9, also=(), snapshots=0, subsets=False)
    assert replace(child, context=None, references=(2, 4), evaluation=parent.evaluation) == parent


def test_all_parents_with_the_same_training_share_their_ngram_models():
    """Else every change of what is shown would train the references again."""
    short, long = (
        Settings(references=(2,)),
        Settings(references=(2, 4), evaluation=EvaluationSettings(also=(60,), comparisons=True)),
    )
    assert short.ngram(2) == long.ngram(2)


def test_settings_are_changed_by_naming_what_is_different():
    before = Settings(references=(2,), training=TrainingSettings(batch=7, steps=5))
    after = before.changed(training={"steps": 10}, task={"ratio": 2}, context=4)
    assert (after.training.steps, after.training.batch, after.task.ratio, after.context) == (10, 7, 2.0, 4)
    assert before.training.steps == 5, "the old ones stay"
    back = after.changed(training={"steps": 5}, task={"ratio": before.task.ratio}, context=None)
    assert back == before
    assert before.changed() == before


def test_a_whole_part_may_be_replaced():
    evaluation = EvaluationSettings(points=3)
    after = Settings(evaluation=EvaluationSettings(also=(60,), comparisons=True)).changed(evaluation=evaluation)
    assert after.evaluation == evaluation


def test_a_change_that_no_setting_has_or_that_cannot_work_is_refused():
    with pytest.raises(TypeError, match="stepz"):
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
    assert settings.beside_ngrams() == replace(settings, references=contexts)


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
