"""Which record answers a cell."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headway.lookup import answer, needed, readable
from headway.records import Cell, Trajectory
from headway.settings import EvaluationSettings
from headway.store import Record, Store, StoreError
from headway.tasks.chain import Chain
from headway.tasks.construction import ConstructionSettings
from headway.tasks.run import Settings

PLAIN = Settings()
COMPARED = Settings(Chain(references=(2, 4)))
OTHERWISE = Settings(Chain(references=(2, 6)))
ELSE = Settings(task=Chain(ratio=1.3))
HAND_MADE = ConstructionSettings()
FOUR, EIGHT = tuple(range(4)), tuple(range(8))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "runs")


@pytest.fixture
def put(store: Store) -> Callable[..., Record]:
    """Put a record of nothing much into the store."""

    def place(settings: Settings | ConstructionSettings, seeds: tuple[int, ...] = FOUR, store: Store = store) -> Record:
        arrays = {"excess_loss": np.zeros((len(seeds), 1), np.float32)}
        trajectory = Trajectory(seeds, {"evaluation": np.zeros(1, int)}, arrays, {"excess_loss": "evaluation"})
        with store.open(Cell(settings, seeds)) as work:
            return work.place(trajectory, {})

    return place


def answered_by(cell: Cell, *stores: Store, loosely: bool = False) -> str | None:
    found = answer(cell, stores, loosely=loosely)
    return None if found is None else found.identity


def test_an_empty_or_missing_folder_answers_nothing(store):
    assert answered_by(Cell(PLAIN, FOUR), store) is None
    store.root.mkdir()
    assert answered_by(Cell(PLAIN, FOUR), store, loosely=True) is None


def test_a_cell_is_answered_by_its_own_record_first(store, put):
    put(COMPARED, EIGHT)
    own = put(PLAIN)
    assert answered_by(Cell(PLAIN, FOUR), store) == own.identity
    assert answered_by(Cell(PLAIN, FOUR), store, loosely=True) == own.identity


def test_of_several_folders_the_first_with_the_cell_answers(store, put, tmp_path):
    second = Store(tmp_path / "second")
    put(PLAIN, store=second)
    assert answer(Cell(PLAIN, FOUR), [store, second]).path.parent == second.root
    put(PLAIN)
    assert answer(Cell(PLAIN, FOUR), [store, second]).path.parent == store.root


def test_a_run_that_was_compared_serves_where_no_comparison_is_asked_for(store, put):
    compared = put(COMPARED)
    assert answered_by(Cell(PLAIN, FOUR), store) == compared.identity


@pytest.mark.parametrize("there", [PLAIN, OTHERWISE])
def test_a_comparison_that_was_not_made_is_not_answered_unless_loosely(store, put, there):
    record = put(there)
    assert answered_by(Cell(COMPARED, FOUR), store) is None
    assert answered_by(Cell(COMPARED, FOUR), store, loosely=True) == record.identity


def test_other_seeds_answer_only_loosely(store, put):
    record = put(PLAIN, EIGHT)
    assert answered_by(Cell(PLAIN, FOUR), store) is None
    assert answered_by(Cell(PLAIN, FOUR), store, loosely=True) == record.identity


@pytest.mark.parametrize(
    "there",
    [
        ELSE,
        COMPARED.references[0],
        PLAIN.changed(task={"context": 6}),
        replace(PLAIN, evaluation=EvaluationSettings(comparisons=True)),
        HAND_MADE,
    ],
)
def test_other_settings_never_answer(store, put, there):
    put(there)
    assert answered_by(Cell(PLAIN, FOUR), store, loosely=True) is None


def test_a_hand_made_solution_is_answered_by_its_own_kind_and_loosely_with_other_seeds(store, put):
    put(PLAIN)
    assert answered_by(Cell(HAND_MADE, FOUR), store, loosely=True) is None
    more = put(HAND_MADE, EIGHT)
    assert answered_by(Cell(HAND_MADE, FOUR), store) is None
    assert answered_by(Cell(HAND_MADE, FOUR), store, loosely=True) == more.identity
    own = put(HAND_MADE)
    assert answered_by(Cell(HAND_MADE, FOUR), store, loosely=True) == own.identity
    assert answered_by(Cell(ConstructionSettings(test_samples=7), FOUR), store, loosely=True) is None


def test_records_that_were_listed_before_answer_as_those_that_are_listed_now(store, put):
    put(COMPARED)
    among = readable([store])
    assert [record.cell.settings for record in among] == [COMPARED]
    assert answer(Cell(PLAIN, FOUR), [store], among=among).cell.settings == COMPARED
    assert answer(Cell(PLAIN, FOUR), [store], among=[]) is None
    assert answer(Cell(COMPARED, FOUR), [store], among=[]) is not None, "its own record needs no list"


def test_loosely_the_wanted_comparisons_count_more_than_the_number_of_seeds(store, put):
    put(PLAIN, EIGHT)
    put(COMPARED, (0, 1))
    wanted = put(COMPARED, (0, 1, 2))
    assert answered_by(Cell(COMPARED, FOUR), store, loosely=True) == wanted.identity


def test_a_damaged_record_is_an_error_for_its_own_cell_and_no_answer_for_another(store, put):
    spoilt = put(COMPARED)
    (spoilt.path / "trajectory.safetensors").write_bytes(b"half")
    with pytest.raises(StoreError, match="is damaged"):
        answer(Cell(COMPARED, FOUR), [store])
    assert answered_by(Cell(PLAIN, FOUR), store, loosely=True) is None


def test_what_is_needed_is_what_nothing_answers(store, put):
    plain, other = Cell(PLAIN, FOUR), Cell(ELSE, FOUR)
    assert needed([plain, other], [store]) == [plain, other]
    put(PLAIN)
    assert needed([plain, other], [store]) == [other]
    put(ELSE)
    assert needed([plain, other], [store]) == []


@pytest.mark.parametrize("order", [1, -1])
def test_no_run_is_needed_twice_once_with_and_once_without_comparisons(store, order):
    plain, compared = Cell(PLAIN, FOUR), Cell(COMPARED, FOUR)
    assert needed([plain, compared, plain][::order], [store]) == [compared]
    more_seeds = Cell(PLAIN, EIGHT)
    assert needed([more_seeds, compared], [store]) == [more_seeds, compared]


def test_a_hand_made_solution_is_needed_until_it_is_there(store, put):
    cells = [Cell(HAND_MADE, FOUR), Cell(PLAIN, FOUR), Cell(HAND_MADE, FOUR)]
    assert needed(cells, [store]) == cells[:2]
    put(HAND_MADE)
    assert needed(cells, [store]) == cells[1:2]


def test_a_compared_run_is_needed_though_the_plain_one_is_there(store, put):
    put(PLAIN)
    assert needed([Cell(PLAIN, FOUR), Cell(COMPARED, FOUR)], [store]) == [Cell(COMPARED, FOUR)]
