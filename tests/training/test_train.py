"""A program: all members at once, each as if it were alone, through segments of any length."""

import jax
import numpy as np
import pytest
from tests.training import toy
from tests.training.toy import BATCH, EPOCH, SAMPLES, STEPS, bits, of_member

from headway.training.data import epoch_batch

SEEDS = (0, 1, 2)


@pytest.fixture
def program():
    return toy.program(together=1)(toy.members(SEEDS))


@pytest.fixture(scope="module")
def whole():
    return toy.run(toy.program(together=1)(toy.members(SEEDS)))


def test_a_run_is_sgd_on_the_epochs_with_the_last_smaller_batch_weighted_rightly():
    """The same steps in NumPy; an epoch is 4, 4 and 2 samples, and each batch counts by the mean of its own."""
    program = toy.program(together=1, settings=toy.SGD)(toy.members(SEEDS))
    found = toy.run(program)
    state, data = program.begin()
    for member, seed in enumerate(SEEDS):
        x, y = np.asarray(data["x"][member], float), np.asarray(data["y"][member], float)
        theta = np.append(np.asarray(state.model["slope"][member], float), 0.0)
        x = np.column_stack([x, np.ones(SAMPLES)])
        velocity = np.zeros(4)
        for step in range(STEPS):
            places, real = epoch_batch(jax.random.key(seed), step, SAMPLES, SAMPLES, BATCH)
            rows = np.asarray(places)[np.asarray(real)]
            assert len(rows) == (2 if step % EPOCH == EPOCH - 1 else 4)
            error = x[rows] @ theta - y[rows]
            assert found.losses[member, step] == pytest.approx(np.mean(error**2) / 2, rel=1e-5)
            velocity = 0.9 * velocity + x[rows].T @ error / len(rows) + 0.01 * theta
            theta = theta - 0.05 * velocity
        np.testing.assert_allclose(found.guesses[member, -1], x @ theta, rtol=1e-4)


def test_a_member_does_not_depend_on_its_neighbours_nor_on_their_number(whole):
    others = toy.run(toy.program(together=1)(toy.members((0, 5, 7))))
    pair = toy.run(toy.program(together=1, count=2)(toy.members((0, 9))))
    for found in (others, pair):
        assert bits(of_member(found, 0)) == bits(of_member(whole, 0))
        assert bits(of_member(found, 1)) != bits(of_member(whole, 1))


def test_a_member_alone_is_the_same_to_rounding(whole):
    """A loop over one member is no loop to the compiler, which may then add up in another order."""
    alone = toy.run(toy.program(together=1, count=1)(toy.members((0,))))
    np.testing.assert_allclose(alone.losses[0], whole.losses[0], rtol=2e-6)
    np.testing.assert_allclose(alone.guesses[0], whole.guesses[0], atol=2e-6)


@pytest.mark.parametrize("together", [3, 2], ids=["side by side", "a pair and the one left over"])
def test_side_by_side_and_in_turn_agree_to_rounding(whole, together):
    beside = toy.run(toy.program(together)(toy.members(SEEDS)))
    np.testing.assert_allclose(beside.losses, whole.losses, rtol=2e-5)
    np.testing.assert_allclose(beside.guesses, whole.guesses, atol=2e-5)


def test_members_may_have_rates_of_their_own(whole):
    mixed = toy.run(toy.program(together=1)(toy.members((0, 0, 2), [0.05, 0.3, 0.05])))
    fast = toy.run(toy.program(together=1)(toy.members(SEEDS, 0.3)))
    assert bits(of_member(mixed, 0)) == bits(of_member(whole, 0))
    assert bits(of_member(mixed, 1)) == bits(of_member(fast, 0))
    assert bits(of_member(mixed, 2)) == bits(of_member(whole, 2))
    assert bits(of_member(fast, 0)) != bits(of_member(whole, 0))


def test_the_length_of_the_segments_changes_no_bit(program, whole):
    segments = list(program.train(*program.begin(), 0, [0, 7, STEPS], 5))
    assert max(segment.losses.shape[1] for segment in segments) == 5
    assert bits(np.concatenate([segment.losses for segment in segments], axis=1)) == bits(whole.losses)
    assert bits(segments[-1].state) == bits(whole.states[-1])


def test_segments_meet_every_evaluation_and_measure_there_and_nowhere_else(program):
    segments = list(program.train(*program.begin(), 0, [0, 7, STEPS], 5))
    assert [segment.step for segment in segments] == [0, 5, 7, 12]
    assert [segment.probe is not None for segment in segments] == [True, False, True, True]
    assert [segment.losses.shape[1] for segment in segments] == [0, 5, 2, 5]


def test_going_on_from_any_segment_changes_no_bit(program, whole):
    _, data = program.begin()
    for start in range(1, STEPS):
        segments = list(program.train(whole.states[start], data, start, range(STEPS + 1)))
        assert [segment.step for segment in segments] == list(range(start + 1, STEPS + 1))
        assert bits(np.concatenate([segment.losses for segment in segments], axis=1)) == bits(whole.losses[:, start:])
        assert bits(segments[-1].state) == bits(whole.states[-1])


def test_a_program_that_goes_on_at_its_end_gives_the_state_and_does_nothing(program, whole):
    [segment] = program.train(whole.states[-1], program.begin()[1], STEPS, range(STEPS + 1))
    assert (segment.step, segment.losses.shape, segment.probe) == (STEPS, (3, 0), None)
    assert bits(segment.state) == bits(whole.states[-1])


def test_beginning_twice_gives_the_same(program):
    assert bits(program.begin()) == bits(program.begin())


def test_the_plateau_schedule_is_at_work_in_this_run(whole):
    """Else the tests above would say nothing about its memory."""
    scales = [np.asarray(state.optimiser[2].scale) for state in whole.states]
    assert (scales[-1] < scales[0]).any()
