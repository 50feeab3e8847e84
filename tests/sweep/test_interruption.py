"""Interrupted runs go on where they stopped and end with the same bits."""

from itertools import pairwise

import pytest
from tests.training.tiny import EVALUATIONS, TINY, changed

from headway.records import Cell
from headway.store import Store, Work
from headway.sweep import here
from headway.sweep.here import run_cells

# The same runs are made with every shape and type checked in `test_here.py`.
pytestmark = pytest.mark.usefixtures("unchecked")

SEEDS = (0, 1, 2)
CELL = Cell(TINY, SEEDS)


def position(store, cell):
    """The step at which a cell would go on."""
    with store.open(cell) as work:
        return work.resume().position


@pytest.mark.usefixtures("save_always")
def test_a_run_that_dies_at_every_evaluation_ends_with_the_same_bits(store, dying_at, death, undisturbed, bits):
    """Step 0 is not kept: it is a function of the seeds."""
    for before, step in pairwise(EVALUATIONS):
        watch = dying_at(step)
        with pytest.raises(death):
            run_cells([CELL], store, watch)
        assert watch.heard == [step for step in (before, step) if step], "only what was not saved is done again"
        assert position(store, CELL) == before
    run_cells([CELL], store)
    assert bits(store.load(CELL)) == bits(undisturbed)


def test_a_death_before_the_first_checkpoint_leaves_nothing(store, dying_at, death):
    with pytest.raises(death):
        run_cells([CELL], store, dying_at(1))
    assert list(store.root.iterdir()) == []


@pytest.mark.usefixtures("save_never")
def test_an_interrupt_keeps_everything_up_to_the_last_evaluation(store, dying_at, undisturbed, bits):
    with pytest.raises(KeyboardInterrupt):
        run_cells([CELL], store, dying_at(5, KeyboardInterrupt))
    assert position(store, CELL) == 5
    watch = dying_at(7, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        run_cells([CELL], store, watch)
    assert watch.heard == [7]
    run_cells([CELL], store)
    assert bits(store.load(CELL)) == bits(undisturbed)


@pytest.mark.parametrize("may_take, saved", [(1e9, EVALUATIONS[1:]), (1e-15, [1, 12])], ids=["short", "long"])
def test_checkpoints_that_take_long_are_made_more_seldom(store, monkeypatch, may_take, saved):
    steps, save = [], Work.save
    monkeypatch.setattr(here, "SAVE_EVERY", 1e-9)
    monkeypatch.setattr(here, "SAVING", may_take)
    monkeypatch.setattr(here, "MOST_SELDOM", 1e30)
    monkeypatch.setattr(Work, "save", lambda work, *told: steps.append(told[2]) or save(work, *told))
    run_cells([CELL], store)
    assert steps == saved


@pytest.mark.usefixtures("save_never")
def test_an_interrupt_between_two_evaluations_goes_back_to_the_first(store, monkeypatch, undisturbed, bits):
    class Interrupted(here.Group):
        def ticks(self, *arguments):
            for tick in super().ticks(*arguments):
                yield tick
                if tick.step == 2:
                    raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(here, "Group", Interrupted)
        with pytest.raises(KeyboardInterrupt):
            run_cells([CELL], store)
    assert position(store, CELL) == 2
    run_cells([CELL], store)
    assert bits(store.load(CELL)) == bits(undisturbed)


def test_a_run_that_had_only_to_be_put_away_is_put_away_without_a_step(
    store, monkeypatch, dying_at, death, undisturbed, bits
):
    """A death between the last checkpoint and the record."""

    def dies(*arguments):
        raise death

    with monkeypatch.context() as patch:
        patch.setattr(Work, "finish", dies)
        with pytest.raises(death):
            run_cells([CELL], store)
    assert position(store, CELL) == EVALUATIONS[-1]
    watch = dying_at(None)
    run_cells([CELL], store, watch)
    assert watch.heard == []
    assert bits(store.load(CELL)) == bits(undisturbed)


@pytest.mark.usefixtures("save_always")
def test_the_time_that_was_spent_before_an_interruption_counts(store, monkeypatch, dying_at, death):
    """Every look at this clock takes a second."""
    ticks = iter(range(10**6))
    monkeypatch.setattr(here.time, "monotonic", lambda: float(next(ticks)))
    with pytest.raises(death):
        run_cells([CELL], store, dying_at(7))
    with store.open(CELL) as work:
        spent = float(work.resume().checkpoint[here.SECONDS][0])
    assert spent > 5
    middle = next(ticks)
    run_cells([CELL], store)
    after = store.load(CELL).provenance["seconds"] - spent
    assert 3 <= after <= next(ticks) - middle


TWO = (CELL, Cell(changed(TINY, training={"samples": 11}), SEEDS))
"""The second has fewer samples, but not fewer than a batch: it shares the first one's program, and its room."""


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """Both cells in one program, undisturbed."""
    store = Store(tmp_path_factory.mktemp("together"))
    run_cells(TWO, store)
    return store


@pytest.mark.usefixtures("save_always")
@pytest.mark.parametrize(("call", "positions"), [(2, {0, 1}), (4, {1, 2})], ids=["first-save", "second-save"])
@pytest.mark.parametrize("interrupted", [True, False], ids=["interrupted", "killed"])
def test_two_cells_that_stopped_at_different_steps_end_with_the_same_bits(
    store, monkeypatch, death, together, bits, call, positions, interrupted
):
    """The end comes while they are saved, one after the other; whoever is told to stop saves the second, too."""
    end = KeyboardInterrupt if interrupted else death
    calls, save = [], Work.save

    def dies_between(work, *arguments):
        calls.append(work)
        if len(calls) == call:
            raise end
        save(work, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Work, "save", dies_between)
        with pytest.raises(end):
            run_cells(TWO, store)
    assert {position(store, cell) for cell in TWO} == ({max(positions)} if interrupted else positions)
    run_cells(TWO, store)
    for cell in TWO:
        assert bits(store.load(cell)) == bits(together.load(cell))


def test_a_cell_has_the_same_bits_whether_the_others_are_done_or_not(store, together, bits, built):
    run_cells(TWO[:1], store)
    run_cells(TWO, store)
    assert built == [TWO[:1], TWO[1:]]
    for cell in TWO:
        assert bits(store.load(cell)) == bits(together.load(cell))
