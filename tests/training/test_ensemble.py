"""An ensemble: members that stop at their own times, each as if it were alone."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from headway.training.ensemble import Ensemble, Lesson
from headway.training.train import Member

CHUNK = 2
SEEDS = (0, 1, 2, 3, 4)


def begin(member: Member):
    return {"slope": jax.random.normal(jax.random.key(member.seed), (3,))}, jnp.full(3, member.numbers)


def loss(model, member: Member, wanted, step):
    """Fresh points on a line through the origin, another line for each member."""
    x = jax.random.normal(jax.random.fold_in(jax.random.key(member.seed), step), (4, 3))
    return jnp.mean((x @ (model["slope"] - wanted)) ** 2)


LESSON = Lesson(begin, loss, optax.adam(0.1), lambda model, member, wanted: {"error": model["slope"] - wanted})


@cache
def ensemble(together: int) -> Ensemble:
    members = Member(jnp.asarray(SEEDS, jnp.uint32), jnp.linspace(1.0, 2.0, len(SEEDS)), ())
    return Ensemble(LESSON, members, together, CHUNK)


def only(*members: int) -> np.ndarray:
    return np.isin(np.arange(len(SEEDS)), members)


def run(
    each: Ensemble, start: int, stops: dict[int, np.ndarray], last: int
) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Step -> mean losses and errors; some members are retired at some steps."""
    seen = {}
    for step in range(start + CHUNK, last + 1, CHUNK):
        losses = each.advance(step - CHUNK, step)
        seen[step] = losses, each.probe()["error"]
        each.retire(stops.get(step, only()))
        each.keep()
    return seen


def undisturbed(together: int):
    each = ensemble(together)
    each.begin()
    return run(each, 0, {}, 8)


def test_a_member_takes_adams_steps_on_its_own_batches():
    """The same in NumPy."""
    found = undisturbed(1)
    for row, seed in enumerate(SEEDS):
        key = jax.random.key(seed)
        wanted, slope = np.full(3, np.linspace(1, 2, len(SEEDS))[row]), np.asarray(jax.random.normal(key, (3,)), float)
        mean, square, losses = np.zeros(3), np.zeros(3), []
        for step in range(8):
            x = np.asarray(jax.random.normal(jax.random.fold_in(key, step), (4, 3)), float)
            error = x @ (slope - wanted)
            losses.append(np.mean(error**2))
            gradient = 2 * x.T @ error / 4
            mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient**2
            slope = slope - 0.1 * (mean / (1 - 0.9 ** (step + 1))) / (
                np.sqrt(square / (1 - 0.999 ** (step + 1))) + 1e-8
            )
        assert found[8][0][row] == pytest.approx(np.mean(losses[-2:]), rel=1e-4)
        np.testing.assert_allclose(found[8][1][row], slope - wanted, atol=1e-5)


@pytest.mark.parametrize("together, fewest", [(1, 1), (5, 1), (5, 8)])
def test_those_who_go_on_do_not_notice_that_others_stop(together, fewest, monkeypatch):
    """With five side by side, three that stop leave a pack of two, unless it is too small to be worth it."""
    monkeypatch.setattr("headway.training.ensemble.FEWEST", fewest)
    whole, each = undisturbed(together), ensemble(together)
    each.begin()
    found = run(each, 0, {2: only(0, 2, 3), 4: only(4)}, 8)
    for step, (losses, errors) in found.items():
        alive = only(*SEEDS) if step == 2 else only(1, 4) if step == 4 else only(1)
        np.testing.assert_allclose(losses[alive], whole[step][0][alive], rtol=1e-5)
        np.testing.assert_allclose(errors[alive], whole[step][1][alive], atol=1e-6)
        assert np.isnan(losses[~alive]).all() and np.isnan(errors[~alive]).all()


@pytest.mark.parametrize("together", [1, 5])
def test_a_saved_ensemble_goes_on_as_if_nothing_had_happened(together):
    """Two have stopped when it is saved; what was computed behind the last `keep` does not count."""
    whole, each = undisturbed(together), ensemble(together)
    each.begin()
    run(each, 0, {4: only(1, 2)}, 4)
    each.advance(4, 6)
    saved = each.states(only(*SEEDS))
    assert {len(values) for values in saved.values()} == {3}
    each.begin(~only(1, 2), saved)
    found = run(each, 4, {}, 8)
    for step, (losses, errors) in found.items():
        alive = only(0, 3, 4)
        np.testing.assert_allclose(losses[alive], whole[step][0][alive], rtol=1e-5)
        np.testing.assert_allclose(errors[alive], whole[step][1][alive], atol=1e-6)


def test_states_of_some_members_come_in_the_order_of_the_members():
    each = ensemble(2)
    each.begin()
    run(each, 0, {2: only(0)}, 2)
    everything, some = each.states(only(*SEEDS)), each.states(only(0, 2, 4))
    for name, values in everything.items():
        np.testing.assert_array_equal(some[name], values[[1, 3]])
