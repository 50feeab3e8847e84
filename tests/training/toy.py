"""A problem small enough to follow by hand: linear regression on ten samples, in batches of four."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from headway.models.gradient import batch_gradient
from headway.settings import TrainingSettings
from headway.training.checkpoint import fill
from headway.training.data import epoch_batch
from headway.training.optimisers import Rates, current_rate, optimiser
from headway.training.program import Program
from headway.training.steps import Member, Problem, State

SAMPLES, BATCH, STEPS = 10, 4, 12
EPOCH = 3
SGD = TrainingSettings(optimiser="sgd", schedule="constant")
ADAMW = TrainingSettings(optimiser="adamw", schedule="plateau", patience=0)


class Numbers(NamedTuple):
    rates: Rates
    spoilt_at: jax.Array
    """At this step (the first is 1) the examples' targets are multiplied by `spoilt_by`."""
    spoilt_by: jax.Array


def members(
    seeds: Sequence[int],
    learning_rates: Sequence[float] | float = 0.05,
    spoilt_at: Sequence[int] | int = 0,
    spoilt_by: float = np.nan,
) -> Member:
    def each(value: object, kind: type) -> jax.Array:
        return jnp.asarray(np.broadcast_to(np.asarray(value, kind), len(seeds)))

    rates = Rates(each(learning_rates, np.float32), *(each(value, np.float32) for value in (0.01, 0.9, 0.0)))
    numbers = Numbers(rates, each(spoilt_at, np.int32), each(spoilt_by, np.float32))
    return Member(each(seeds, np.uint32), numbers, ())


@functools.cache
def problem(settings: TrainingSettings = ADAMW, noisy_every: int = 0, chunk: int = BATCH) -> Problem:
    def begin(member: Member):
        # Made without a random generator, which would take most of the time to compile.
        place = jnp.arange(4 * SAMPLES).reshape(SAMPLES, 4) + 0.3 * member.seed
        table = 2 * jnp.sin(place**2)
        return {"slope": jnp.cos(jnp.arange(3) + member.seed), "level": jnp.zeros(())}, {
            "x": table[:, 1:],
            "y": table[:, 0],
        }

    def draw(member: Member, data, step):
        places, real = epoch_batch(jax.random.key(member.seed), step, SAMPLES, SAMPLES, BATCH)
        spoil = jnp.where(step + 1 == member.numbers.spoilt_at, member.numbers.spoilt_by, 1.0)
        return (data["x"][places], data["y"][places] * spoil), real

    def loss(model, example, key):
        x, y = example
        if key is not None:
            x = x * jax.random.bernoulli(key, 0.5, x.shape)
        return 0.5 * (x @ model["slope"] + model["level"] - y) ** 2

    return Problem(
        begin=begin,
        draw=draw,
        gradient=lambda _member: (
            lambda model, examples, weights, key: batch_gradient(loss, model, examples, weights, key, chunk)
        ),
        optimiser=lambda member: optimiser(settings, member.numbers.rates, EPOCH),
        rate=lambda member, state: current_rate(settings, member.numbers.rates, state),
        probe=lambda model, _member, data: {"guess": data["x"] @ model["slope"] + model["level"]},
        facts=lambda _member, data: {"power": jnp.mean(data["y"] ** 2)},
        noise_key=lambda member, step: jax.random.fold_in(jax.random.key(member.seed), step),
        noisy_every=noisy_every,
    )


def program(members: Member, together: int = 1, settings: TrainingSettings = ADAMW, noisy_every: int = 0) -> Program:
    """Programs of equally many members, of one problem, share their compilation."""
    return Program(problem(settings, noisy_every), members, together)


class Run(NamedTuple):
    """What a program did, member by member."""

    losses: np.ndarray
    guesses: np.ndarray
    states: list[State]
    """After each stop."""


def run(program: Program, stops: Sequence[int] = tuple(range(STEPS + 1))) -> Run:
    """From the beginning, measured at every stop."""
    program.begin()
    return go_on(program, 0, stops)


def go_on(program: Program, start: int, stops: Sequence[int]) -> Run:
    """From where the program is."""
    losses, guesses, states = [np.zeros((len(program.running), 0), np.float32)], [], []
    for stop in stops:
        if stop > start:
            losses.append(program.advance(start, stop))
        start = stop
        program.keep()
        guesses.append(program.probe()["guess"])
        states.append(state_of(program))
    return Run(np.concatenate(losses, axis=1), np.stack(guesses, axis=1), states)


def state_of(program: Program) -> State:
    """What was kept of every member."""
    template, _ = jax.eval_shape(jax.vmap(lambda member: _begun(program.problem, member)), program.members)
    return fill(template, program.states())


def _begun(problem: Problem, member: Member):
    model, data = problem.begin(member)
    memory = problem.optimiser(member).init(model)
    return State(model, memory, jnp.asarray(-1, jnp.int32), jnp.asarray(jnp.nan, jnp.float32)), data


def bits(tree: object) -> list[tuple[str, bytes]]:
    """Every bit of every array of a tree."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return [(jax.tree_util.keystr(path), np.asarray(leaf).tobytes()) for path, leaf in leaves]


def of_member(tree: object, member: int) -> object:
    return jax.tree.map(lambda leaf: leaf[member], tree)
