"""Settings of paper B's transformers: what they say, what they refuse, and when their runs are looked at."""

from typing import Any

import numpy as np
import pytest

from headway.records import plain, revive
from headway.settings import ModelSettings, SettingsError
from headway.store.kinds import KINDS
from headway.tasks.recall import Recall
from headway.tasks.single_location import SingleLocation


def test_the_defaults_are_what_the_slides_and_their_source_say():
    location, recall = SingleLocation.usual(), Recall.usual()
    for settings, layers in ((location, 2), (recall, 4)):
        model, training = settings.model, settings.training
        assert (model.layers, model.heads, model.width, model.mlp) == (layers, 4, 256, 4 * 256)
        assert (model.positions, model.residual, model.norm, model.dropout) == ("sinusoidal", True, "none", 0)
        assert (training.learning_rate, training.batch) == (1e-4, 32)
    assert (location.training.threshold, recall.training.threshold) == (0.1, 0.05)
    assert (location.length, location.inputs, location.outputs) == (65, 17, 16)
    assert (recall.length, recall.inputs, recall.outputs) == (33, 64, 64)


@pytest.mark.parametrize("settings", [SingleLocation.usual(), Recall.usual().changed(task={"copies": 2})])
def test_a_stored_cell_has_the_settings_that_it_was_made_with(settings):
    assert revive(KINDS[settings.KIND], plain(settings)) == settings


@pytest.mark.parametrize(
    "record, wrong, words",
    [
        (SingleLocation, {"copies": 9, "length": 8}, "9 copies do not fit on 8 positions. Use task.copies <= 8."),
        (SingleLocation, {"repeated": 1.5}, "task.repeated is 1.5, but a probability is at most 1."),
        (Recall, {"copies": 5.0, "pairs": 4}, "5 copies do not fit into 4 pairs. Use task.copies <= 4."),
        (Recall, {"favourites": 3, "tokens": 2}, "3 favourites are more than the 2 symbols."),
        (AdaptiveTrainingSettings, {"steps": 60, "every": 25}, "Use 50 steps."),
        (AdaptiveTrainingSettings, {"until": 0.0}, "training.until is 0.0, but it must be a finite number above 0."),
        (Settings, {"task": Recall(vocab=16)}, "Use a number above 0.062 and at most 1"),
        (Settings, {"model": ModelSettings()}, "model.dropout is 0.1, but these tasks train without it."),
        (Settings, {"model": ModelSettings(embedding="one-hot", dropout=0.0)}, "need a learned embedding"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_with_what_to_do(record: Any, wrong: dict[str, Any], words: str):
    with pytest.raises(SettingsError) as caught:
        record(**wrong)
    assert words in str(caught.value)


def test_evaluations_are_even_at_first_and_then_a_share_of_the_way_apart():
    training = AdaptiveTrainingSettings(steps=10_000, every=20, growth=0.05)
    ticks = np.array(training.evaluations())
    gaps = np.diff(ticks)
    assert ticks[0] == 0 and ticks[-1] == 10_000 and (ticks % 20 == 0).all()
    assert (gaps[ticks[:-1] < 400] == 20).all()
    later = ticks[:-1] >= 400
    assert (gaps[later] <= 0.05 * ticks[:-1][later]).all()
    assert (gaps[later][:-1] > 0.05 * ticks[:-1][later][:-1] - 20).all()
