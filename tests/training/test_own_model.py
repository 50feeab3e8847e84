"""A task may bring a few parameters of its own: they are trained, measured, resumed and grouped as a transformer is."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from tests.training.tiny import bits

from headway.records import Cell
from headway.settings import EvaluationSettings, ModelSettings, SettingsError, TrainingSettings
from headway.settings.plain import plain
from headway.tasks.run import Settings
from headway.tasks.sound import require_sound
from headway.tasks.task import Answer, Example
from headway.training.group import Group
from headway.training.memory import PROCESS, footprint
from headway.training.problem import shape
from headway.training.randomness import ORDER, TEST_SET, TRAINING_SET, key_of


@dataclass(frozen=True)
class Sum:
    """y* = a (x_1 + x_2), read by y = W x_1 + v x_2, where the means over all x are known: E x x^T = I."""

    NUMBERS = ("gain",)
    gain: float = 2.0
    rungs = ("silence", "the first", "both")

    def sample(self, key):
        x = jax.random.normal(key, (2, 1))
        return Example(x, self.gain * jnp.sum(x, axis=0, keepdims=True))

    def ladder(self, example):
        zero = jnp.zeros((1, 1))
        return jnp.stack([zero, self.gain * example.inputs[:1], example.targets])

    def parameters(self, key):
        return {"W": jax.random.normal(key, ()), "v": jnp.zeros(())}

    def answer(self, parameters, example):
        pattern = jnp.stack([parameters["W"], parameters["v"]])
        return Answer((pattern @ example.inputs)[None], pattern[None, None, None], extra=parameters)

    def parameter_measures(self, parameters):
        return {"length": jnp.hypot(parameters["W"], parameters["v"])}

    def measures(self, example, answer):
        return {"seen": answer.extra["W"] + 0 * example.inputs[0, 0]}


@dataclass(frozen=True)
class Known(Sum):
    """The same in closed form."""

    def expected_loss(self, parameters):
        return 0.5 * sum((parameters[name] - self.gain) ** 2 for name in "Wv")

    def expected_distances(self, parameters):
        w, v, a = parameters["W"], parameters["v"], self.gain
        return 0.5 * jnp.stack([w**2 + v**2, (w - a) ** 2 + v**2, (w - a) ** 2 + (v - a) ** 2])

    def expected_rung_losses(self):
        return 0.5 * self.gain**2 * jnp.asarray([2.0, 1.0, 0.0])


@dataclass(frozen=True)
class Exact:
    """Neither sample nor answer: a parabola."""

    rungs = ("far", "near")

    def parameters(self, key):
        return (jnp.asarray(1.0), 2)

    def expected_loss(self, parameters):
        return sum(0.5 * each**2 for each in parameters)

    def expected_distances(self, parameters):
        return jnp.stack([parameters[0] - 1, parameters[0]]) ** 2


TRAINING = TrainingSettings(
    optimiser="sgd",
    learning_rate=0.1,
    momentum=0.0,
    weight_decay=0.0,
    clip=0.0,
    schedule="constant",
    steps=6,
    batch=4,
    samples=10,
    test_samples=8,
)
EVALUATION = EvaluationSettings(every=2, snapshots=2)


def settings_of(task: Any, **training: Any) -> Settings:
    from dataclasses import replace

    return Settings(task, training=replace(TRAINING, **training), evaluation=EVALUATION)


def trained(*cells: Cell, at_once: int | None = None):
    group = Group(cells, at_once=at_once)
    ticks = list(group.ticks(0, None))
    return group, [group.part(ticks, index) for index in range(len(cells))]


def by_hand(seed: int, data: str, steps: int, rates=(0.1, 0.1), decay=(0.0, 0.0)) -> np.ndarray:
    """(step, W and v) of gradient descent on 1/2 (W x_1 + v x_2 - 2 (x_1 + x_2))^2, in NumPy."""
    task = Sum()
    place = jnp.float32(task.parameters(key_of(seed, 3))["W"])
    now, found = np.array([place, 0.0]), []
    use = TRAINING_SET if data == "finite" else ORDER
    for step in range(steps):
        found.append(now)
        key = key_of(seed, use)
        key = key if data == "finite" else jax.random.fold_in(key, step)
        rows = range(10) if data == "finite" else range(4)
        x = np.array([task.sample(jax.random.fold_in(key, row)).inputs[:, 0] for row in rows])
        slope = ((x @ (now - 2))[:, None] * x).mean(axis=0) if data != "exact" else now - 2
        now = now - np.array(rates) * (slope + np.array(decay) * now)
    return np.array([*found, now])


@pytest.mark.parametrize("data", ["fresh", "finite", "exact"])
def test_steps_are_those_of_gradient_descent_by_hand(data):
    """Fresh samples, a whole finite set at every step, and the mean over all examples."""
    task = Known() if data == "exact" else Sum()
    _, [part] = trained(Cell(settings_of(task, data=data, batch=10 if data == "finite" else 4), (0, 7)))
    for row, seed in enumerate((0, 7)):
        path = by_hand(seed, data, 6)[::2]
        np.testing.assert_allclose(part["length"][row], np.hypot(*path.T), rtol=1e-5)
        np.testing.assert_allclose(part["seen"][row], path[:, 0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(part["attention"][row, -1, 0, 0, 0], path[-1], rtol=1e-5)


def test_groups_have_factors_on_rate_and_decay_of_their_own():
    task = settings_of(Known(), data="exact", weight_decay=0.5, groups=(("v", 3.0, 0.0),))
    group, _ = trained(Cell(task, (0,)))
    path = by_hand(0, "exact", 6, rates=(0.1, 0.3), decay=(0.5, 0.0))
    [weights] = group.weights()
    np.testing.assert_allclose([weights["['W']"][0], weights["['v']"][0]], path[-1], rtol=1e-5)


@pytest.mark.parametrize("optimiser", ["adamw", "lion", optax.sgd(0.1), lambda rate: optax.adam(rate)])
def test_any_optimiser_trains_it_and_a_factor_of_zero_freezes(optimiser):
    group, [part] = trained(Cell(settings_of(Known(), data="exact", optimiser=optimiser, groups=(("v", 0, 0),)), (0,)))
    [weights] = group.weights()
    assert weights["['v']"] == 0 and part["loss"][0, -1] < part["loss"][0, 0]


@pytest.mark.parametrize("optimiser", ["adamw", "lion"])
def test_a_group_of_everything_with_factors_of_one_changes_nothing(optimiser):
    own = {"data": "exact", "optimiser": optimiser, "weight_decay": 0.3}
    ends = [
        trained(Cell(settings_of(Known(), **own, **more), (0,)))[0].weights()[0]
        for more in ({}, {"groups": (("*", 1.0, 1.0),)})
    ]
    for name in ends[0]:
        np.testing.assert_allclose(ends[0][name], ends[1][name], rtol=1e-6)


def test_a_group_that_names_nothing_is_an_error_with_all_names():
    with pytest.raises(SettingsError, match=r"'w'.*There are W, v"):
        trained(Cell(settings_of(Sum(), groups=(("w", 1.0, 1.0),)), (0,)))


def test_what_is_known_exactly_is_measured_exactly_whatever_it_is_trained_on():
    """Loss and distances at every evaluation, and the training loss of every step, are those of the mean."""
    _, [part] = trained(Cell(settings_of(Known(), data="fresh"), (3,)))
    path = by_hand(3, "fresh", 6)
    np.testing.assert_allclose(part["train_loss"][0], 0.5 * ((path[:-1] - 2) ** 2).sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(part["loss"][0], 0.5 * ((path[::2] - 2) ** 2).sum(axis=1), rtol=1e-5)
    rungs = np.array([[0, 0], [2, 0], [2, 2]])
    far = 0.5 * ((path[::2, None] - rungs) ** 2).sum(axis=2)
    np.testing.assert_allclose(part["kl_rungs"][0], far, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(part["excess_loss"], part["loss"])


def test_closed_forms_are_the_means_that_samples_estimate():
    task, key = Known(), key_of(0, TEST_SET)
    rows = jax.vmap(lambda i: task.sample(jax.random.fold_in(key, i)))(jnp.arange(20_000))
    own = {"W": jnp.float32(0.3), "v": jnp.float32(-1.0)}
    said = jax.vmap(lambda row: task.answer(own, row).logits)(rows)
    loss = 0.5 * jnp.mean(jnp.sum((said - rows.targets) ** 2, axis=(1, 2)))
    np.testing.assert_allclose(task.expected_loss(own), loss, rtol=0.05)


def test_a_parabola_needs_neither_samples_nor_answers():
    _, [part] = trained(Cell(settings_of(Exact(), data="exact"), (0, 1)))
    decay = 0.9 ** (2 * np.arange(4))
    np.testing.assert_allclose(part["loss"], [2.5 * decay**2] * 2, rtol=1e-5)
    np.testing.assert_allclose(part["gradient_norm"][0, 1:], np.sqrt(5) * decay[1:] / 0.9, rtol=1e-5)
    assert part["kl_rungs"].shape == (2, 4, 2) and "attention" not in part


def test_members_with_numbers_of_their_own_share_a_program_and_their_bits_are_those_alone():
    cells = [Cell(settings_of(Sum(gain=gain), learning_rate=rate), (0, 1)) for gain, rate in ((2.0, 0.1), (1.0, 0.2))]
    assert shape(cells[0].settings) == shape(cells[1].settings)
    _, together = trained(*cells, at_once=4)
    for cell, part in zip(cells, together, strict=True):
        _, [alone] = trained(cell, at_once=1)
        np.testing.assert_allclose(part["loss"], alone["loss"], rtol=1e-5)


def test_it_stops_when_learnt():
    group, _ = trained(Cell(settings_of(Exact(), data="exact", threshold=1.0, steps=40, tail=0.5), (0,)))
    [facts] = group.facts()
    assert facts["plateau"] == 5 and facts["stopped_at"] == 8  # 2.5 * 0.81^5 is 0.87, and evaluations are even


def test_it_goes_on_from_a_checkpoint_with_the_same_bits():
    cell = Cell(settings_of(Sum(), data="finite"), (0, 5))
    whole, _ = trained(cell)
    first = Group([cell])
    for tick in first.ticks(0, None):
        if tick.step == 4 and tick.measured is not None:
            break
    again = Group([cell])
    list(again.ticks(4, first.checkpoints()))
    assert bits(again.weights()[0]) == bits(whole.weights()[0])


def test_its_settings_have_no_model_and_its_identity_says_so():
    settings = settings_of(Sum())
    assert settings.model is None and plain(settings)["model"] is None
    with pytest.raises(SettingsError, match=r"Sum has its own model.*Leave it out"):
        Settings(Sum(), ModelSettings())
    with pytest.raises(SettingsError, match=r"no settings of the model to change"):
        settings.changed(model={"layers": 2})


def test_a_member_takes_a_few_bytes_and_many_run_side_by_side_on_a_cpu():
    assert footprint(settings_of(Exact(), data="exact"), 10).of(100) - PROCESS["own"] < 100_000
    assert Group([Cell(settings_of(Exact(), data="exact"), tuple(range(50)))]).program._together == 50


class NoAnswer(Exact):
    def sample(self, key):
        return Example(jnp.zeros((1, 1)), jnp.zeros((1, 1)))


@dataclass(frozen=True)
class WrongAnswer(Sum):
    def answer(self, parameters, example):
        return jnp.zeros(3)


@dataclass(frozen=True)
class WrongAttention(Sum):
    def answer(self, parameters, example):
        return Answer(jnp.zeros((1, 1)), jnp.zeros((2, 2)))


@dataclass(frozen=True)
class WrongDistances(Known):
    def expected_distances(self, parameters):
        return jnp.zeros(2)


@dataclass(frozen=True)
class Infinite(Known):
    def expected_loss(self, parameters):
        return jnp.inf


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (WrongAnswer(), r"answer gives an array of the shape \(3,\), but wanted is \(1, 1\)"),
        (WrongAttention(), r"attention of the shape \(2, 2\), but wanted is \(layer, head, query, key\)"),
        (WrongDistances(), r"expected_distances gives an array of the shape \(2,\), but there are 3 rungs"),
        (Infinite(), r"expected_loss gives .* at the start, but a loss is one finite number"),
    ],
)
def test_a_mistake_is_told_before_training(task, words):
    with pytest.raises(SettingsError, match=words):
        require_sound(task)


def test_what_does_not_fit_together_is_refused():
    with pytest.raises(SettingsError, match=r"Write answer\(parameters, example\)"):
        Settings(NoAnswer())
    with pytest.raises(SettingsError, match=r'data is "exact", but the task Sum does not know its expected loss'):
        settings_of(Sum(), data="exact")
    with pytest.raises(SettingsError, match=r'draws no samples. Use "exact"'):
        settings_of(Exact(), data="fresh")
    for task in (Sum(), Known(), Exact()):
        require_sound(task)


def test_a_part_can_be_frozen_at_what_it_was_learnt_to_be():
    whole = Cell(settings_of(Sum(), data="finite"), (0, 5))
    donor, _ = trained(whole)
    [learnt] = donor.weights()
    frozen = Cell(whole.settings.changed(training={"frozen": ("W",)}), (0, 5))
    assert frozen.references() == (whole,)
    group = Group([frozen], references=[[learnt]])
    list(group.ticks(0, None))
    [ended] = group.weights()
    assert bits({"W": ended["['W']"]}) == bits({"W": learnt["['W']"]})
    assert (ended["['v']"] != learnt["['v']"]).all()


@dataclass(frozen=True)
class Outside:
    """Its levels, facts and starts, drawn in NumPy from the seed; samples that come as a whole."""

    levels = (1.0, 0.3)

    def world_of_seed(self, seed):
        return {"start": np.float64(1 + seed)}

    def parameters(self, world, key):
        return {"x": world["start"]}

    def facts(self, world):
        return {"start": world["start"]}

    def samples(self, world, key, count):
        """+1 and -1 in turn: of mean zero as a whole, and no one by itself."""
        noise = jnp.where(jnp.arange(count) % 2 == 0, 1.0, -1.0)[:, None, None]
        return Example(jnp.ones((count, 1, 1)), noise)

    def sample(self, world, key):
        return jax.tree.map(lambda leaf: leaf[0], self.samples(world, key, 1))

    def answer(self, world, parameters, example):
        return parameters["x"] * example.inputs

    def expected_loss(self, world, parameters):
        return 0.5 * parameters["x"] ** 2


@pytest.mark.parametrize("data", ["exact", "finite"])
def test_what_a_seed_starts_from_may_be_drawn_outside_and_samples_may_come_as_a_whole(data):
    """x_n = (1 + seed) 0.9^n, whether the gradient is that of the mean or of samples whose noise cancels."""
    group, [part] = trained(Cell(settings_of(Outside(), data=data, batch=10), (0, 2)))
    x = np.array([[1.0], [3.0]]) * 0.9 ** np.arange(7)
    np.testing.assert_allclose(part["train_loss"], 0.5 * x[:, :-1] ** 2, rtol=1e-5)
    [facts] = group.facts()
    assert facts["start"].tolist() == [1.0, 3.0]


def test_boundaries_are_where_the_loss_of_every_step_meets_a_level_between_steps_and_survive_a_checkpoint():
    cell = Cell(settings_of(Outside(), data="exact", steps=14, precision="float64"), (0, 2))
    whole, _ = trained(cell)
    loss = 0.5 * (np.array([[1.0], [3.0]]) * 0.9 ** np.arange(15)) ** 2
    wanted = np.full((2, 2), np.inf)
    for row, column in ((0, 1), (1, 0), (1, 1)):
        after = np.argmax(loss[row] <= Outside.levels[column])
        before, behind = loss[row, after - 1 : after + 1]
        wanted[row, column] = after - 1 + (before - Outside.levels[column]) / (before - behind)
    [facts] = whole.facts()
    np.testing.assert_allclose(facts["boundaries"], wanted, rtol=1e-9)
    assert np.isinf(facts["boundaries"][0, 0]), "it starts below"
    first = Group([cell])
    for tick in first.ticks(0, None):
        if tick.step == 8 and tick.measured is not None:
            break
    again = Group([cell])
    list(again.ticks(8, first.checkpoints()))
    np.testing.assert_array_equal(again.facts()[0]["boundaries"], facts["boundaries"])


def test_a_plateau_that_is_known_exactly_ends_at_its_step_and_not_at_the_next_evaluation():
    group, _ = trained(Cell(settings_of(Exact(), data="exact", threshold=1.1, steps=40, tail=0.5), (0,)))
    [facts] = group.facts()
    assert facts["plateau"] == 4  # 2.5 * 0.81^4 is 1.08
    group, _ = trained(Cell(settings_of(Exact(), data="exact", threshold=0.9, steps=40, tail=0.5), (0,)))
    [facts] = group.facts()
    assert facts["plateau"] == 5 and facts["stopped_at"] == 8  # 2.5 * 0.81^5 is 0.87; evaluations are even
