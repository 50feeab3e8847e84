"""Train many members at once; knows neither tasks nor models nor disks."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, Integer, PRNGKeyArray, PyTree

from headway.training.gradient import BatchGradient

EXPLODED = 1e4
"""A loss beyond this many nats, or one that is not a number, counts as divergence."""


class Member(NamedTuple):
    """One run of a program: its seed, its own numbers, and whatever else it is given."""

    seed: Integer[Array, ""]
    numbers: Any
    given: PyTree


@dataclass(frozen=True)
class Problem:
    """What a member minimises and what is looked at: pure functions for one member.

    A new measurement is a new key in `probe`.
    """

    begin: Callable[[Member], tuple[PyTree, PyTree]]
    """Member -> (model, data)."""
    draw: Callable[[Member, PyTree, Int[Array, ""]], tuple[PyTree, Bool[Array, " batch"]]]
    """(member, data, step) -> the step's examples, and which of them are real."""
    gradient: BatchGradient
    optimiser: Callable[[Member], optax.GradientTransformationExtraArgs]
    rate: Callable[[Member, optax.OptState], Float[Array, ""]]
    probe: Callable[[PyTree, PyTree], dict[str, Array]]
    """(model, data) -> named measurements."""
    facts: Callable[[PyTree], dict[str, Array]]
    """data -> what does not change along the run."""
    noise_key: Callable[[Member, Int[Array, ""]], PRNGKeyArray]
    """The key of a noisy step."""
    noisy_every: int
    """0: no step has noise, 1: every step, n: the first of every n steps."""


class State(NamedTuple):
    """What a checkpoint has to hold; every leaf has a leading member axis."""

    model: PyTree
    optimiser: optax.OptState
    diverged_at: Int[Array, ""]


@dataclass(frozen=True)
class Stretch:
    """What happened up to `step`: the loss of every step since the last stretch and, at an evaluation, the probe."""

    step: int
    losses: Float[np.ndarray, "member steps"]
    probe: dict[str, np.ndarray] | None


@dataclass(frozen=True)
class Segment(Stretch):
    """A stretch and the states at its end, which are large and lie on the device."""

    state: State

    @property
    def stretch(self) -> Stretch:
        """Only what is small, so that many can be kept."""
        return Stretch(self.step, self.losses, self.probe)


class Program:
    """A problem compiled once for all its members."""

    def __init__(self, problem: Problem, members: Member, together: int):
        """Members train so many `together`: one after the other is what caches like, side by side what GPUs like."""
        self.members = members
        self.problem = problem
        self._over = jax.vmap if together >= len(members.seed) > 1 else _in_groups(together)
        self._begin = jax.jit(lambda members: self._over(self._begin_member)(members))
        self._advance = jax.jit(self._advance_all, static_argnames="room")
        self._probe = jax.jit(lambda states, members, data: self._over(self._probe_member)((states, members, data)))
        self.facts = jax.jit(lambda data: self._over(problem.facts)(data))

    def begin(self) -> tuple[State, PyTree]:
        """Fresh states and the members' data, both functions of the seeds alone."""
        return self._begin(self.members)

    def train(
        self, state: State, data: PyTree, start: int, evaluations: Sequence[int], room: int = 64
    ) -> Iterator[Segment]:
        """Go from step `start` through the evaluations, yielding at least every `room` steps and at least once."""
        nothing = np.zeros((len(self.members.seed), 0), np.float32)
        ahead = [goal for goal in evaluations if goal > start]
        if start == 0 and evaluations and evaluations[0] == 0:
            yield Segment(0, nothing, self._measure(state, data), state)
        elif not ahead:  # Stopped behind the last evaluation, which was kept: only the state is wanted.
            yield Segment(start, nothing, None, state)
        step = start
        for goal in ahead:
            while step < goal:
                stop = min(goal, step + room)
                state, losses = self._advance(state, self.members, data, step, stop, room=room)
                probe = self._measure(state, data) if stop == goal else None
                yield Segment(stop, np.asarray(losses)[:, : stop - step], probe, state)
                step = stop

    def _measure(self, state: State, data: PyTree) -> dict[str, np.ndarray]:
        return {name: np.asarray(value) for name, value in self._probe(state, self.members, data).items()}

    def _begin_member(self, member: Member) -> tuple[State, PyTree]:
        model, data = self.problem.begin(member)
        return State(model, self.problem.optimiser(member).init(model), jnp.asarray(-1, jnp.int32)), data

    def _probe_member(self, everything: tuple[State, Member, PyTree]) -> dict[str, Array]:
        state, member, data = everything
        measured = self.problem.probe(state.model, data)
        return {**measured, "learning_rate": self.problem.rate(member, state.optimiser)}

    def _advance_all(self, states, members, data, start, stop, *, room):
        """Steps start .. stop-1; the bounds are traced, so that segments of any length share one compilation."""

        def step_all(step, carry):
            states, losses = carry
            # The step is shared by all members, so that a branch on it stays a branch.
            states, loss = self._over(lambda each: self._step(step, *each))((states, members, data))
            return states, losses.at[:, step - start].set(loss)

        losses = jnp.zeros((len(members.seed), room), jnp.float32)
        return jax.lax.fori_loop(start, stop, step_all, (states, losses))

    def _step(self, step, state: State, member: Member, data: PyTree) -> tuple[State, Float[Array, ""]]:
        examples, real = self.problem.draw(member, data, step)
        value, grads = self._gradient(step, state.model, member, examples, real)
        optimiser = self.problem.optimiser(member)
        updates, inner = optimiser.update(grads, state.optimiser, state.model, value=value)
        model = optax.apply_updates(state.model, updates)
        sound = jnp.isfinite(value) & (value < EXPLODED) & jnp.isfinite(optax.tree.norm(grads)) & _all_finite(model)
        diverged_at = jnp.where((state.diverged_at < 0) & ~sound, step + 1, state.diverged_at).astype(jnp.int32)
        # A diverged member stands still before the step, with finite weights; the others do not notice.
        alive = diverged_at < 0
        keep = lambda new, old: jnp.where(alive, new, old)  # noqa: E731
        new = State(jax.tree.map(keep, model, state.model), jax.tree.map(keep, inner, state.optimiser), diverged_at)
        return new, value.astype(jnp.float32)

    def _gradient(self, step, model, member, examples, real):
        def gradient(key):
            dtype = jax.tree.leaves(model)[0].dtype
            return self.problem.gradient(model, examples, real.astype(dtype), key)

        every = self.problem.noisy_every
        if every == 0:
            return gradient(None)
        key = self.problem.noise_key(member, step)
        if every == 1:
            return gradient(key)
        return jax.lax.cond(step % every == 0, gradient, lambda _: gradient(None), key)


def _all_finite(tree: PyTree) -> Bool[Array, ""]:
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(tree)]))


def _in_groups(size: int) -> Callable:
    """Like vmap, `size` members after the other."""
    return lambda function: lambda stacked: jax.lax.map(function, stacked, batch_size=None if size == 1 else size)
