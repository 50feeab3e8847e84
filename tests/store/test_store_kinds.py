"""Cells come back from their description as they were, also when ten thousand share most of it."""

import json
from dataclasses import field, make_dataclass, replace

import pytest

from headway import registry
from headway.records import Cell
from headway.settings import EvaluationSettings
from headway.settings.plain import Open, named_by
from headway.store.kinds import revive_cell, summary
from headway.tasks.chain import Chain
from headway.tasks.run import Settings


def described(cell: Cell) -> dict:
    return json.loads(json.dumps(cell.describe()))


@pytest.mark.parametrize("kind", (*registry.TASKS, *registry.COMPUTED))
def test_a_cell_of_every_kind_comes_back_as_it_was(kind):
    cell = Cell(registry.usual(kind), (0, 1))
    assert cell.kind == kind
    assert revive_cell(described(cell)) == cell
    assert named_by(described(cell)) == cell.identity
    assert summary(cell) == "2 seeds; default settings"


def test_a_kind_that_nobody_here_knows_is_read_as_it_is_told():
    """A user's: its settings are at hand by name, also by one that ours once had, and its identity is the record's."""
    told = {"kind": "copy-task", "settings": {"task": {"tokens": 8}, "training": {"steps": 30}}, "seeds": [0, 1]}
    cell = revive_cell({**told, "source": "0123456789abcdef"})
    assert isinstance(cell.settings, Open)
    assert (cell.settings.task.tokens, cell.settings.training.steps) == (8, 30)
    assert cell.describe() == {**told, "source": "0123456789abcdef"}
    assert summary(cell) == "2 seeds; task.tokens=8"


def test_cells_that_share_groups_stay_themselves():
    """The groups that are equal are made once; neither the ratio nor the context may slip from one cell to another."""
    cells = [Cell(Settings(Chain(ratio=ratio, context=context)), (0,)) for ratio in (1.5, 2.0) for context in (None, 3)]
    assert [revive_cell(described(cell)) for cell in cells * 2] == cells * 2
    assert [summary(cell) for cell in cells[:2]] == [
        "1 seeds; task.ratio=1.5",
        "1 seeds; task.ratio=1.5, task.context=3",
    ]


@pytest.mark.parametrize("value", ["2.0", True, None, [2.0]])
def test_a_number_that_is_written_otherwise_is_not_taken_for_the_same(value):
    told = described(Cell(Settings(task=Chain(ratio=2.0)), (0,)))
    revive_cell(told)
    told["settings"]["task"]["ratio"] = value
    with pytest.raises(ValueError, match="made by another version"):
        revive_cell(told)


def test_a_whole_number_in_the_place_of_a_real_one_means_the_real_one():
    cell = Cell(Settings(task=Chain(ratio=2.0)), (0,))
    told = described(cell)
    told["settings"]["task"]["ratio"] = 2
    assert revive_cell(told).identity == cell.identity != named_by(told)


def test_a_setting_that_another_version_added_or_dropped_is_named():
    told = described(Cell(Settings(), (0,)))
    told["settings"]["task"]["flavour"] = 3
    with pytest.raises(ValueError, match=r"Chain has an unknown 'flavour': made by another version of Headway"):
        revive_cell(told)


def test_what_was_stored_before_a_setting_existed_is_read_and_keeps_its_name(monkeypatch):
    """The way by which settings grow: a field with a default, marked with the version that added it."""
    old = make_dataclass("Grown", [("rate", float, 0.5)], frozen=True)
    later = field(default=False, metadata={"added": "9.9"})
    new = make_dataclass("Grown", [("rate", float, 0.5), ("later", bool, later)], frozen=True)
    told = described(Cell(old(0.25), (0,), "grown"))
    monkeypatch.setattr(registry, "_load", lambda place: new)
    monkeypatch.setitem(registry.COMPUTED, "grown", registry.Computed("", ""))
    assert revive_cell(told) == Cell(new(0.25, False), (0,), "grown")
    assert Cell(new(0.25), (0,), "grown").identity == Cell(old(0.25), (0,), "grown").identity == named_by(told)
    assert Cell(new(0.25, True), (0,), "grown").identity != named_by(told)


def test_records_of_before_combinations_could_be_compared_are_read():
    told = described(Cell(Settings(), (0,)))
    assert "comparisons" not in told["settings"]["evaluation"]
    assert revive_cell(told).settings.evaluation == EvaluationSettings(comparisons=False)
    compared = replace(Settings(), evaluation=EvaluationSettings(comparisons=True))
    assert revive_cell(described(Cell(compared, (0,)))).settings == compared
