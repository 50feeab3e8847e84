"""Parts join into a run; settings survive JSON."""

import itertools
import json
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from headway.records import Cell, Trajectory
from headway.registry import settings_of
from headway.settings import EvaluationSettings, ModelSettings, SettingsError, TrainingSettings
from headway.settings.plain import plain, revive
from headway.store.joining import join
from headway.tasks.chain import Chain
from headway.tasks.construction import ConstructionSettings
from headway.tasks.run import Settings


def part(*ticks, dtype=np.float32, seeds=(0, 1), tail=(), facts=None, name="loss"):
    values = np.zeros((len(seeds), len(ticks), *tail), dtype) + np.reshape(ticks, (1, -1, *(1 for _ in tail)))
    clocks = {"step": np.array(ticks, np.int64)}
    return Trajectory(seeds, clocks, {name: values.astype(dtype)}, {name: "step"}, facts or {})


def test_joining_any_cuts_of_a_run_gives_the_run(worker, expected, same):
    generator = np.random.default_rng(0)
    for _ in range(20):
        cuts = [0, *np.unique(generator.integers(1, worker.STEPS, generator.integers(0, 9))), worker.STEPS]
        state, parts = worker.start(), []
        for begin, end in itertools.pairwise(cuts):
            piece, state = worker.advance(state, int(end - begin))
            parts.append(piece)
        assert same(join(parts), replace(expected, facts={}))


def test_an_empty_part_changes_nothing():
    assert np.array_equal(join([part(), part(1, 2), part(), part(3)])["loss"][0], [1, 2, 3])


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([part(1, 2), part(2, 3)], "the clock 'step' had reached 2 and the next part starts at 2"),
        ([part(5), part(), part(4)], "the clock 'step' had reached 5 and the next part starts at 4"),
        ([part(1, 1)], "the clock 'step' does not increase within a part"),
        ([part(1), part(2, dtype=np.float64)], "the arrays of a run changed .*float32.*float64"),
        ([part(1, tail=(2,)), part(2, tail=(3,))], "the arrays of a run changed"),
        ([part(1), part(2, name="other")], "the arrays of a run changed"),
        ([part(1), part(2, seeds=(0, 2))], r"the seeds of a run changed between two parts, from \[0, 1\]"),
        (
            [part(1, facts={"h": np.ones(2)}), part(2, facts={"h": np.zeros(2)})],
            "different values of the fact 'h'",
        ),
        ([], "there are no parts to join"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(parts, text):
    with pytest.raises(ValueError, match=text):
        join(parts)


def test_facts_of_all_parts_are_kept_even_if_they_are_not_numbers():
    nan = np.array([np.nan, 1.0])
    facts = join([part(1, facts={"a": nan}), part(2, facts={"a": nan, "b": np.ones(2)})]).facts
    assert facts.keys() == {"a", "b"}


SETTINGS = [
    Settings(),
    Settings(Chain(references=(2, 4), context=3), evaluation=EvaluationSettings(also=(60, 300))),
    Settings(
        task=Chain(weighting="given", weights=((0.7, 0.3),), blocks=((1, 2),), ratio=2.0, order=4),
        model=ModelSettings(norm="none", embedding="one-hot", keys=False, output=False, scale=1e-9, dropout=0.0),
    ),
]


@pytest.mark.parametrize("settings", SETTINGS, ids=["default", "n-grams", "minimal"])
def test_settings_survive_json(settings):
    revived = settings_of("markov", json.loads(json.dumps(plain(settings))))
    assert revived == settings
    assert plain(revived) == plain(settings)


def test_hand_made_settings_survive_json():
    settings = ConstructionSettings(Chain(weighting="sum"), (1, 2.5), test_samples=9)
    assert revive(ConstructionSettings, json.loads(json.dumps(plain(settings)))) == settings


@dataclass(frozen=True)
class Made:
    rate: float
    pair: tuple[int, str] = (1, "a")


def test_a_whole_number_in_the_place_of_a_real_one_stays_whole():
    """The identity of a cell is a hash of its text, and 2 and 2.0 are different texts."""
    assert json.dumps(plain(revive(Made, {"rate": 2, "pair": [3, "b"]}))) == '{"rate": 2, "pair": [3, "b"]}'


@dataclass(frozen=True)
class Grown:
    rate: float
    later: bool = field(default=False, metadata={"added": "0.2"})


def test_a_setting_that_was_added_later_leaves_old_names_as_they_were():
    """Written down only where it is not the default; what was written before means the default."""
    assert plain(Grown(0.5)) == {"rate": 0.5}
    assert plain(Grown(0.5, True)) == {"rate": 0.5, "later": True}
    for grown in (Grown(0.5), Grown(0.5, True)):
        assert revive(Grown, plain(grown)) == grown
    assert revive(Grown, {"rate": 0.5, "later": False}) == Grown(0.5)
    with pytest.raises(ValueError, match="Grown lacks 'rate'"):
        revive(Grown, {"later": True})


def test_a_comparison_more_is_another_run():
    compared = Settings(evaluation=EvaluationSettings(comparisons=True))
    assert Cell(compared, (0, 1)).identity != Cell(Settings(), (0, 1)).identity


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("task.vocab", 2.5, r"Chain.vocab is 2.5, which does not fit <class 'int'>"),
        ("task.vocab", True, "Chain.vocab is True"),
        ("task.orthogonal", 1, "Chain.orthogonal is 1"),
        ("task.weighting", "median", "Chain.weighting is 'median'"),
        ("task.order", "four", "Chain.order is 'four'"),
        ("task.blocks", [[1, "2"]], "Chain.blocks is '2'"),
        ("task.blocks", 3, "Chain.blocks is 3"),
        ("task.flavour", 3, "Chain has an unknown 'flavour'"),
        ("model", [], r"ModelSettings is \[\], not a set of named values"),
        ("model", {}, "ModelSettings lacks 'dropout'"),
    ],
)
def test_settings_that_do_not_fit_come_from_another_version(path, value, text):
    data = plain(Settings())
    *folders, name = path.split(".")
    place = data
    for folder in folders:
        place = place[folder]
    place[name] = value
    with pytest.raises(ValueError, match=f"{text}.*: made by another version of Headway"):
        settings_of("markov", data)


def test_settings_that_cannot_work_are_refused_with_their_own_words():
    data = json.loads(json.dumps(plain(Settings())))
    data["task"]["context"] = 99
    with pytest.raises(SettingsError, match=r"task\.context asks for windows of 99 tokens"):
        settings_of("markov", data)


def test_an_optimisers_own_arguments_come_back_as_they_were():
    """Numbers and words of any kind; a record that holds something else there is refused."""
    settings = TrainingSettings(optimiser="adamw", arguments=(("b1", 0.0), ("b2", 0.95)))
    assert revive(TrainingSettings, plain(settings)) == settings
    told = plain(TrainingSettings(optimiser="lion", arguments=(("b1", 0.5),)))
    with pytest.raises(ValueError, match="another version"):
        revive(TrainingSettings, told | {"arguments": [["b1", {"run": "code"}]]})
