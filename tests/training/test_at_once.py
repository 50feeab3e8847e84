"""On a CPU several packs are under way at once, with the bits of one after the other."""

import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.training import toy
from tests.training.tiny import TINY, changed, outcomes

from headway.records import Cell
from headway.training import chunks
from headway.training.blocking import blocks
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


class Made(NamedTuple):
    """Instead of a compiled function: what it does, and what would be traced."""

    work: Callable[[int], None]

    def __call__(self, _shared, number: int) -> None:
        self.work(number)

    def trace(self, _shared, _number: int):
        return jax.jit(lambda: 0).trace()


def of(work: Callable[[int], None]) -> Program:
    """A program whose measurements are this work."""
    program = toy.program(toy.members(SEEDS))
    program._compiled = program._compiled._replace(probe=Made(work))
    return program


def test_after_a_fault_what_is_under_way_ends_and_nothing_else_begins(monkeypatch, unchecked_test):
    monkeypatch.setattr(chunks, "cores", lambda: 2)
    begun, ended = [], []

    def work(number: int) -> None:
        begun.append(number)
        if number == 2:
            raise RuntimeError("no memory")
        time.sleep(0.05)
        ended.append(number)

    with pytest.raises(RuntimeError, match="no memory"):
        of(work)._each("probe", [(number,) for number in range(40)])
    assert len(begun) < 40
    assert len(ended) == len(begun) - 1, "nobody goes on behind the error"


def test_the_first_call_is_made_alone_because_it_compiles(monkeypatch, unchecked_test):
    monkeypatch.setattr(chunks, "cores", lambda: 4)
    under_way, most = [], {}

    def work(number: int) -> None:
        under_way.append(number)
        most[number] = len(under_way)
        time.sleep(0.02)
        under_way.remove(number)

    of(work)._each("probe", [(number,) for number in range(5)])
    assert most[0] == 1
    assert max(most.values()) == 4


SQUARE = jnp.eye(3)


@pytest.mark.parametrize(
    "function",
    [
        jnp.linalg.qr,
        jnp.linalg.eigh,
        jnp.linalg.cholesky,
        jax.jit(jnp.linalg.inv),
        jax.vmap(lambda x: jnp.linalg.svd(x[None])),
        lambda x: jax.lax.fori_loop(0, 2, lambda _, x: jnp.linalg.qr(x)[0], x),
        lambda x: jax.lax.cond(x.sum() > 0, jnp.linalg.inv, lambda x: x, x),
        lambda x: jax.ffi.ffi_call("lapack_sgetrf_ffi", jax.ShapeDtypeStruct((3, 3), x.dtype))(x),
        lambda x: jax.pure_callback(np.asarray, x, x),
    ],
    ids=["qr", "eigh", "cholesky", "inside another", "mapped", "in a loop", "in a branch", "call", "callback"],
)
def test_what_waits_for_xlas_threads_is_found_wherever_it_stands(function):
    assert blocks(jax.make_jaxpr(function)(SQUARE).jaxpr)


def test_training_steps_do_not_wait_and_orthogonal_draws_do(monkeypatch):
    """With an orthogonal matrix a seed, as paper A draws them; its kernels and products run beside each other."""
    monkeypatch.setattr(chunks, "cores", lambda: 3)
    group = Group([Cell(TINY, SEEDS)])
    outcomes(group)
    assert group.program._blocks == {"begin": True, "advance": False, "probe": False, "facts": False}
