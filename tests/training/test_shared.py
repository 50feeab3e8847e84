"""Arrays that all members share are inputs of the program: no constants in its code, no copies, the same numbers."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.training.tiny import bits

from headway.records import Cell
from headway.settings import EvaluationSettings, ModelSettings, SettingsError, TrainingSettings
from headway.tasks.run import Settings
from headway.tasks.sound import require_sound
from headway.tasks.task import Example
from headway.training.group import Group
from headway.training.memory import footprint
from headway.training.steps import _advance, _begin, _facts, _probe

TEXT = (np.arange(40_960) ** 2 // 3 % 5).astype(np.uint8)
PROBE = TEXT[:80].reshape(10, 8)


@dataclass(frozen=True)
class Told:
    """Stretches of an array that is a constant of the code."""

    vocab = 5
    predicted = 7
    rungs = ("uniform", "favourite")

    def row(self, text, place):
        return jax.lax.dynamic_slice(text, (place,), (8,)).astype(jnp.int32)

    def sample(self, key):
        return self.row(jnp.asarray(TEXT), jax.random.randint(key, (), 0, 4000))

    def held_out(self, number):
        row = jnp.asarray(PROBE)[number].astype(jnp.int32)
        return Example(row[:-1], row[1:], None, number)

    def ladder(self, example):
        return jnp.log(jnp.stack([jnp.full((7, 5), 0.2), jnp.full((7, 5), 0.1).at[:, 0].set(0.6)]))

    def facts(self):
        return {"first": jnp.asarray(TEXT)[0] + 0.5}


@dataclass(frozen=True)
class Given(Told):
    """The same of arrays that all members share."""

    def shared(self):
        return {"text": TEXT, "probe": PROBE}

    def sample(self, world, key):
        return self.row(world["text"], jax.random.randint(key, (), 0, 4000))

    def held_out(self, world, number):
        row = world["probe"][number].astype(jnp.int32)
        return Example(row[:-1], row[1:], None, number)

    def ladder(self, world, example):
        return super().ladder(example)

    def facts(self, world):
        return {"first": world["text"][0] + 0.5}


MODEL = ModelSettings(heads=2, layers=1, width=8, mlp=0, norm="pre", dropout=0.0)


def settings_of(task):
    training = TrainingSettings(schedule="constant", steps=6, batch=4, data="fresh", test_samples=10)
    return Settings(task, MODEL, training, EvaluationSettings(every=3, snapshots=0))


def trained(group, position=0, checkpoints=None):
    ticks = list(group.ticks(position, checkpoints))
    return group.part(ticks, 0), group.weights()[0], group.facts()[0]


@pytest.fixture(scope="module")
def whole():
    group = Group([Cell(settings_of(Given()), (0, 1, 2))])
    return group, trained(group)


def test_a_shared_array_gives_what_the_same_array_in_the_code_gives(whole):
    _, (part, weights, facts) = whole
    other = trained(Group([Cell(settings_of(Told()), (0, 1, 2))]))
    for name, values in part.arrays.items():
        np.testing.assert_allclose(values, other[0][name], rtol=1e-5, atol=1e-6, err_msg=name)
    for name, values in weights.items():
        np.testing.assert_allclose(values, other[1][name], rtol=1e-4, atol=1e-6, err_msg=name)
    assert facts["first"].tolist() == [0.5] * 3


def test_packs_of_members_share_it(whole):
    """Two of three side by side, and the third with one that fills up."""
    group = Group([Cell(settings_of(Given()), (0, 1, 2))], at_once=2)
    part, *_ = trained(group)
    np.testing.assert_allclose(part["loss"], whole[1][0]["loss"], rtol=1e-5)


def test_no_constant_of_the_program_is_as_large_as_the_array_and_no_member_holds_a_copy(whole):
    program = whole[0].program
    [pack] = program._packs[:1]
    assert max(leaf.nbytes for leaf in [*jax.tree.leaves(pack.data), np.zeros(1)]) < TEXT.nbytes
    state = pack.state, pack.members, pack.data
    for function, arguments in (
        (_begin, (pack.members,)),
        (_probe, state),
        (_facts, state[1:]),
        (_advance, (*state, 0, 3)),
    ):
        closed = jax.make_jaxpr(lambda *given, function=function: function(program.problem, *given))
        found = closed(program._shared, *arguments)
        assert max((np.size(each) for each in found.consts), default=0) < PROBE.size, function
        inputs = [variable.aval.shape for variable in found.jaxpr.invars]
        assert (len(TEXT),) in inputs, function


def test_a_checkpoint_holds_none_of_it_and_goes_on_as_if_nothing_had_been(whole):
    first = Group([Cell(settings_of(Given()), (0, 1, 2))])
    for tick in first.ticks(0, None):
        if tick.step == 3 and tick.measured is not None:
            break
    stopped = first.checkpoints()
    assert max(values.nbytes for values in stopped[0].values()) < TEXT.nbytes
    again = Group([Cell(settings_of(Given()), (0, 1, 2))])
    _, weights, _ = trained(again, 3, stopped)
    assert bits(weights) == bits(whole[1][1])


def test_memory_counts_it_once():
    own = footprint(settings_of(Given()), 1)
    assert own.shared == TEXT.nbytes + PROBE.nbytes
    assert own.of(3) - own.of(2) == own.resident and own.resident < TEXT.nbytes


def test_a_task_has_one_kind_of_world():
    class Both(Given):
        def world(self, key):
            return ()

    with pytest.raises(SettingsError, match="has world and shared, but its functions get one of them"):
        settings_of(Both())


def test_a_fixed_test_example_is_looked_at_before_training():
    @dataclass(frozen=True)
    class Odd(Given):
        def held_out(self, world, number):
            return super().held_out(world, number)._replace(inputs=jnp.full(7, 9))

    require_sound(Given())
    with pytest.raises(SettingsError, match=r"Odd.held_out gives inputs from 9 to 9, but the vocab is 5"):
        require_sound(Odd())
