"""What settings mean: equal choices have equal names, and widths, windows and epochs follow from them."""

import json
from dataclasses import FrozenInstanceError, replace

import pytest

from headway.records import Cell, plain, revive
from headway.settings import EvaluationSettings, ModelSettings, Settings, TaskSettings, TrainingSettings


def test_settings_do_not_change_once_they_are_made():
    with pytest.raises(FrozenInstanceError):
        TaskSettings().ratio = 2.0  # ty: ignore[invalid-assignment]


def given(number: float) -> Settings:
    task = TaskSettings(weighting="given", blocks=((1,), (2,)), weights=((number,), (number,)), ratio=number)
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
    assert '"tokens": 50,' in json.dumps(plain(TaskSettings()))
    assert '"also": [60]' in json.dumps(plain(EvaluationSettings(also=(60,))))


def test_settings_survive_being_written_down():
    settings = replace(given(2), references=(1, 2), evaluation=EvaluationSettings(also=(5, 7)))
    assert revive(Settings, json.loads(json.dumps(plain(settings)))) == settings


def test_a_sequence_starts_with_as_many_tokens_as_its_furthest_lag_needs_or_as_the_order_says():
    blocks = ((5, 2), (1,))
    assert TaskSettings(blocks=blocks).start == 5
    assert TaskSettings(blocks=blocks, order=9).start == 9
    assert TaskSettings(blocks=blocks).lags == (1, 2, 5)
    assert TaskSettings(blocks=blocks, order=9, horizon=4).length == 9 + 4 - 1


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
    parent = Settings(references=(2, 4), evaluation=EvaluationSettings(points=9, also=(60,), snapshots=5))
    child = parent.ngram(4)
    assert (child.context, child.length, child.references) == (4, 4, ())
    assert child.evaluation == EvaluationSettings(points=9, also=(), snapshots=0)
    assert replace(child, context=None, references=(2, 4), evaluation=parent.evaluation) == parent


def test_all_parents_with_the_same_training_share_their_ngram_models():
    """Else every change of what is shown would train the references again."""
    short, long = (
        Settings(references=(2,)),
        Settings(references=(2, 4), evaluation=EvaluationSettings(also=(60,))),
    )
    assert short.ngram(2) == long.ngram(2)
