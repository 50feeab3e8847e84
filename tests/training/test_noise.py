"""Noise, such as dropout, acts on the steps that it should act on."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from tests.training import toy
from tests.training.toy import SAMPLES, STEPS, bits

from headway.training.program import Program

SEEDS = (3, 4, 5)


@pytest.fixture
def programs():
    """By how often a step has noise."""
    return {every: toy.program(toy.members(SEEDS), noisy_every=every) for every in (0, 1, 3)}


def test_the_first_of_every_three_steps_is_noisy_and_the_others_are_silent(programs):
    programs[3].begin()
    saved = programs[3].states()
    for step in range(STEPS):
        after = []
        for program in programs.values():
            program.begin(saved=saved)
            losses = program.advance(step, step + 1)
            program.keep()
            after.append(np.append(losses, program.states()[".model['slope']"]))
        silent, noisy, now_and_then = after
        assert not np.isclose(silent, noisy, rtol=1e-4).all()
        np.testing.assert_allclose(now_and_then, noisy if step % 3 == 0 else silent, rtol=1e-6)
        saved = programs[3].states()


def test_noise_is_another_one_at_every_step_and_for_every_seed_and_can_be_drawn_again():
    """With the same examples at every step and a rate of zero, the loss changes by its noise alone."""
    everything = lambda member, data, step: ((data["x"], data["y"]), jnp.ones(SAMPLES, bool))  # noqa: E731
    problem = replace(toy.problem(noisy_every=1), draw=everything)
    program = Program(problem, toy.members((3, 3, 4), 0.0), together=1)
    losses = toy.run(program).losses
    assert bits(toy.run(program).losses) == bits(losses)
    assert bits(losses[0]) == bits(losses[1])
    assert len(np.unique(losses[1:])) == 2 * STEPS
