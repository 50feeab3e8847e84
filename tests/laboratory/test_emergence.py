"""Paper B's transformers: they wait, find what matters and stop; and what is measured of them."""

import jax.numpy as jnp
import numpy as np
import pytest
from headway.laboratory.emergence import EmergenceGroup, shape_of
from headway.laboratory.emergence.lesson import _examine_location, _examine_recall

from headway.models.attention import HeadReadings
from headway.models.transformer import Reading
from headway.records import Cell
from headway.settings import ModelSettings
from headway.tasks.recall import Recall, RecallExample
from headway.tasks.single_location import LocationExample, SingleLocation

MODEL = ModelSettings(heads=2, layers=1, positions="sinusoidal", width=16, norm="none", mlp=16, dropout=0.0)
TRAINING = AdaptiveTrainingSettings(
    learning_rate=5e-3, batch=16, steps=500, every=10, growth=0.1, test_samples=128, threshold=0.2
)
TINY = Settings(SingleLocation(length=4, dimension=2), MODEL, TRAINING)
SEEDS = (0, 1)
CELLS = [Cell(TINY, SEEDS), Cell(TINY.changed(task={"copies": 3}, training={"tail": 0.0}), SEEDS)]


def finished(cells: list[Cell], at_once: int) -> tuple[EmergenceGroup, list]:
    group = EmergenceGroup(cells, at_once)
    ticks = list(group.ticks(0, None))
    return group, [group.part(ticks, index) for index in range(len(cells))]


@pytest.fixture(scope="module")
def alone():
    """One member at a time, as on a CPU."""
    return finished(CELLS, 1)


def test_a_small_transformer_leaves_its_plateau_by_finding_the_position(alone):
    group, (single, _) = alone
    plateau = group.facts(0)["plateau"]
    assert np.isfinite(plateau).all() and (group.facts(0)["diverged_at"] == -1).all()
    times, loss = single.times("loss"), single["loss"]
    for row, end in enumerate(plateau):
        before, there = times < end, np.flatnonzero(times == end)[0]
        assert (loss[row, before] > 0.2).all() and loss[row, there] <= 0.2
        attention = single["attention_relevant"][row].max(axis=(1, 2))
        assert attention[0] + 0.1 < attention[there]


def test_a_seed_goes_on_for_its_tail_and_has_no_numbers_behind(alone):
    group, parts = alone
    for index, tail in enumerate((0.5, 0.0)):
        facts, part = group.facts(index), parts[index]
        times = part.times("loss")
        for row, (end, stop) in enumerate(zip(facts["plateau"], facts["stopped_at"], strict=True)):
            assert stop == times[times >= (1 + tail) * end][0]
            for name in ("loss", "gain", "loss_alone"):
                np.testing.assert_array_equal(np.isnan(part[name][row]), times > stop)


def test_copies_shorten_the_wait_and_are_attended_to_together(alone):
    group, (single, copied) = alone
    assert np.median(group.facts(1)["plateau"]) < np.median(group.facts(0)["plateau"])
    start = copied["attention_relevant"][:, 0]
    assert start.mean() == pytest.approx(3 / 5, abs=0.1)
    assert single["attention_relevant"][:, 0].mean() == pytest.approx(1 / 5, abs=0.1)


def test_side_by_side_and_packed_anew_members_learn_what_they_learn_alone(monkeypatch):
    """Two in a pack; where one stops, the other goes on in a pack of its own."""
    monkeypatch.setattr("headway.training.ensemble.FEWEST", 1)
    few = {"batch": 8, "steps": 60, "every": 10, "growth": 0.0, "test_samples": 16, "tail": -1.0}
    long = TINY.changed(task={"length": 2}, model={"width": 8, "heads": 1, "mlp": 0}, training=few)
    short = long.changed(task={"copies": 2}, training={"threshold": 2.0, "tail": 0.5})
    cells = [Cell(long, (0,)), Cell(short, (0,))]
    (group, parts), (other, packed) = finished(cells, 1), finished(cells, 2)
    assert group.facts(0)["stopped_at"][0] == 60 > group.facts(1)["stopped_at"][0]
    for index in range(2):
        np.testing.assert_array_equal(group.facts(index)["stopped_at"], other.facts(index)["stopped_at"])
        for name in ("loss", "gain", "attention_relevant", "train_loss"):
            np.testing.assert_allclose(parts[index][name], packed[index][name], rtol=1e-3, atol=1e-4)


def test_cells_share_a_program_if_only_repetition_and_stopping_differ():
    many = [TINY, TINY.changed(task={"copies": 2, "repeated": 0.3}, training={"threshold": 0.4, "tail": 0.1})]
    assert len({shape_of(settings) for settings in many}) == 1
    with pytest.raises(ValueError, match="differ in shape"):
        EmergenceGroup([Cell(TINY, (0,)), Cell(TINY.changed(task={"length": 5}), (0,))])


def test_recall_measures_accuracy_on_single_pairs_beside_that_with_repetition():
    """A model that is shown nothing but copies need not look; its plateau, tested on single pairs, does not end."""
    settings = Settings(
        Recall(vocab=4, pairs=2, copies=2.0),
        MODEL,
        AdaptiveTrainingSettings(learning_rate=5e-3, batch=16, steps=150, every=50, threshold=0.99, test_samples=128),
    )
    group, (part,) = finished([Cell(settings.changed(training={"tail": -1.0}), (0,))], 1)
    assert part["accuracy_repeated"][0, -1] > 0.9, "every value of a sequence is the answer"
    assert part["loss_repeated"][0, -1] < part["loss"][0, -1]
    assert part["attention_relevant"].shape == (1, 4, 1, 2) and "attention_previous" not in part
    assert np.isnan(group.facts(0)["plateau"]).all() and group.facts(0)["stopped_at"].tolist() == [150]


def reading(logits: list[float], *patterns: np.ndarray) -> Reading:
    heads = tuple(HeadReadings(jnp.asarray(pattern), jnp.zeros((*pattern.shape[:2], 1))) for pattern in patterns)
    return Reading(jnp.asarray([logits], jnp.float32), heads)


def test_what_is_examined_of_a_location():
    """Attention of the last position on all copies; half the squared error; the product with the target."""
    pattern = np.array([[[0.1, 0.2, 0.3, 0.4]], [[0.7, 0.1, 0.1, 0.1]]], np.float32)
    relevant = jnp.array([True, False, True, False])
    example = LocationExample(jnp.zeros((4, 3)), jnp.array([1.0, 2.0]), relevant)
    found = {
        name: np.asarray(value) for name, (_, value) in _examine_location(reading([3.0, 1.0], pattern), example).items()
    }
    np.testing.assert_allclose(found["attention_relevant"], [[0.4, 0.8]], rtol=1e-6)
    assert found["loss"] == found["loss_alone"] == 2.5 and found["gain"] == 5.0


def test_what_is_examined_of_recall():
    """Pairs at 0 1 and 2 3, the query at 4: values look at 0 and 2 from 1 and 3, the query at the value of its pair."""
    first = np.zeros((1, 5, 5), np.float32)
    first[0, 1, 0], first[0, 3, 2], first[0, 4, 3], first[0, 4, 2] = 0.5, 0.7, 0.25, 0.75
    last = np.array([[[0.0, 0.1, 0.2, 0.6, 0.1]]], np.float32)
    example = RecallExample(jnp.array([0, 1, 2, 0, 2]), jnp.array(0), jnp.array([False, True]))
    found = {
        name: np.asarray(value)
        for name, (_, value) in _examine_recall(reading([2.0, 1.0, 0.0], first, last), example).items()
    }
    np.testing.assert_allclose(found["attention_previous"], [[0.6]], rtol=1e-6)
    np.testing.assert_allclose(found["attention_relevant"], [[0.25], [0.6]], rtol=1e-6)
    assert found["accuracy"] == 1
    assert found["loss"] == pytest.approx(np.log(np.exp([0, -1, -2]).sum()), rel=1e-5)
