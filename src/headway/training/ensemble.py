"""Train many members that stop each at its own time; knows neither tasks nor models nor disks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int, PyTree

from headway.training.checkpoint import fill, flatten
from headway.training.train import Member

FEWEST = 8
"""A pack of so many is not made smaller: on a GPU it takes as long as one member, and one more program to compile."""


@dataclass(frozen=True)
class Lesson:
    """What a member minimises and what is looked at: pure functions for one member."""

    begin: Callable[[Member], tuple[PyTree, PyTree]]
    """Member -> (model, data), both functions of the member alone."""
    loss: Callable[[PyTree, Member, PyTree, Int[Array, ""]], Float[Array, ""]]
    """(model, member, data, step) -> mean loss of the step's fresh batch."""
    optimiser: optax.GradientTransformation
    probe: Callable[[PyTree, Member, PyTree], dict[str, Array]]
    """(model, member, data) -> named measurements."""


class State(NamedTuple):
    """What a checkpoint has to hold; every leaf has a leading member axis."""

    model: PyTree
    optimiser: optax.OptState


@dataclass(frozen=True)
class Pack:
    """Members that are computed side by side, and where they stand among all."""

    rows: Int[np.ndarray, " packed"]
    members: Member
    data: PyTree
    state: State


class Ensemble:
    """Members at the same step, in packs; a pack of which most have stopped is packed anew.

    A new size of a pack costs a compilation, so sizes are halved at least and are powers of two; where those that
    still run are fewer, some that have stopped go along and nobody looks at them.
    """

    def __init__(self, lesson: Lesson, members: Member, together: int, chunk: int):
        """Packs of `together` members at most; steps are made `chunk` at a time."""
        self.running = np.ones(len(members.seed), bool)
        self._members, self._together, self._chunk = members, together, chunk
        self._lesson = lesson
        self._packs: list[Pack] = []
        self._kept: list[Pack] = []

    def begin(
        self, running: Bool[np.ndarray, " member"] | None = None, saved: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """Start the members that are running, afresh or from their `saved` states, which lie in the members' order."""
        self.running = np.ones_like(self.running) if running is None else running.copy()
        rows = np.flatnonzero(self.running)
        self._packs = []
        for first in range(0, len(rows), self._together):
            own = rows[first : first + self._together]
            members = jax.tree.map(lambda leaf, own=own: leaf[own], self._members)
            state, data = _begin(self._lesson, members)
            if saved is not None:
                state = fill(state, {name: values[first : first + len(own)] for name, values in saved.items()})
            self._packs.append(Pack(own, members, data, state))
        self.keep()

    def advance(self, start: int, stop: int) -> Float[np.ndarray, " member"]:
        """Steps start .. stop-1, a multiple of the chunk; the mean loss of each running member, NaN for the others."""
        losses, packs = np.full(len(self.running), np.nan, np.float32), []
        for pack in self._packs:
            state, means = pack.state, []
            for step in range(start, stop, self._chunk):
                state, mean = _advance(self._lesson, self._chunk, state, pack.members, pack.data, step)
                means.append(mean)
            packs.append(replace(pack, state=state))
            losses[pack.rows] = np.mean([np.asarray(mean) for mean in means], axis=0)
        losses[~self.running] = np.nan
        self._packs = packs
        return losses

    def probe(self) -> dict[str, np.ndarray]:
        """Every measurement, (member, ...), NaN for members that have stopped."""
        found: dict[str, np.ndarray] = {}
        for pack in self._packs:
            for name, values in _probe(self._lesson, pack.state, pack.members, pack.data).items():
                empty = np.full((len(self.running), *values.shape[1:]), np.nan, np.float32)
                kept = self.running[pack.rows]
                found.setdefault(name, empty)[pack.rows[kept]] = np.asarray(values)[kept]
        return found

    def retire(self, members: Bool[np.ndarray, " member"]) -> None:
        """These members have stopped."""
        self.running &= ~members
        self._packs = [self._smaller(pack) for pack in self._packs if self.running[pack.rows].any()]

    def keep(self) -> None:
        """From here one could go on: what is computed behind this point may be cut off at any moment."""
        self._kept = self._packs

    def states(self, members: Bool[np.ndarray, " member"]) -> dict[str, np.ndarray]:
        """What was kept of those of the members that are running, in the members' order, as `begin` takes it."""
        wanted = members & self.running
        parts = [
            flatten(jax.tree.map(lambda leaf, own=wanted[pack.rows]: leaf[np.flatnonzero(own)], pack.state))
            for pack in self._kept
            if wanted[pack.rows].any()
        ]
        order = np.concatenate([pack.rows[wanted[pack.rows]] for pack in self._kept] or [np.empty(0, int)])
        names = parts[0] if parts else {}
        return {name: np.concatenate([part[name] for part in parts])[np.argsort(order)] for name in names}

    def _smaller(self, pack: Pack) -> Pack:
        alive = np.flatnonzero(self.running[pack.rows])
        size = max(FEWEST, 1 << (len(alive) - 1).bit_length())
        if 2 * len(alive) > len(pack.rows) or size >= len(pack.rows):
            return pack
        stopped = np.flatnonzero(~self.running[pack.rows])
        kept = np.sort(np.concatenate([alive, stopped[: size - len(alive)]]))
        inner = jax.tree.map(lambda leaf: leaf[kept], (pack.members, pack.data, pack.state))
        return Pack(pack.rows[kept], *inner)


# Compiled once for a lesson, whichever ensemble asks: an equal lesson is the same lesson.


@partial(jax.jit, static_argnums=0)
def _begin(lesson: Lesson, members: Member) -> tuple[State, PyTree]:
    def one(member: Member) -> tuple[State, PyTree]:
        model, data = lesson.begin(member)
        return State(model, lesson.optimiser.init(model)), data

    return jax.vmap(one)(members)


@partial(jax.jit, static_argnums=(0, 1))
def _advance(lesson: Lesson, steps: int, states: State, members: Member, data: PyTree, start) -> tuple[State, Array]:
    """So many steps of every member, and the mean of their losses."""

    def one(state: State, member: Member, data: PyTree) -> tuple[State, Float[Array, ""]]:
        def step(state: State, number):
            loss, grads = jax.value_and_grad(lesson.loss)(state.model, member, data, number)
            updates, inner = lesson.optimiser.update(grads, state.optimiser, state.model)
            return State(optax.apply_updates(state.model, updates), inner), loss

        state, losses = jax.lax.scan(step, state, start + jnp.arange(steps))
        return state, jnp.mean(losses)

    return jax.vmap(one)(states, members, data)


@partial(jax.jit, static_argnums=0)
def _probe(lesson: Lesson, states: State, members: Member, data: PyTree) -> dict[str, Array]:
    return jax.vmap(lambda state, member, data: lesson.probe(state.model, member, data))(states, members, data)
