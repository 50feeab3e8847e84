"""Cells come back from their description as they were, also when ten thousand share most of it."""

import json
from dataclasses import field, make_dataclass, replace

import pytest

from headway.records import Cell, revive
from headway.settings import EvaluationSettings
from headway.store import kinds
from headway.store.kinds import KINDS, named_by, revive_cell, summary
from headway.store.revival import revived_quickly
from headway.tasks.chain import Chain
from headway.tasks.run import Settings


def described(cell: Cell) -> dict:
    return json.loads(json.dumps(cell.describe()))


@pytest.mark.parametrize("kind", KINDS)
def test_the_quick_way_and_the_plain_way_make_the_same_settings(kind):
    told = described(Cell(KINDS[kind](), (0, 1)))
    assert revived_quickly(KINDS[kind], told["settings"]) == revive(KINDS[kind], told["settings"]) == KINDS[kind]()
    assert named_by(told) == Cell(KINDS[kind](), (0, 1)).identity


def test_cells_that_share_groups_stay_themselves():
    """The groups that are equal are made once; neither the ratio nor the context may slip from one cell to another."""
    cells = [
        Cell(Settings(task=Chain(ratio=ratio), context=context), (0,)) for ratio in (1.5, 2.0) for context in (None, 3)
    ]
    assert [revive_cell(described(cell)) for cell in cells * 2] == cells * 2
    assert [summary(cell) for cell in cells[:2]] == ["1 seeds; task.ratio=1.5", "1 seeds; task.ratio=1.5, context=3"]


@pytest.mark.parametrize("value", [2, "2.0", True, None, [2.0]])
def test_a_number_that_is_written_otherwise_is_not_taken_for_the_same(value):
    """2 and 2.0 are equal in Python and have different names; the second must not be answered from the first."""
    told = described(Cell(Settings(task=Chain(ratio=2.0)), (0,)))
    revive_cell(told)
    told["settings"]["task"]["ratio"] = value
    with pytest.raises(ValueError, match="made by another version"):
        revive_cell(told)


def test_a_setting_that_another_version_added_or_dropped_is_named():
    told = described(Cell(Settings(), (0,)))
    told["settings"]["task"]["flavour"] = 3
    with pytest.raises(ValueError, match=r"Settings.task has an unknown 'flavour': made by another version of Headway"):
        revive_cell(told)


def test_what_was_stored_before_a_setting_existed_is_read_and_keeps_its_name(monkeypatch):
    """The way by which settings grow: a field with a default, marked with the version that added it."""
    old = make_dataclass("Grown", [("rate", float, 0.5)], frozen=True)
    later = field(default=False, metadata={"added": "9.9"})
    new = make_dataclass("Grown", [("rate", float, 0.5), ("later", bool, later)], frozen=True)
    told = described(Cell(old(0.25), (0,), "grown"))
    monkeypatch.setitem(kinds.KINDS, "grown", new)
    assert revive_cell(told) == Cell(new(0.25, False), (0,), "grown")
    assert Cell(new(0.25), (0,), "grown").identity == Cell(old(0.25), (0,), "grown").identity == named_by(told)
    assert Cell(new(0.25, True), (0,), "grown").identity != named_by(told)


def test_records_of_before_combinations_could_be_compared_are_read():
    told = described(Cell(Settings(), (0,)))
    assert "subsets" not in told["settings"]["evaluation"]
    assert revive_cell(told).settings.evaluation == EvaluationSettings(subsets=False)
    compared = replace(Settings(), evaluation=EvaluationSettings(comparisons=True))
    assert revive_cell(described(Cell(compared, (0,)))).settings == compared
