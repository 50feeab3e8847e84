"""What is complete is drawn while the rest is trained: once, and with the records that it is shown with at last."""

from pathlib import Path
from typing import Any, cast

import pytest
from tests.experiments.made import made_results

from headway.cli.computing import records_of
from headway.cli.early import Early
from headway.experiments import find
from headway.lookup import readable
from headway.records import Cell
from headway.store import Store
from headway.sweep.tally import Tally

SEEDS = (0, 1)


class Asked:
    """In place of a drawing: what it was asked for, and how often it was heard."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[str, dict[str, Path]]] = []
        self.heard = 0

    def early(self, outcome: tuple[str, dict[str, Path]]) -> None:
        self.outcomes.append(outcome)

    def listen(self) -> None:
        self.heard += 1


def _groups() -> dict[str, dict[str, Cell]]:
    """A run that is compared with n-gram models, the same alone, which it answers too, and the two beside another."""
    full, minimal = (find("ladder").grids["quick"][run] for run in ("full", "minimal"))
    alone = Cell(full.changed(task={"references": ()}), SEEDS)
    return {
        "compared": {"full": Cell(full, SEEDS)},
        "alone": {"full": alone},
        "both": {"full": alone, "minimal": Cell(minimal, SEEDS)},
    }


def _place(store: Store, run: str) -> None:
    settings, trajectory = made_results("ladder", seeds=SEEDS)[run]
    with store.open(Cell(settings, SEEDS)) as work:
        work.place(trajectory, {})


def _tally(done: int) -> Tally:
    return Tally(done=done, failed=0, running=0, stale=0, left=2 - done)


@pytest.mark.parametrize("before", [False, True])
def test_an_experiment_is_drawn_once_when_the_last_of_its_cells_is_done(tmp_path, before):
    """Whether its records are made now, or lay among the small copies."""
    runs, kept = stores = [Store(tmp_path / "runs"), Store(tmp_path / "kept")]
    asked, groups = Asked(), _groups()

    def outcome_of(name: str, records: Any) -> Any:
        return name, {run: record.path for run, record in records.items()}

    early = Early(cast(Any, asked), groups, stores, outcome_of)
    if before:
        _place(kept, "full")
    else:
        early.look(_tally(0))
        assert asked.outcomes == []
        _place(runs, "full")
    for _ in range(2):
        early.look(_tally(1))
    assert [name for name, _ in asked.outcomes] == ["compared", "alone"]
    _place(runs, "minimal")
    for _ in range(2):
        early.look(_tally(2))
    assert [name for name, _ in asked.outcomes] == ["compared", "alone", "both"] and asked.heard >= 4
    at_last = {name: records_of(group, stores, readable(stores)) for name, group in groups.items()}
    assert dict(asked.outcomes) == dict(outcome_of(name, records) for name, records in at_last.items())


def test_a_record_that_cannot_be_read_does_not_end_the_sweep(tmp_path):
    store, asked = Store(tmp_path), Asked()
    _place(store, "full")
    for path in tmp_path.glob("*/record.json"):
        path.write_text("{}")
    early = Early(cast(Any, asked), _groups(), [store], lambda name, _records: cast(Any, (name, {})))
    early.look(_tally(1))
    assert asked.outcomes == []
