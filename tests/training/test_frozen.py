"""Frozen parts have the weights of the run that was trained before, and keep them; the others learn."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.training.tiny import TINY, changed

from headway.models.attention import Emphasis
from headway.records import Cell
from headway.settings import SettingsError
from headway.tasks.chain import Chain
from headway.tasks.in_context_chain import InContextChain
from headway.tasks.recall import Recall
from headway.tasks.sub_n_grams import SubNGrams
from headway.training.group import Group
from headway.training.problem import new_model

BASE = changed(TINY, model={"width": 12, "mlp": 5, "heads": 1}, training={"steps": 4, "weight_decay": 0.1})


def weights_of(group):
    for _ in group.ticks(0, None):
        pass
    return group.weights()[0]


def test_a_frozen_part_is_that_of_the_end_of_the_usual_run_and_the_rest_starts_afresh():
    """Weight decay would move it, too."""
    frozen = changed(BASE, training={"frozen": ("mlp",)})
    assert frozen.references == (BASE,) and not BASE.references
    usual = weights_of(Group([Cell(BASE, (3, 4))]))
    group = Group([Cell(frozen, (3, 4))], [[usual]])
    ended = weights_of(group)
    inside = [name for name in usual if "mlp" in name]
    assert inside and len(inside) < len(usual)
    for name in usual:
        assert np.array_equal(usual[name], ended[name]) == (name in inside), name


def test_a_part_that_no_model_has_is_refused_in_words():
    frozen = changed(BASE, training={"frozen": ("brain",)})
    usual = weights_of(Group([Cell(BASE, (3,))]))
    with pytest.raises(SettingsError, match=r"no such part. It has attention, .*mlp"):
        weights_of(Group([Cell(frozen, (3,))], [[usual]]))


def test_emphasis_needs_a_task_that_says_where():
    with pytest.raises(SettingsError, match="does not mark relevant positions"):
        Recall.usual().changed(model={"emphasis": 2.0})


@pytest.mark.parametrize(
    ("task", "pairs"),
    [
        (Chain(blocks=((1, 3),), horizon=2), {(2, 2), (2, 0), (3, 3), (3, 1)}),
        (Chain(blocks=((1,), (3,)), order=4, horizon=1), {(3, 3), (3, 1)}),
        (Chain(blocks=((1, 3),), horizon=9, context=2), {(1, 1)}),
        (InContextChain(length=4), {(1, 0), (2, 1), (3, 2)}),
        (SubNGrams(length=4), {(1, 0), (2, 1), (3, 2), (2, 0), (3, 1)}),
    ],
)
def test_positions_that_matter_are_marked_once_each_and_never_ahead(task, pairs):
    assert set(task.relevant) == pairs and len(task.relevant) == len(pairs)


def test_the_model_of_any_such_task_scales_attention_there():
    settings = changed(BASE, model={"emphasis": 2.0})
    model = new_model(settings, jnp.asarray(3), 1.0)
    assert model.layers[0].attention.emphasis == Emphasis(2.0, settings.task.relevant)
    row = jnp.arange(settings.task.length) % settings.task.vocab
    plain, scaled = (
        new_model(each, jnp.asarray(3), 1.0).read(row, settings.task.horizon).heads[0].pattern
        for each in (BASE, settings)
    )
    there = np.zeros((settings.task.length,) * 2, bool)
    there[tuple(np.transpose(settings.task.relevant))] = True
    ratio = np.asarray(scaled / np.where(plain > 0, plain, 1))[0]
    np.testing.assert_allclose(ratio[there[-len(ratio) :]], 2, rtol=1e-5)
    assert not np.any(np.isclose(ratio[~there[-len(ratio) :]], 2, rtol=1e-3))
