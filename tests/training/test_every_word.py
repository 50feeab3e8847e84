"""Every word of every switch trains, with the same numbers by the fast form and by the simple one."""

import typing
from dataclasses import replace
from typing import Any, Literal, get_args, get_origin

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from tests.training.tiny import TINY, changed

from headway.records import Cell, Trajectory
from headway.settings import EvaluationSettings, ModelSettings, SettingsError, TrainingSettings
from headway.settings.given import given
from headway.settings.model import INITIALISATIONS, POSITIONS
from headway.tasks.chain import Chain
from headway.tasks.recall import Recall
from headway.tasks.run import Settings
from headway.tasks.single_location import SingleLocation
from headway.training import group
from headway.training.checkpoint import fill, flatten
from headway.training.group import Group
from headway.training.optimisers import Rates, current_rate, optimiser

OPTIMISERS = ("adamw", "sgd", "adam", "lion", "muon", "rmsprop")
PARTS = {"task": Chain, "model": ModelSettings, "training": TrainingSettings, "evaluation": EvaluationSettings}


def words_of(cls: type) -> dict[str, tuple[str, ...]]:
    """Switch -> its words."""
    hints = typing.get_type_hints(cls)
    return {name: get_args(kind) for name, kind in hints.items() if get_origin(kind) is Literal}


SWITCHES: dict[str, dict[str, tuple[str, ...]]] = {part: words_of(cls) for part, cls in PARTS.items()}
SWITCHES["model"] |= {"positions": POSITIONS, "initialisation": INITIALISATIONS}
SWITCHES["training"] |= {"optimiser": OPTIMISERS, "data": ("finite", "fresh")}
ROWS = max(len(words) for switches in SWITCHES.values() for words in switches.values())
ENOUGH = 4
"""Rows in which every word of every `Literal` has its turn; encodings and optimisers have tests of their own."""
BASE = changed(
    TINY,
    task={"vocab": 6},
    model={
        "width": 12,
        "heads": 1,
        "mlp": 5,
        "dropout": 0.2,
        "residual": True,
        "readout": True,
        "keys": True,
        "output": True,
        "scaled_scores": True,
    },
    training={"steps": 4, "learning_rate": 0.01, "patience": 0},
    evaluation={"points": 0, "also": (2,), "snapshots": 1},
)


def chosen(row: int) -> Settings:
    """Settings in which every switch says its row-th word, counted round: in so many rows each word has its turn."""
    settings = BASE
    for part, switches in SWITCHES.items():
        settings = changed(
            settings,
            **{
                part: {name: words[row % len(words)] for name, words in switches.items()}
                | (
                    {"weights": ((0.7,), (0.3,))}
                    if part == "task" and switches["weighting"][row % 3] == "given"
                    else {}
                )
            },
        )
    return settings


def trained(settings: Settings) -> Trajectory:
    made = Group([Cell(settings, (3,))])
    return made.part(list(made.ticks(0, None)), 0)


def test_the_switches_are_those_that_there_are():
    """A new one is found by its type; this says which the rows below go through."""
    found = {f"{part}.{name}": len(words) for part, switches in SWITCHES.items() for name, words in switches.items()}
    assert found == {
        "task.weighting": 3,
        "model.embedding": 2,
        "model.norm": 3,
        "model.positions": 8,
        "model.initialisation": 8,
        "model.attention": 2,
        "model.activation": 2,
        "training.schedule": 4,
        "training.data": 2,
        "training.dropout": 2,
        "training.precision": 4,
        "training.optimiser": 6,
        "evaluation.losses": 2,
    }
    assert words_of(TrainingSettings)["data"] == ("finite", "fresh", "exact"), "the last is in test_own_model.py"
    literals = [words for cls in PARTS.values() for words in words_of(cls).values()]
    assert max(map(len, literals)) == ENOUGH
    assert words_of(SingleLocation) == {
        "position": ("random", "fixed", "drawn"),
        "matrix": ("orthogonal", "gaussian"),
        "read_at": ("behind", "last"),
    }, "all are in tests/tasks"
    assert words_of(Recall) == {
        "mapping": ("function", "permutation"),
        "keys": ("repeated", "distinct"),
        "slots": ("one-at-least", "independent"),
    }, "all are in tests/tasks"


@pytest.mark.parametrize(
    "row", [pytest.param(row, marks=[pytest.mark.slow] if row >= ENOUGH else []) for row in range(ROWS)]
)
def test_every_word_trains_with_the_same_numbers_by_the_fast_form_and_by_the_simple_one(row, monkeypatch):
    """The simple form draws, reads and measures every test example by itself; the fast one whole rows at once.

    Rounding: of float32 and float64 a few units in the last place, which AdamW and its like may blow up by what they
    divide by. A CPU has neither tf32 nor bfloat16 and computes them in float32.
    """
    settings = chosen(row)
    fast = trained(settings)
    monkeypatch.setattr(group, "form", lambda *_: None)
    slow = trained(settings)
    tolerance = {"float32": 2e-4, "float64": 1e-8}.get(settings.training.precision, 1e-3)
    assert set(fast.arrays) == set(slow.arrays)
    for name, values in fast.arrays.items():
        first = 1 if name == "gradient_norm" or (name == "train_loss" and settings.evaluation.losses == "mean") else 0
        assert np.isfinite(values[:, first:]).all(), name
        np.testing.assert_allclose(slow[name], values, rtol=tolerance, atol=tolerance, err_msg=name)


TREE = {"matrix": (4, 3), "heads": (2, 4, 3), "bias": (3,), "number": ()}


def descended(settings: TrainingSettings, start: dict[str, jax.Array], steps: int) -> tuple[Any, jax.Array]:
    """Down the squares of all numbers, and the rate that comes next."""
    rates = Rates(settings.learning_rate, settings.weight_decay, settings.momentum, settings.clip)
    method = optimiser(settings, rates, 2)

    def step(carry, _):
        model, state = carry
        value, grads = jax.value_and_grad(lambda m: sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(m)))(model)
        updates, state = method.update(grads, state, model, value=value)
        return (optax.apply_updates(model, updates), state), value

    (model, state), _ = jax.lax.scan(step, (start, method.init(start)), length=steps)
    return (model, state), current_rate(settings, rates, state)


def starts(count: int) -> dict[str, jax.Array]:
    random = np.random.default_rng(0)
    return {name: jnp.asarray(random.normal(size=(count, *shape)), jnp.float32) for name, shape in TREE.items()}


GIVEN = {"a transformation": given(optax.lion(1e-2)), "a function of a rate": given(optax.adabelief)}


SCHEDULED = [(name, ("constant", "plateau")[place % 2]) for place, name in enumerate([*OPTIMISERS, *GIVEN])]
OTHERWISE = [(name, "constant" if schedule == "plateau" else "plateau") for name, schedule in SCHEDULED]


# Each with one of two schedules; with the slow tests with both.
@pytest.mark.parametrize(
    ("name", "schedule"), [*SCHEDULED, *(pytest.param(*each, marks=pytest.mark.slow) for each in OTHERWISE)]
)
def test_every_optimiser_descends_for_members_side_by_side_as_for_one_alone(name, schedule):
    """Tables, heads, biases and single numbers; its memory can be saved and read back."""
    settings = TrainingSettings(optimiser=GIVEN.get(name, name), learning_rate=1e-2, schedule=schedule, patience=0)
    many = starts(2)
    (models, states), rates = jax.jit(jax.vmap(lambda start: descended(settings, start, 20)))(many)
    first = jax.tree.map(lambda leaf: leaf[0], many)
    (model, state), rate = jax.jit(lambda start: descended(settings, start, 20))(first)
    for part, values in model.items():
        assert np.isfinite(values).all()
        assert np.sum(values**2) < np.sum(first[part] ** 2) or part == "number", part
        np.testing.assert_allclose(models[part][0], values, rtol=1e-5, atol=1e-6)
    assert 0 < float(rate) <= 1e-2 and float(rates[0]) == pytest.approx(float(rate))
    back = fill(jax.eval_shape(lambda: state), flatten(state))
    assert jax.tree.structure(back) == jax.tree.structure(state)
    assert len(flatten(states)) == len(flatten(state))


def test_weight_decay_acts_whichever_optimiser_there_is():
    """Its own where it has such an argument, else added; without a gradient only the decay is left."""
    for name in OPTIMISERS:
        settings = TrainingSettings(optimiser=name, learning_rate=0.1, weight_decay=0.5, schedule="constant")
        method = optimiser(settings, Rates(0.1, 0.5, 0.9, 1.0), 1)
        model = {"matrix": jnp.ones((3, 3))}
        update, _ = method.update(jax.tree.map(jnp.zeros_like, model), method.init(model), model, value=jnp.ones(()))
        np.testing.assert_allclose(update["matrix"], -0.05, rtol=1e-5, err_msg=name)


def test_clipping_acts_whichever_optimiser_there_is():
    """Plain gradient descent of somebody else's: a gradient of norm 3 becomes one of norm 1."""
    settings = TrainingSettings(optimiser=given(optax.sgd), learning_rate=0.1, schedule="constant", clip=1.0)
    method = optimiser(settings, Rates(0.1, 0.0, 0.0, 1.0), 1)
    model = {"matrix": jnp.ones((3, 3))}
    update, _ = method.update(model, method.init(model), model, value=jnp.ones(()))
    assert float(optax.tree.norm(update)) == pytest.approx(0.1, rel=1e-5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"optimiser": "adamm"}, 'optax has no optimiser of that name. Did you mean "adam"'),
        (
            {"optimiser": "lion", "arguments": (("beta", 0.9),)},
            "optax's lion takes no argument 'beta' here. It takes b1",
        ),
        ({"optimiser": "adamw", "arguments": (("beta", 0.9),)}, '"adamw" has settings of its own'),
        ({"schedule": "linear"}, "training.schedule is 'linear', but it must be \"constant\" or"),
        ({"precision": "float16"}, "training.precision is 'float16'"),
        ({"data": "stream"}, "training.data is 'stream'"),
        ({"dropout": "never"}, "training.dropout is 'never'"),
    ],
)
def test_a_word_that_is_none_is_refused_in_words(change, words, monkeypatch):
    settings = TrainingSettings()
    with pytest.raises(Exception) as caught:
        replace(settings, **change)
    if isinstance(caught.value, SettingsError):
        assert words in str(caught.value)
    else:
        assert next(reversed(change)) in str(caught.value)
