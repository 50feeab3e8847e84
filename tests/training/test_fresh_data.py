"""Fresh data: new sequences at every step, and the same ones when they are drawn again."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.training.tiny import EVALUATIONS, TINY, changed, trained

from headway.laboratory import Group
from headway.records import Cell

SEEDS = (0, 1, 2)
FRESH = changed(
    TINY, training={"data": "fresh", "samples": 16, "schedule": "plateau", "patience": 0, "learning_rate": 1e-4}
)
"""So slow that chance decides whether the loss falls from one epoch of two steps to the next."""


pytestmark = pytest.mark.usefixtures("compilations")


@pytest.fixture(scope="module")
def group():
    return Group([Cell(FRESH, SEEDS)])


def test_every_batch_is_new_for_every_step_and_seed_and_can_be_drawn_again(group, whole):
    program = group.program
    steps = jnp.arange(40)
    draw = jax.jit(jax.vmap(lambda member, data: jax.vmap(lambda s: program.problem.draw(member, data, s))(steps)))
    batches, real = map(np.asarray, draw(program.members, group.data))
    assert batches.shape == (3, 40, 8, 6)
    assert real.all()
    assert len(np.unique(batches.reshape(120, -1), axis=0)) == 120
    assert (np.asarray(draw(program.members, group.data)[0]) == batches).all()


def test_no_training_set_takes_room(group, whole):
    assert group.data.training.shape == (3, 0, 6)


def test_training_on_fresh_data_goes_on_from_every_checkpoint_with_the_same_bits(group, whole):
    segments = list(group.segments(0, None))
    for number in range(1, len(segments) - 1):
        later = list(group.segments(EVALUATIONS[number], [group.checkpoints(segments[number])[0]]))
        joined = group.part([*segments[: number + 1], *later], 0)
        for name, values in joined.arrays.items():
            assert values.tobytes() == whole.trajectory[name].tobytes()
        for name, values in group.weights(later[-1])[0].items():
            assert values.tobytes() == whole.weights[name].tobytes()


def test_the_plateau_schedule_counts_the_epochs_of_its_own_cell_whatever_the_others_have(whole):
    """Two steps make an epoch of 16 samples, even beside one of 80, which is just over for the first time."""
    beside, far = trained([Cell(FRESH, (0, 1)), Cell(changed(FRESH, training={"samples": 80}), (2,))])
    assert all(beside.bits(seed) == whole.bits(seed) for seed in (0, 1))
    rates = whole.trajectory["learning_rate"]
    assert (rates[:, -1] < rates[:, 0]).all()
    assert far.trajectory["learning_rate"][0, -1] == rates[2, 0]
