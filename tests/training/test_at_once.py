"""On a CPU several packs are under way at once, with the bits of one after the other."""

import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest
from tests.training import toy
from tests.training.tiny import TINY, changed, outcomes

from headway.records import Cell
from headway.training import chunks
from headway.training.group import Group
from headway.training.program import Program

SEEDS = (3, 1, 4, 5, 9)


@pytest.mark.bits
@pytest.mark.parametrize("together", [1, 2])
def test_members_have_the_bits_that_they_have_one_after_the_other(monkeypatch, together):
    members, threads = toy.members(SEEDS), set()

    @contextmanager
    def within():
        threads.add(threading.get_ident())
        yield

    def run(cores: int) -> toy.Run:
        monkeypatch.setattr(chunks, "cores", lambda: cores)
        return toy.run(Program(toy.problem(toy.ADAMW, 0), members, together, within=within))

    one, three = run(1), run(3)
    assert len(threads) > 1, "a thread for each of three cores, again and again"
    np.testing.assert_array_equal(one.losses, three.losses)
    np.testing.assert_array_equal(one.guesses, three.guesses)


@pytest.mark.bits
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_thread_computes_in_the_arithmetic_of_the_run(monkeypatch, precision):
    cell = Cell(changed(TINY, training={"precision": precision}), SEEDS)
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(chunks, "cores", lambda cores=cores: cores)
        [outcome] = outcomes(Group([cell]))
        found.append(outcome.trajectory)
    for name, values in found[0].arrays.items():
        assert values.dtype == found[1].arrays[name].dtype
        np.testing.assert_array_equal(values, found[1].arrays[name], err_msg=name)


def test_after_a_fault_what_is_under_way_ends_and_nothing_else_begins(monkeypatch):
    monkeypatch.setattr(chunks, "cores", lambda: 2)
    program, begun, ended = toy.program(toy.members(SEEDS)), [], []

    def compute(number: int) -> None:
        begun.append(number)
        if number == 2:
            raise RuntimeError("no memory")
        time.sleep(0.05)
        ended.append(number)

    with pytest.raises(RuntimeError, match="no memory"):
        program._each("anything", compute, range(40))
    assert len(begun) < 40
    assert len(ended) == len(begun) - 1, "nobody goes on behind the error"


def test_the_first_call_is_made_alone_because_it_compiles(monkeypatch):
    monkeypatch.setattr(chunks, "cores", lambda: 4)
    program, under_way, most = toy.program(toy.members(SEEDS)), [], {}

    def compute(number: int) -> None:
        under_way.append(number)
        most[number] = len(under_way)
        time.sleep(0.02)
        under_way.remove(number)

    program._each("anything", compute, range(5))
    assert most[0] == 1
    assert max(most.values()) == 4
