"""A member that diverges is noticed at its step and stands still; the others do not notice."""

import jax
import numpy as np
import pytest
from tests.training import toy
from tests.training.toy import STEPS, bits, of_member

from headway.training.steps import EXPLODED

SEEDS = (0, 1, 2)
SICK = 1


@pytest.fixture(scope="module", params=[1, 3], ids=["in-turn", "side-by-side"])
def train(request):
    """Train the members; all of them in one compiled program."""
    return lambda **numbers: toy.run(toy.program(toy.members(SEEDS, **numbers), request.param))


@pytest.fixture(scope="module")
def healthy(train):
    return train()


def at(step):
    """Only the sick member's examples are spoilt."""
    return {"spoilt_at": [step if member == SICK else 0 for member in range(len(SEEDS))]}


SPOILT = {
    "not-a-number": (at(6) | {"spoilt_by": np.nan}, 6),
    "infinite": (at(6) | {"spoilt_by": np.inf}, 6),
    "exploded": (at(6) | {"spoilt_by": 10 * EXPLODED**0.5}, 6),
    "overflowing-gradient": (at(6) | {"spoilt_by": 1e30}, 6),
    "first-step": (at(1), 1),
    "last-step": (at(STEPS), STEPS),
    "absurd-rate": ({"learning_rates": [0.05, 1e30, 0.05]}, 2),
}


@pytest.mark.parametrize(("numbers", "step"), SPOILT.values(), ids=SPOILT)
class TestASickMember:
    def test_is_noticed_at_its_step(self, train, numbers, step):
        found = train(**numbers)
        assert list(found.states[-1].diverged_at) == [-1, step, -1]
        assert list(found.states[step - 1].diverged_at) == [-1, -1, -1]
        loss = found.losses[SICK, step - 1]
        assert not np.isfinite(loss) or loss >= EXPLODED

    def test_stands_still_with_finite_weights_and_a_frozen_optimiser(self, train, numbers, step):
        found = train(**numbers)
        before = of_member(found.states[step - 1], SICK)
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(before.model))
        for state in found.states[step:]:
            assert bits(of_member(state, SICK)[:2]) == bits(before[:2])

    def test_leaves_its_neighbours_as_they_are(self, train, healthy, numbers, step):
        found = train(**numbers)
        for member in {0, 2}:
            assert bits(of_member(found, member)) == bits(of_member(healthy, member))


def test_up_to_its_step_a_sick_member_is_what_it_would_have_been(train, healthy):
    found = train(**at(6))
    assert bits(found.losses[SICK, :5]) == bits(healthy.losses[SICK, :5])
    assert bits(of_member(found.states[5], SICK)) == bits(of_member(healthy.states[5], SICK))


def test_a_loss_just_below_the_limit_is_not_a_divergence(train):
    """A bad batch is not the end: the member goes on."""
    found = train(**(at(6) | {"spoilt_by": 0.1 * EXPLODED**0.5}))
    assert 10 < found.losses[SICK, 5] < EXPLODED
    assert (np.asarray(found.states[-1].diverged_at) == -1).all()
    assert bits(of_member(found.states[6], SICK)) != bits(of_member(found.states[5], SICK))


def test_weights_that_one_update_would_blow_up_are_kept_as_they_were():
    """A finite loss with a finite gradient, times a rate near the largest number."""
    found = toy.run(toy.program(toy.members(SEEDS, [0.05, 3e38, 0.05]), settings=toy.SGD))
    step = int(found.states[-1].diverged_at[SICK])
    assert step >= 1
    assert np.isfinite(found.losses[SICK, step - 1])
    for state in found.states:
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(state.model))
    assert bits(of_member(found.states[-1].model, SICK)) == bits(of_member(found.states[step - 1].model, SICK))
