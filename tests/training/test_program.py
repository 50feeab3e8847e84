"""A program: all members at once, each as if it were alone, through stops of any length, until each has stopped."""

import jax
import numpy as np
import pytest
from tests.training import toy
from tests.training.toy import BATCH, EPOCH, SAMPLES, STEPS, bits, of_member

from headway.settings import TrainingSettings
from headway.training.data import epoch_batch

SEEDS = (0, 1, 2)
FIVE = (0, 1, 2, 3, 4)
ADAM = TrainingSettings(optimiser="adamw", schedule="constant")


@pytest.fixture
def program():
    return toy.program(toy.members(SEEDS))


@pytest.fixture(scope="module")
def whole():
    return toy.run(toy.program(toy.members(SEEDS)))


def sgd(theta, gradient, memory, _step):
    memory["velocity"] = 0.9 * memory.get("velocity", 0) + gradient + 0.01 * theta
    return theta - 0.05 * memory["velocity"]


def adamw(theta, gradient, memory, step):
    memory["mean"] = 0.9 * memory.get("mean", 0) + 0.1 * gradient
    memory["square"] = 0.999 * memory.get("square", 0) + 0.001 * gradient**2
    mean, square = memory["mean"] / (1 - 0.9 ** (step + 1)), memory["square"] / (1 - 0.999 ** (step + 1))
    return theta - 0.05 * (mean / (np.sqrt(square) + 1e-8) + 0.01 * theta)


@pytest.mark.parametrize(("settings", "rule"), [(toy.SGD, sgd), (ADAM, adamw)], ids=["sgd", "adamw"])
def test_a_run_is_the_optimiser_s_steps_on_the_epochs_with_the_last_smaller_batch_weighted_rightly(settings, rule):
    """The same steps in NumPy; an epoch is 4, 4 and 2 samples, and each batch counts by the mean of its own."""
    found = toy.run(toy.program(toy.members(SEEDS), settings=settings))
    for row, seed in enumerate(SEEDS):
        member = of_member(toy.members(SEEDS), row)
        model, data = jax.tree.map(lambda leaf: np.asarray(leaf, float), toy.problem(settings).begin(member))
        x, y, memory = np.column_stack([data["x"], np.ones(SAMPLES)]), data["y"], {}
        theta = np.append(model["slope"], model["level"])
        for step in range(STEPS):
            places, real = epoch_batch(jax.random.key(seed), step, SAMPLES, SAMPLES, BATCH)
            rows = np.asarray(places)[np.asarray(real)]
            assert len(rows) == (2 if step % EPOCH == EPOCH - 1 else 4)
            error = x[rows] @ theta - y[rows]
            assert found.losses[row, step] == pytest.approx(np.mean(error**2) / 2, rel=1e-4)
            theta = rule(theta, x[rows].T @ error / len(rows), memory, step)
        np.testing.assert_allclose(found.guesses[row, -1], x @ theta, rtol=1e-4, atol=1e-5)


@pytest.mark.bits
def test_a_member_does_not_depend_on_its_neighbours_nor_on_their_number(whole):
    others = toy.run(toy.program(toy.members((0, 5, 7))))
    pair = toy.run(toy.program(toy.members((0, 9))))
    for found in (others, pair):
        assert bits(of_member(found, 0)) == bits(of_member(whole, 0))
        assert bits(of_member(found, 1)) != bits(of_member(whole, 1))


@pytest.mark.bits
def test_a_member_alone_is_bit_for_bit_the_same(whole):
    """In turn, each has a program of its own anyway."""
    alone = toy.run(toy.program(toy.members((0,))))
    assert bits(of_member(alone, 0)) == bits(of_member(whole, 0))


@pytest.mark.parametrize("together", [3, 2], ids=["side by side", "a pair and the one left over"])
def test_side_by_side_and_in_turn_agree_to_rounding(whole, together):
    beside = toy.run(toy.program(toy.members(SEEDS), together))
    np.testing.assert_allclose(beside.losses, whole.losses, rtol=2e-5)
    np.testing.assert_allclose(beside.guesses, whole.guesses, atol=2e-5)


@pytest.mark.bits
def test_side_by_side_a_member_does_not_depend_on_the_others_or_its_place_in_a_pack():
    """Packs of one size are one program, even one that is filled up."""
    first = toy.run(toy.program(toy.members((0, 1, 2)), 2))
    other = toy.run(toy.program(toy.members((7, 2, 0)), 2))
    for seed, place, there in ((0, 0, 2), (2, 2, 1)):
        assert bits(of_member(first, place)) == bits(of_member(other, there)), seed


def test_members_may_have_rates_of_their_own(whole):
    mixed = toy.run(toy.program(toy.members((0, 0, 2), [0.05, 0.3, 0.05])))
    fast = toy.run(toy.program(toy.members(SEEDS, 0.3)))
    assert bits(of_member(mixed, 0)) == bits(of_member(whole, 0))
    assert bits(of_member(mixed, 1)) == bits(of_member(fast, 0))
    assert bits(of_member(mixed, 2)) == bits(of_member(whole, 2))
    assert bits(of_member(fast, 0)) != bits(of_member(whole, 0))


@pytest.mark.bits
def test_how_many_steps_are_made_at_once_changes_no_bit(program, whole):
    found = toy.run(program, [0, 5, 7, STEPS])
    assert bits(found.losses) == bits(whole.losses)
    assert bits(found.states[-1]) == bits(whole.states[-1])


@pytest.mark.bits
def test_going_on_from_any_step_changes_no_bit(program, whole):
    program.begin()
    for start in range(1, STEPS):
        program.begin(saved=saved_of(whole.states[start]))
        found = toy.go_on(program, start, range(start + 1, STEPS + 1))
        assert bits(found.losses) == bits(whole.losses[:, start:])
        assert bits(found.states[-1]) == bits(whole.states[-1])


def saved_of(state):
    leaves, _ = jax.tree_util.tree_flatten_with_path(state)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


@pytest.mark.bits
def test_beginning_twice_gives_the_same(program):
    found = []
    for _ in range(2):
        program.begin()
        found.append(bits(program.states()) + bits(program.probe()) + bits(program.facts()))
    assert found[0] == found[1]


@pytest.mark.bits
def test_what_is_computed_behind_the_last_point_kept_is_no_part_of_the_states(program, whole):
    """A run may be cut off at any moment: it goes on from where everything is known of it."""
    program.begin()
    program.advance(0, 5)
    program.keep()
    program.advance(5, 7)
    assert bits(toy.state_of(program)) == bits(whole.states[5])


def test_the_plateau_schedule_is_at_work_in_this_run(whole):
    """Else the tests above would say nothing about its memory."""
    scales = [np.asarray(state.optimiser[2].scale) for state in whole.states]
    assert (scales[-1] < scales[0]).any()


def only(*members: int) -> np.ndarray:
    return np.isin(np.arange(len(FIVE)), members)


def stopping(program, start: int, stops: dict[int, np.ndarray], last: int) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Step -> losses of the two steps up to it, and guesses; some members are retired at some steps."""
    seen = {}
    for step in range(start + 2, last + 1, 2):
        seen[step] = program.advance(step - 2, step), program.probe()["guess"]
        program.retire(stops.get(step, only()))
        program.keep()
    return seen


PACKS = pytest.mark.parametrize(("together", "fewest"), [(1, 1), (2, 1), (5, 1), (5, 8)])
"""In turn; in pairs, of which the last is filled up; five side by side, whose pack shrinks, or is too small to."""


@pytest.fixture
def five(together, fewest, monkeypatch):
    monkeypatch.setattr("headway.training.program.FEWEST", fewest)
    found = toy.program(toy.members(FIVE), together)
    found.begin()
    return found


@PACKS
def test_those_who_go_on_do_not_notice_that_others_stop(five):
    whole = toy.run(five, range(0, 9, 2))
    five.begin()
    found = stopping(five, 0, {2: only(0, 2, 3), 4: only(4)}, 8)
    for step, (losses, guesses) in found.items():
        alive = only(*FIVE) if step == 2 else only(1, 4) if step == 4 else only(1)
        np.testing.assert_allclose(losses[alive], whole.losses[alive, step - 2 : step], rtol=1e-5)
        np.testing.assert_allclose(guesses[alive], whole.guesses[alive, step // 2], atol=1e-6)
        assert np.isnan(losses[~alive]).all() and np.isnan(guesses[~alive]).all()
    assert five.running.tolist() == only(1).tolist()


@PACKS
def test_those_who_stopped_stay_as_they_were_at_their_last_step(five):
    whole = toy.run(five, range(0, 9, 2))
    five.begin()
    stopping(five, 0, {2: only(0, 3), 6: only(1)}, 8)
    found = toy.state_of(five)
    for member, stop in {0: 2, 1: 6, 2: 8, 3: 2, 4: 8}.items():
        wanted = of_member(whole.states[stop // 2], member)
        for a, b in zip(jax.tree.leaves(of_member(found, member)), jax.tree.leaves(wanted), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-6)


@PACKS
def test_a_saved_program_goes_on_as_if_nothing_had_happened(five):
    """Two have stopped when it is saved; what was computed behind the last `keep` does not count."""
    whole = toy.run(five, range(0, 9, 2))
    five.begin()
    stopping(five, 0, {4: only(1, 2)}, 4)
    five.advance(4, 6)
    saved = five.states()
    assert {len(values) for values in saved.values()} == {5}
    five.begin(~only(1, 2), saved)
    assert bits(five.states()) == bits(saved)
    found = stopping(five, 4, {}, 8)
    alive = only(0, 3, 4)
    for step, (losses, guesses) in found.items():
        np.testing.assert_allclose(losses[alive], whole.losses[alive, step - 2 : step], rtol=1e-5)
        np.testing.assert_allclose(guesses[alive], whole.guesses[alive, step // 2], atol=1e-6)
        assert np.isnan(losses[~alive]).all()


@PACKS
def test_a_member_that_stopped_is_not_said_to_diverge_behind_that(five, together, fewest):
    """It may be computed on beside others in its pack; nobody looks at it any more."""
    spoilt = toy.program(toy.members(FIVE, spoilt_at=[6, 0, 6, 0, 0]), together)
    spoilt.begin()
    stopping(spoilt, 0, {4: only(0)}, 8)
    assert spoilt.diverged_at().tolist() == [-1, -1, 6, -1, -1]


@PACKS
def test_facts_are_everybody_s_whoever_has_stopped(five):
    wanted = five.facts()["power"]
    assert np.isfinite(wanted).all()
    saved = five.states()
    other = toy.program(toy.members(FIVE), five._together)
    other.begin(only(2), saved)
    np.testing.assert_array_equal(other.facts()["power"], wanted)
