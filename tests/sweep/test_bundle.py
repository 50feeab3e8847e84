"""Cells that share a program are handed out together, and arrive as they were sent."""

import json

import pytest
from tests.training.tiny import TINY, changed

from headway.records import Cell
from headway.settings import FlowSettings
from headway.sweep import plan
from headway.sweep.bundle import Bundle, cut, decode, encode, pack, waves
from headway.tasks.construction import ConstructionSettings
from headway.tasks.recall import Recall
from headway.tasks.single_location import SingleLocation
from headway.tasks.toy import Toy, toy_settings
from headway.training import chunks
from headway.training.limits import Limit
from headway.training.memory import PROCESS, footprint

SEEDS = (0, 1, 2)
CELL = Cell(TINY, SEEDS)
FAST = Cell(changed(TINY, training={"learning_rate": 0.2, "samples": 33}), (4,))
LONGER = Cell(changed(TINY, training={"steps": 13}), SEEDS)
COMPARED = Cell(changed(TINY, task={"references": (1,)}), SEEDS)
RECALL = Cell(Recall.usual(), SEEDS)
FLOW = Cell(FlowSettings(), SEEDS)


def test_cells_that_differ_in_numbers_and_seeds_make_one_bundle_with_room_for_the_largest_set():
    assert pack([CELL, LONGER, FAST, CELL]) == [Bundle((CELL, FAST), 33), Bundle((LONGER,), 20)]


def test_what_is_computed_in_one_go_comes_alone_and_first():
    other = Cell(FlowSettings(), (7,))
    assert [bundle.cells for bundle in pack([CELL, RECALL, FLOW, other])] == [(FLOW,), (other,), (CELL,), (RECALL,)]


def test_toys_of_any_size_come_together_unless_they_are_matrices():
    small, large = (Cell(toy_settings(Toy(dimension=size)), SEEDS) for size in (8, 16))
    full, sampled = (Cell(toy_settings(Toy(trained="matrices"), count), SEEDS) for count in (None, 9))
    assert [bundle.cells for bundle in pack([small, full, large, sampled])] == [(small, large), (full,), (sampled,)]


def test_what_others_are_compared_with_is_in_the_first_wave_and_in_no_other():
    first, second = waves([COMPARED, CELL, *COMPARED.references()])
    assert {cell for bundle in first for cell in bundle.cells} == {CELL, *COMPARED.references()}
    assert [bundle.cells for bundle in second] == [(COMPARED,)]


@pytest.mark.parametrize("pieces", range(1, 7))
def test_a_bundle_is_cut_into_even_pieces_that_keep_its_room(pieces):
    bundle = Bundle(tuple(Cell(TINY, (seed,)) for seed in range(5)), 99)
    parts = cut(bundle, pieces)
    assert tuple(cell for part in parts for cell in part.cells) == bundle.cells
    sizes = [len(part.cells) for part in parts]
    assert len(sizes) == min(pieces, 5) and max(sizes) - min(sizes) <= 1
    assert {part.capacity for part in parts} == {99}


def test_bundles_of_every_trained_kind_arrive_as_they_were_sent():
    cells = [CELL, FAST, COMPARED, RECALL, FLOW, Cell(SingleLocation.usual(), (1,))]
    cells.append(Cell(ConstructionSettings(TINY.task, (0, 5), test_samples=8), SEEDS))
    bundles = pack(cells)
    assert decode(encode(bundles)) == bundles
    assert [cell.identity for bundle in decode(encode(bundles)) for cell in bundle.cells] == [
        cell.identity for bundle in bundles for cell in bundle.cells
    ]


def test_json_that_is_no_order_is_refused():
    with pytest.raises(ValueError, match="no order of cells"):
        decode(json.dumps({"bundles": []}))


@pytest.mark.parametrize("cores", [1, 3])
def test_a_program_holds_as_many_cells_as_the_device_has_memory_for(monkeypatch, cores):
    """Members take the same room each, and what is active at a time comes once for every core."""
    monkeypatch.setattr(chunks, "cores", lambda: cores)
    bundle = Bundle(tuple(Cell(TINY, (seed, seed + 1)) for seed in range(0, 12, 2)), 20)
    one = footprint(TINY, 20)
    active = one.of(1) - one.resident - PROCESS["kernels"]
    assert plan.memory_of(bundle) - one.of(1) == 11 * one.resident + (cores - 1) * active
    for cells in (1, 2, 3, 6):
        limit = Limit(one.of(2 * cells), "a made limit")
        assert {len(piece.cells) for piece in plan.pieces_of(bundle, limit)} == {cells}
    assert len(plan.pieces_of(bundle, Limit(1, "a made limit"))) == 6, "a cell is not split"
    assert plan.pieces_of(bundle, None) == [bundle]


def test_a_training_set_and_a_model_twice_as_large_take_their_bytes():
    """A row is a sequence of six tokens; AdamW keeps two more of every weight, in single precision."""
    length = TINY.task.horizon + TINY.task.start
    assert footprint(TINY, 120).resident - footprint(TINY, 20).resident == 100 * length * 4
    heads = changed(TINY, model={"heads": 4})
    assert footprint(heads, 20).resident - footprint(TINY, 20).resident >= 3 * 4 * 2 * 2 * 10 * 10
