"""Runs until learnt: seeds wait, find what matters and stop, each by itself, whoever else is in the program."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.training.tiny import TINY as CHAIN
from tests.training.tiny import bits, changed

from headway.models.attention import HeadReadings
from headway.models.transformer import Reading
from headway.records import Cell, Trajectory
from headway.settings import EvaluationSettings, ModelSettings, TrainingSettings
from headway.tasks.recall import Recall
from headway.tasks.run import Settings
from headway.tasks.single_location import Map, SingleLocation
from headway.tasks.task import Example
from headway.training.group import Group
from headway.training.problem import shape

MODEL = ModelSettings(heads=2, layers=1, positions="sinusoidal", width=16, norm="none", mlp=16, dropout=0.0)
TRAINING = TrainingSettings(
    learning_rate=5e-3,
    weight_decay=0.0,
    clip=0.0,
    schedule="constant",
    batch=16,
    data="fresh",
    steps=500,
    test_samples=128,
    threshold=0.2,
)
EVALUATION = EvaluationSettings(every=10, growth=0.1, losses="mean")
TINY = Settings(SingleLocation(length=4, dimension=2), MODEL, TRAINING, EVALUATION)
SEEDS = (0, 1)
CELLS = [Cell(TINY, SEEDS), Cell(TINY.changed(task={"copies": 3}, training={"tail": 0.0}), SEEDS)]
SMALL = TINY.changed(
    task={"length": 2},
    model={"width": 8, "heads": 1, "mlp": 0},
    training={"batch": 8, "steps": 60, "test_samples": 16, "tail": -1.0},
    evaluation={"growth": 0.0},
)
"""Goes on to its last step."""
SHORT = SMALL.changed(task={"copies": 2}, training={"threshold": 0.5, "tail": 1.0})
"""Seed 0 counts as learnt at step 10, and stops at 20."""


def finished(cells: list[Cell], at_once: int) -> tuple[Group, list[Trajectory]]:
    group = Group(cells, at_once=at_once)
    ticks = list(group.ticks(0, None))
    return group, [group.part(ticks, index) for index in range(len(cells))]


@pytest.fixture(scope="module")
def alone():
    """One member at a time, as on a CPU."""
    return finished(CELLS, 1)


def test_a_small_transformer_leaves_its_plateau_by_finding_the_position(alone):
    group, (single, _) = alone
    facts = group.facts()[0]
    assert np.isfinite(facts["plateau"]).all() and (facts["diverged_at"] == -1).all()
    times, loss = single.times("loss"), single["loss"]
    for row, end in enumerate(facts["plateau"]):
        before, there = times < end, np.flatnonzero(times == end)[0]
        assert (loss[row, before] > 0.2).all() and loss[row, there] <= 0.2
        attention = single["attention_relevant"][row].max(axis=(1, 2))
        assert attention[0] + 0.1 < attention[there]


def test_a_seed_goes_on_for_its_tail_and_has_no_numbers_behind(alone):
    group, parts = alone
    for index, tail in enumerate((0.5, 0.0)):
        facts, part = group.facts()[index], parts[index]
        times = part.times("loss")
        for row, (end, stop) in enumerate(zip(facts["plateau"], facts["stopped_at"], strict=True)):
            assert stop == times[times >= (1 + tail) * end][0]
            for name in ("loss", "gain", "loss_alone", "kl_rungs", "excess_loss", "learning_rate", "gradient_norm"):
                values = part[name][row].reshape(len(times), -1)
                late = times > stop if name != "gradient_norm" else (times > stop) | (times == 0)
                np.testing.assert_array_equal(np.isnan(values).all(axis=1), late)
                np.testing.assert_array_equal(np.isnan(values).any(axis=1), late)
            np.testing.assert_array_equal(np.isnan(part["train_loss"][row]), (times > stop) | (times == 0))


def test_copies_shorten_the_wait_and_are_attended_to_together(alone):
    group, (single, copied) = alone
    assert np.median(group.facts()[1]["plateau"]) < np.median(group.facts()[0]["plateau"])
    start = copied["attention_relevant"][:, 0]
    assert start.mean() == pytest.approx(3 / 5, abs=0.1)
    assert single["attention_relevant"][:, 0].mean() == pytest.approx(1 / 5, abs=0.1)


def ended(group: Group, parts: list[Trajectory], index: int, seed: int) -> dict[str, bytes]:
    """Every bit of a seed up to its last evaluation: measurements, facts and weights."""
    cell, trajectory = group.cells[index], parts[index]
    row, facts = cell.seeds.index(seed), group.facts()[index]
    stop = facts["stopped_at"][row]
    found = {name: values[row] for name, values in {**facts, **group.weights()[index]}.items()}
    for name, values in trajectory.arrays.items():
        found[f"measured {name}"] = values[row][trajectory.times(name) <= stop]
    return bits(found)


@pytest.fixture(scope="module")
def three():
    """Three that share a program, of which one stops early: in turn, and side by side."""
    cells = [Cell(SMALL, (0, 3)), Cell(SHORT, (0,))]
    return {at_once: finished(cells, at_once) for at_once in (1, 3)}


@pytest.mark.bits
def test_a_seed_s_bits_do_not_depend_on_who_else_is_there_or_when_they_stop(three):
    group, parts = three[1]
    assert [int(facts["stopped_at"][0]) for facts in group.facts()] == [60, 20]
    others = finished([Cell(SHORT, (0, 5)), Cell(SMALL, (7, 0))], 1)
    assert ended(*others, 1, 0) == ended(group, parts, 0, 0)
    assert ended(*others, 0, 0) == ended(group, parts, 1, 0)
    assert ended(*others, 1, 7) != ended(group, parts, 0, 0)


@pytest.mark.bits
def test_in_a_pack_a_seed_s_bits_do_not_depend_on_its_neighbours_or_its_place(three):
    group, parts = three[3]
    others = finished([Cell(SHORT, (0,)), Cell(SMALL, (9, 0))], 3)
    assert ended(*others, 1, 0) == ended(group, parts, 0, 0)
    assert ended(*others, 0, 0) == ended(group, parts, 1, 0)


@pytest.mark.parametrize("fewest", [1, 8], ids=["packed anew", "gone along with"])
def test_side_by_side_members_learn_what_they_learn_alone(three, fewest, monkeypatch):
    """Where some stop, the others go on in a smaller pack, or those that stopped go along and nobody looks at them."""
    monkeypatch.setattr("headway.training.program.FEWEST", fewest)
    group, parts = three[1]
    other, packed = three[3] if fewest == 8 else finished(list(group.cells), 3)
    for index in range(2):
        np.testing.assert_array_equal(group.facts()[index]["stopped_at"], other.facts()[index]["stopped_at"])
        for name in ("loss", "gain", "attention_relevant", "train_loss", "kl_rungs"):
            np.testing.assert_allclose(parts[index][name], packed[index][name], rtol=1e-3, atol=1e-4)
        for name, values in group.weights()[index].items():
            np.testing.assert_allclose(other.weights()[index][name], values, rtol=1e-3, atol=1e-4)


@pytest.mark.bits
@pytest.mark.parametrize("at_once", [1, 3])
def test_going_on_in_the_middle_gives_the_same_bits(three, at_once):
    """One has stopped when it is saved; the others go on, and nothing of the first is lost."""
    group, parts = three[at_once]
    ticks, saved = [], None
    for tick in group.ticks(0, None):
        ticks.append(tick)
        if tick.step == 30:
            saved = group.checkpoints()
            break
    assert saved is not None and [each["running"].tolist() for each in saved] == [[True, True], [False]]
    fresh = Group(group.cells, at_once=at_once)
    later = list(fresh.ticks(30, saved))
    joined = [fresh.part([*ticks, *later], index) for index in range(2)]
    for index, seed in ((0, 0), (0, 3), (1, 0)):
        assert ended(fresh, joined, index, seed) == ended(group_again(group), parts, index, seed)
    for index in range(2):
        assert bits(joined[index].arrays) == bits(parts[index].arrays), "what is no number is so in both"


def group_again(group: Group) -> Group:
    """The group at its end, as it was before its run was broken off."""
    list(group.ticks(0, None))
    return group


@pytest.mark.bits
def test_going_on_when_all_have_stopped_gives_the_weights_and_trains_nothing(three):
    group, _ = three[1]
    list(group.ticks(0, None))
    saved, wanted = group.checkpoints(), [bits(each) for each in group.weights()]
    [tick] = group.ticks(60, saved)
    assert (tick.step, tick.losses.shape, tick.measured) == (60, (3, 0), None)
    assert [bits(each) for each in group.weights()] == wanted


@pytest.mark.bits
def test_a_chain_may_be_trained_until_learnt_too():
    """Any task has a measure of progress: the chain's is its excess loss, and its seeds stop at other steps."""
    settings = changed(
        CHAIN,
        training={"threshold": 0.7, "tail": 0.0, "learning_rate": 0.3, "steps": 60},
        evaluation={"points": 30, "also": (), "snapshots": 0},
    )
    group, [part] = finished([Cell(settings, (0, 1, 2))], 1)
    facts = group.facts()[0]
    excess, times = part["excess_loss"], part.times("excess_loss")
    for row, stop in enumerate(facts["stopped_at"]):
        assert stop == facts["plateau"][row] == times[np.flatnonzero(excess[row] <= 0.7)[0]]
        np.testing.assert_array_equal(np.isnan(part["train_loss"][row]), part.times("train_loss") > stop)
    assert len(set(facts["stopped_at"])) > 1
    # Whoever stops first: the same training without a threshold goes the same way.
    whole = Group([Cell(changed(settings, training={"threshold": None}), (0, 1, 2))])
    wanted = whole.part(list(whole.ticks(0, None)), 0)
    seen = np.isfinite(excess)
    assert excess[seen].tobytes() == wanted["excess_loss"][:, : len(times)][seen].tobytes()


def test_cells_share_a_program_if_only_repetition_and_stopping_differ():
    many = [TINY, TINY.changed(task={"copies": 2, "repeated": 0.3}, training={"threshold": 0.4, "tail": 0.1})]
    assert len({shape(settings) for settings in many}) == 1
    assert shape(TINY.changed(training={"threshold": None})) != shape(TINY), "who stops by itself has a loop of its own"
    with pytest.raises(ValueError, match="these cells have 2 shapes"):
        Group([Cell(TINY, (0,)), Cell(TINY.changed(task={"length": 5}), (0,))])


def test_recall_measures_accuracy_on_single_pairs_beside_that_with_repetition():
    """A model that is shown nothing but copies need not look; its plateau, tested on single pairs, does not end."""
    settings = TINY.changed(
        task=Recall(vocab=4, pairs=2, copies=2.0),
        training={"steps": 150, "threshold": 0.99, "tail": -1.0},
        evaluation={"every": 50, "growth": 0.0},
    )
    group, (part,) = finished([Cell(settings, (0,))], 1)
    assert part["accuracy_repeated"][0, -1] > 0.9, "every value of a sequence is the answer"
    assert part["loss_repeated"][0, -1] < part["loss"][0, -1]
    assert part["attention_relevant"].shape == (1, 4, 1, 2) and "attention_previous" not in part
    facts = group.facts()[0]
    assert np.isnan(facts["plateau"]).all() and facts["stopped_at"].tolist() == [150]


def reading(logits: list[float], *patterns: np.ndarray) -> Reading:
    heads = tuple(HeadReadings(jnp.asarray(pattern), jnp.zeros((*pattern.shape[:2], 1))) for pattern in patterns)
    return Reading(jnp.asarray([logits], jnp.float32), heads)


def test_what_is_measured_of_a_location():
    """Attention of the last position on all copies; half the squared error; the product with the target."""
    pattern = np.array([[[0.1, 0.2, 0.3, 0.4]], [[0.7, 0.1, 0.1, 0.1]]], np.float32)
    example = Example(jnp.zeros((4, 3)), jnp.array([[1.0, 2.0]]), extra=jnp.array([True, False, True, False]))
    task, world = SingleLocation(length=3, dimension=2), Map(jnp.eye(2), jnp.ones(2))
    found = {
        name: task.measures(world, example, reading([3.0, 1.0], pattern), name) for name in ("", "alone", "everywhere")
    }
    np.testing.assert_allclose(found[""]["attention_relevant"], [[0.4, 0.8]], rtol=1e-6)
    assert found["alone"] == {"loss_alone": 2.5} and found["everywhere"] == {"gain": 5.0}


def test_what_is_measured_of_recall():
    """Pairs at 0 1 and 2 3, the query at 4: values look at 0 and 2 from 1 and 3, the query at the value of its pair."""
    first = np.zeros((1, 5, 5), np.float32)
    first[0, 1, 0], first[0, 3, 2], first[0, 4, 3], first[0, 4, 2] = 0.5, 0.7, 0.25, 0.75
    last = np.array([[[0.0, 0.1, 0.2, 0.6, 0.1]]], np.float32)
    example = Example(jnp.array([0, 1, 2, 0, 2]), jnp.array([0]), extra=jnp.array([False, True]))
    task, seen = Recall(vocab=3, pairs=2), reading([2.0, 1.0, 0.0], first, last)
    found = task.measures(example, seen, "")
    np.testing.assert_allclose(found["attention_previous"], [[0.6]], rtol=1e-6)
    np.testing.assert_allclose(found["attention_relevant"], [[0.25], [0.6]], rtol=1e-6)
    repeated = task.measures(example, seen, "repeated")
    assert repeated["accuracy_repeated"] == 1
    assert repeated["loss_repeated"] == pytest.approx(np.log(np.exp([0, -1, -2]).sum()), rel=1e-5)
