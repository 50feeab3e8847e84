"""Steps, measurements and facts are compiled side by side, each once, and the numbers are the same."""

from collections import Counter

import jax
import numpy as np
import pytest
from tests.training.tiny import TINY, changed

from headway.records import Cell
from headway.training.group import Group
from headway.training.program import Program
from headway.training.spent import Ledger

PARTS = ("_begin", "_probe", "_advance", "_facts")


@pytest.fixture
def lowered():
    """How often JAX has made a program of each function, by its name."""
    found: Counter[str] = Counter()
    listening = True

    def listen(event: str, _seconds: float, **more: str | int) -> None:
        if listening and event.endswith("jaxpr_to_mlir_module_duration"):
            found[str(more.get("fun_name", "")).removeprefix("jit(").removesuffix(")")] += 1

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield found
    listening = False


def trained(settings) -> tuple[np.ndarray, list[dict[str, np.ndarray]]]:
    group = Group([Cell(settings, (0, 1))])
    losses = [tick.losses for tick in group.ticks(0, None)]
    return np.concatenate(losses, axis=1), group.facts()


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_each_part_is_compiled_once_and_nothing_else(lowered, precision):
    """In the thread's own arithmetic: were it another's, the call would compile again. Members are cut by NumPy."""
    jax.clear_caches()
    trained(changed(TINY, task={"horizon": 5}, training={"precision": precision}))
    assert lowered == dict.fromkeys(PARTS, 1)


def test_what_was_compiled_serves_whoever_trains_the_same_again(lowered):
    trained(TINY)
    lowered.clear()
    trained(TINY)
    assert lowered == {}


def test_the_numbers_are_those_of_parts_compiled_one_after_the_other(monkeypatch):
    settings = changed(TINY, task={"horizon": 6})
    losses, facts = trained(settings)
    jax.clear_caches()
    monkeypatch.setattr(Program, "compile_ahead", lambda self: None)
    others, same = trained(settings)
    np.testing.assert_array_equal(losses, others)
    for found, wanted in zip(facts, same, strict=True):
        assert found.keys() == wanted.keys()
        for name in found:
            np.testing.assert_array_equal(found[name], wanted[name])


def test_what_cannot_be_compiled_is_refused_where_it_is_needed(monkeypatch):
    group = Group([Cell(changed(TINY, task={"horizon": 7}), (0,))])

    def broken(*_arguments):
        raise RuntimeError("no such product")

    monkeypatch.setattr(group.program, "_compiled", group.program._compiled._replace(probe=jax.jit(broken)))
    with pytest.raises(RuntimeError, match="no such product"):
        next(group.ticks(0, None))


def test_times_that_two_threads_compile_at_once_count_once(monkeypatch):
    now = 100.0
    monkeypatch.setattr("headway.training.spent.time.monotonic", lambda: now)
    ledger = Ledger()
    event = "/jax/core/compile/backend_compile_duration"
    for now, seconds in ((110.0, 5.0), (112.0, 4.0), (113.0, 9.0), (120.0, 2.0)):  # noqa: B007 (read by the clock)
        ledger.compiled(event, seconds)
    spent = ledger.spent()
    assert spent["compiling"] == pytest.approx(9.0 + 2.0)
    assert spent["preparing"] == pytest.approx(20.0 - 11.0)
