"""Frozen parts have the weights of the run that was trained before, and keep them; the others learn."""

import numpy as np
import pytest
from tests.training.tiny import TINY, changed

from headway.records import Cell
from headway.settings import SettingsError
from headway.training.group import Group

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
        changed(BASE, model={"emphasis": 2.0})
