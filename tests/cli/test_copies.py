"""Small copies are made while a sweep goes on, not only at its end."""

import pytest
from tests.store import worker

from headway.cli.copies import Copies
from headway.store import Store, StoreError
from headway.sweep.tally import Tally


@pytest.fixture
def full(tmp_path):
    store = Store(tmp_path / "full")
    _compute(store)
    return store


def _compute(store: Store) -> None:
    with store.open(worker.CELL) as work:
        worker.compute(work)


def _tally(done: int) -> Tally:
    return Tally(done=done, failed=0, running=0, stale=0, left=1 - done)


def test_what_is_done_has_its_copy_at_the_next_look(full, tmp_path):
    small = Store(tmp_path / "small")
    copies = Copies([worker.CELL], full, [small])
    copies.look(_tally(1))
    assert small.has(worker.CELL) and small.load(worker.CELL).provenance == full.load(worker.CELL).provenance


def test_what_is_not_done_is_copied_when_it_is(tmp_path):
    store, small = Store(tmp_path / "full"), Store(tmp_path / "small")
    copies = Copies([worker.CELL], store, [small])
    copies.look(_tally(0))
    assert not small.has(worker.CELL)
    _compute(store)
    copies.look(_tally(1))
    assert small.has(worker.CELL)


def test_a_copy_that_cannot_be_written_does_not_end_the_sweep_but_is_reported_at_its_end(full, tmp_path):
    in_the_way = tmp_path / "small"
    in_the_way.write_text("no folder")
    copies = Copies([worker.CELL], full, [Store(in_the_way)])
    copies.look(_tally(1))
    with pytest.raises(StoreError):
        copies.make()
