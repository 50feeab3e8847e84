"""Every combination of the values of some settings."""

import numpy as np
import pytest

from headway.experiments import find
from headway.settings import FlowSettings, SettingsError
from headway.settings.variation import (
    MOST_COMBINATIONS,
    changed,
    combinations,
    in_words,
    kind_of,
    names,
    value_in_words,
)
from headway.tasks.run import Settings


def test_combinations_are_all_pairs_with_the_last_varying_fastest():
    assert combinations({"task.ratio": [1.3, 1.7], "model.heads": [2, 3]}) == [
        {"task.ratio": 1.3, "model.heads": 2},
        {"task.ratio": 1.3, "model.heads": 3},
        {"task.ratio": 1.7, "model.heads": 2},
        {"task.ratio": 1.7, "model.heads": 3},
    ]
    assert combinations({}) == [{}]


def test_nothing_to_vary_over_and_far_too_much_are_refused():
    with pytest.raises(SettingsError, match=r"task\.ratio has no values"):
        combinations({"task.ratio": []})
    most = MOST_COMBINATIONS
    with pytest.raises(SettingsError, match=f"{10 * most} combinations, but a sweep has at most {most}"):
        combinations({"task.ratio": range(1000), "model.heads": range(most // 100)})


@pytest.mark.parametrize("values", [1.3, "pre", {"a": 1}, None])
def test_what_is_no_row_of_values_is_refused(values):
    with pytest.raises(SettingsError, match=r"task\.ratio is to be varied over .*, but it needs a list of values"):
        combinations({"task.ratio": values})


def test_arrays_become_plain_numbers():
    [values] = combinations({"model.heads": np.arange(2, 3)})
    assert type(values["model.heads"]) is int


def test_settings_of_groups_and_of_the_whole_are_changed_and_the_rest_is_not():
    made = changed(Settings(), {"task.ratio": 2.5, "task.base": 3.0, "model.heads": 5, "task.context": 4})
    assert made == Settings().changed(task={"ratio": 2.5, "base": 3.0, "context": 4}, model={"heads": 5})
    assert changed(Settings(), {}) == Settings()


def test_values_that_fit_only_together_may_be_given_together():
    with pytest.raises(SettingsError, match=r"^with heads 7: 7 heads do not divide the width 255\."):
        changed(Settings(), {"model.heads": 7})
    assert changed(Settings(), {"model.heads": 7, "model.width": 77}).model.width == 77


@pytest.mark.parametrize("name", ["ratio", "task.rato", "task", "task.ratio.more", "", "nothing.ratio"])
def test_what_is_no_setting_is_refused_with_those_that_there_are(name):
    with pytest.raises(SettingsError, match=r"there is no setting .* to vary\. There are task\.vocab, "):
        changed(Settings(), {name: 1})
    with pytest.raises(SettingsError, match="there is no setting"):
        kind_of(Settings(), name)


def test_every_setting_of_every_experiment_can_be_named():
    for settings in (Settings(), FlowSettings(), *find("recall").grids["quick"].values()):
        known = names(settings)
        assert len(known) == len(set(known)) > 5
        assert all(kind_of(settings, name) is not None for name in known)


def test_labels_are_short_where_they_can_be_told_apart():
    assert in_words({"task.ratio": 1.30, "model.heads": 2}) == "ratio 1.3, heads 2"
    assert in_words({"task.blocks": ((1, 2), (3,)), "model.layers": 2}) == "blocks 1,2 3, layers 2"
    assert (
        in_words({"model.dropout": 0.1, "training.dropout": "always"}) == "model.dropout 0.1, training.dropout always"
    )
    told = [1 / 3, None, (), (1, 2), True, "mean"]
    assert [value_in_words(value) for value in told] == [repr(1 / 3), "none", "none", "1,2", "True", "mean"]
