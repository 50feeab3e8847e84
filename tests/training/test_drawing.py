"""Drawn on another device than the one that trains: the same bits, each part compiled once, and all as before."""

import os
import subprocess
import sys
from dataclasses import dataclass
from typing import NamedTuple

import jax
import numpy as np
import pytest
from tests.training import toy
from tests.training.test_compile_ahead import lowered  # noqa: F401 (a fixture)
from tests.training.tiny import TINY, changed, outcomes

from headway.records import Cell
from headway.tasks.devices import on_cpu
from headway.training import drawing
from headway.training.group import Group
from headway.training.problem import precision

REFERRING = changed(TINY, task={"references": (1, 2), "horizon": 3})
FROZEN = changed(TINY, model={"width": 12, "mlp": 5, "heads": 1}, training={"frozen": ("mlp",)})


@pytest.fixture
def apart(monkeypatch):
    """As on a machine where another device than the one that trains is the better one to draw on."""
    monkeypatch.setattr(drawing, "drawing_device", lambda: jax.devices("cpu")[0])


def begun(group: Group) -> list[bytes]:
    """Every bit that members begin with."""
    with precision(group.settings):
        group.program.begin()
    packs = [(pack.state, pack.data) for pack in group.program._packs]
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(packs)]


def group_of(settings, references=(), **options) -> Group:
    return Group([Cell(settings, (0, 1, 2))], references, **options)


@pytest.fixture(scope="module")
def models():
    """Weights of the runs that `REFERRING` and `FROZEN` need."""
    needed = (*REFERRING.references, *FROZEN.references)
    found = {settings: group_of(settings) for settings in needed}
    for group in found.values():
        for _ in group.ticks(0, None):
            pass
    return {settings: group.weights()[0] for settings, group in found.items()}


@pytest.mark.parametrize("precision", ["float32", "float64", "tf32", "bfloat16"])
def test_members_begin_and_train_with_the_same_bits(monkeypatch, precision):
    settings = changed(TINY, training={"precision": precision})
    [usual] = outcomes(group_of(settings))
    monkeypatch.setattr(drawing, "drawing_device", lambda: jax.devices("cpu")[0])
    [found] = outcomes(group_of(settings))
    for seed in (0, 1, 2):
        assert found.bits(seed) == usual.bits(seed)


@pytest.mark.parametrize("settings", [REFERRING, FROZEN], ids=["compared", "frozen"])
def test_so_do_those_that_need_other_models(monkeypatch, models, settings):
    references = [[models[each] for each in settings.references]]
    usual = begun(group_of(settings, references))
    monkeypatch.setattr(drawing, "drawing_device", lambda: jax.devices("cpu")[0])
    group = group_of(settings, references)
    assert begun(group) == usual
    assert group.program._drawing is not None


def test_packs_hold_what_their_members_would_begin_with_alone(apart):
    alone, packs = group_of(TINY, at_once=1).program, group_of(TINY, at_once=2).program
    for program in (alone, packs):
        program.begin()
    first, second = packs._packs
    assert first.rows.tolist() == [0, 1] and second.rows.tolist() == [2, 2] and second.real == 1
    for member, (pack, at) in enumerate([(first, 0), (first, 1), (second, 0)]):
        leaves = (jax.tree.leaves((each.state, each.data)) for each in (alone._packs[member], pack))
        for one, many in zip(*leaves, strict=True):
            np.testing.assert_array_equal(one[0], many[at])
    np.testing.assert_array_equal(packs.data(2).training, alone._packs[2].data.training[0])


@pytest.mark.parametrize("settings", [TINY, REFERRING], ids=["alone", "compared"])
def test_each_part_is_compiled_once_and_nothing_else(apart, lowered, models, settings):  # noqa: F811
    jax.clear_caches()
    group = group_of(settings, [[models[each] for each in settings.references]])
    lowered.clear()
    for _ in group.ticks(0, None):
        pass
    group.facts()
    parts = ("draw", "_probe", "_advance", "_facts", *(("_compare",) if settings.references else ()))
    assert lowered == dict.fromkeys(parts, 1)


def test_what_was_saved_is_gone_on_with(apart):
    group = group_of(TINY)
    whole = [tick.losses for tick in group.ticks(0, None)]
    first = group_of(TINY)
    for tick in first.ticks(0, None):
        if tick.step == 5:
            break
    rest = [tick.losses for tick in group_of(TINY).ticks(5, first.checkpoints())]
    np.testing.assert_array_equal(np.concatenate(whole, axis=1)[:, 5:], np.concatenate(rest, axis=1))


class World(NamedTuple):
    key: jax.Array
    level: jax.Array


@dataclass(frozen=True)
class Odd:
    """Its worlds have a key of random numbers, and a number without an axis."""

    vocab: int = 3
    length: int = 4

    def world(self, key):
        return World(jax.random.fold_in(key, 1), jax.random.uniform(key))

    def sample(self, world, key):
        return jax.random.randint(jax.random.fold_in(key, 0), (self.length + 1,), 0, self.vocab)


@dataclass(frozen=True)
class Sharing:
    """All members share what it has to teach, a key of random numbers included."""

    vocab: int = 3
    length: int = 4

    def shared(self):
        return World(jax.random.key(3), np.arange(6) % 3)

    def sample(self, world, key):
        start = jax.random.randint(key, (), 0, 2)
        return jax.lax.dynamic_slice(world.level, (start,), (self.length + 1,))


@pytest.mark.parametrize("task", [Odd(), Sharing()], ids=["drawn", "shared"])
def test_keys_of_random_numbers_move_too(monkeypatch, task):
    settings = TINY.changed(training={"data": "fresh"})
    settings = type(settings)(task, settings.model, settings.training, settings.evaluation)
    runs = []
    for device in (None, jax.devices("cpu")[0]):
        monkeypatch.setattr(drawing, "drawing_device", lambda device=device: device)
        group = group_of(settings, at_once=2)
        runs.append(np.concatenate([tick.losses for tick in group.ticks(0, None)], axis=1))
    np.testing.assert_array_equal(*runs)


def test_what_takes_long_to_draw_or_a_cpu_cannot_draw_is_left_to_the_device_that_trains(apart, monkeypatch):
    def cannot(*_asked):
        raise NotImplementedError("no rule for this platform")

    program = toy.program(toy.members((3, 1)))
    assert program._drawing is not None
    monkeypatch.setattr(drawing, "LONGEST", 0.0)
    assert toy.program(toy.members((3, 1)))._drawing is None
    monkeypatch.undo()
    monkeypatch.setattr(drawing, "drawing_device", lambda: jax.devices("cpu")[0])
    monkeypatch.setattr(drawing, "drawn_by", lambda _: jax.jit(cannot))
    assert toy.program(toy.members((3, 1)))._drawing is None


def test_a_cpu_draws_by_itself_and_a_gpu_by_a_cpu_if_it_may(monkeypatch):
    class Gpu(NamedTuple):
        platform: str = "gpu"

    assert drawing.drawing_device() is None
    [cpu, *_] = jax.devices("cpu")
    assert on_cpu()
    monkeypatch.setattr(jax, "devices", lambda *_: [Gpu()])
    assert drawing.drawing_device() == cpu
    assert not on_cpu()
    with jax.default_device(cpu):
        assert on_cpu()

    def none(backend):
        raise RuntimeError(f"Unknown backend {backend}")

    monkeypatch.setattr(jax, "local_devices", none)
    assert drawing.drawing_device() is None


SCRIPT = """
import jax, numpy as np
from tests.training.tiny import TINY, changed
from headway.records import Cell
from headway.training import drawing
from headway.training.group import Group
first, second = jax.devices()

def run(device):
    drawing.drawing_device = lambda: device
    group = Group([Cell(changed(TINY, training={"precision": "float64"}), (0, 1, 2))])
    ticks = list(group.ticks(0, None))
    drawn = group.program._drawing
    if device is not None:
        used = {leaf.device for state in drawn.draw() for leaf in jax.tree.leaves(state)}
        assert used == {second}, used
    leaves = jax.tree.leaves([pack.data for pack in group.program._packs])
    assert all(leaf.device == first and not leaf.committed for leaf in leaves), "and trains here"
    return [leaf for tick in ticks for leaf in jax.tree.leaves((tick.losses, tick.measured))]

for one, other in zip(run(None), run(second), strict=True):
    np.testing.assert_array_equal(one, other)
print("same")
"""


def test_two_devices_share_the_work_and_the_bits_are_the_same():
    """Two CPUs, as XLA sees them: the second draws, and the first trains."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=2"
    environment = {**os.environ, "XLA_FLAGS": flags, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True)
    assert ended.stdout == "same\n", ended.stderr
