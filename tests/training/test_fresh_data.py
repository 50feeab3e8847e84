"""Fresh data: new sequences at every step, and the same ones when they are drawn again."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.training.tiny import TINY, bits, changed, trained, with_checkpoints

from headway.records import Cell
from headway.training.group import Group

SEEDS = (0, 1, 2)
FRESH = changed(
    TINY, training={"data": "fresh", "samples": 16, "schedule": "plateau", "patience": 0, "learning_rate": 1e-4}
)
"""So slow that chance decides whether the loss falls from one epoch of two steps to the next."""


@pytest.fixture(scope="module")
def group():
    return Group([Cell(FRESH, SEEDS)])


def test_every_batch_is_new_for_every_step_and_seed_and_can_be_drawn_again(group, whole):
    problem, members, steps = group.program.problem, group.program.members, jnp.arange(40)

    @jax.jit
    @jax.vmap
    def draw(member):
        _, data = problem.begin(member)
        return jax.vmap(lambda step: problem.draw(member, data, step))(steps)

    drawn, real = draw(members)
    batches, real = np.asarray(drawn.examples), np.asarray(real)
    assert batches.shape == (3, 40, 8, 6)
    assert real.all()
    assert len(np.unique(batches.reshape(120, -1), axis=0)) == 120
    assert (np.asarray(draw(members)[0].examples) == batches).all()


def test_no_training_set_takes_room(group):
    member = jax.tree.map(lambda leaf: leaf[0], group.program.members)
    _, data = jax.eval_shape(group.program.problem.begin, member)
    assert jax.tree.leaves(data.training) == []


def test_training_on_fresh_data_goes_on_from_every_checkpoint_with_the_same_bits(group, whole):
    ticks, saved = with_checkpoints(group)
    for number in range(1, len(ticks) - 1):
        later = list(group.ticks(ticks[number].step, saved[number]))
        assert bits(group.part([*ticks[: number + 1], *later], 0).arrays) == bits(whole.trajectory.arrays)
        assert bits(group.weights()[0]) == bits(whole.weights)


def test_the_plateau_schedule_counts_the_epochs_of_its_own_cell_whatever_the_others_have(whole):
    """Two steps make an epoch of 16 samples, even beside one of 80, which is just over for the first time."""
    beside, far = trained([Cell(FRESH, (0, 1)), Cell(changed(FRESH, training={"samples": 80}), (2,))])
    assert all(beside.bits(seed) == whole.bits(seed) for seed in (0, 1))
    rates = whole.trajectory["learning_rate"]
    assert (rates[:, -1] < rates[:, 0]).all()
    assert far.trajectory["learning_rate"][0, -1] == rates[2, 0]
