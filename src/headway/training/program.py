"""Train many members at once, each until it is to stop; knows neither tasks nor models nor disks."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.stages import Wrapped
from jaxtyping import Array, Bool, Float, Int, Integer, PRNGKeyArray, PyTree

from headway.models.gradient import BatchGradient
from headway.training.checkpoint import fill, flatten

EXPLODED = 1e4
"""A loss beyond this, or one that is not a number, counts as divergence."""
ROOM = 64
"""Steps that one call of the compiled program makes at most."""
_LEVEL = "xla_backend_optimization_level"
MOST_KEPT = 4
"""Problems whose compiled functions stay when nobody uses them: the next program may be about the same one."""
FEWEST = 8
"""A pack of so many is not made smaller: on a GPU it takes as long as one member, and one more program to compile."""


class Member(NamedTuple):
    """One run of a program: its seed, its own numbers, and whatever else it is given."""

    seed: Integer[Array, ""]
    numbers: Any
    given: PyTree
    world: PyTree = ()
    """What it has to learn, where that was drawn outside of the program."""
    shared: PyTree = ()
    """What all members have in common, without an axis of theirs; filled in where a program computes."""


@dataclass(frozen=True)
class Problem:
    """What a member minimises and what is measured: pure functions for one member.

    A new measurement is a new key in `probe`.
    """

    begin: Callable[[Member], tuple[PyTree, PyTree]]
    """Member -> (model, data), both functions of the member alone."""
    draw: Callable[[Member, PyTree, Int[Array, ""]], tuple[PyTree, Bool[Array, " batch"]]]
    """(member, data, step) -> the step's examples, and which of them are real."""
    gradient: Callable[[Member], BatchGradient]
    optimiser: Callable[[Member], optax.GradientTransformationExtraArgs]
    rate: Callable[[Member, optax.OptState], Float[Array, ""]]
    probe: Callable[[PyTree, Member, PyTree], dict[str, Array]]
    """(model, member, data) -> named measurements."""
    facts: Callable[[Member, PyTree], dict[str, Array]]
    """(member, data) -> what does not change along the run."""
    noise_key: Callable[[Member, Int[Array, ""]], PRNGKeyArray]
    """The key of a noisy step."""
    noisy_every: int
    """0: no step has noise, 1: every step, n: the first of every n steps."""


class State(NamedTuple):
    """What a checkpoint has to hold; every leaf has a leading member axis."""

    model: PyTree
    optimiser: optax.OptState
    diverged_at: Int[Array, ""]
    gradient_norm: Float[Array, ""]
    """Of the last step of a call, before it was clipped; not a number before the first."""


@dataclass(frozen=True)
class Pack:
    """Members that are computed side by side, and where they stand among all; the last may be there to fill up."""

    rows: Int[np.ndarray, " packed"]
    real: int
    """How many of the rows count."""
    members: Member
    data: PyTree
    state: State

    @property
    def own(self) -> Int[np.ndarray, " real"]:
        return self.rows[: self.real]


class Program:
    """Members at the same step, in packs; a pack of which most have stopped is packed anew.

    A new size of a pack costs a compilation, so sizes are halved at least and are powers of two; where those that
    still run are fewer, some that have stopped go along and nobody looks at them.
    """

    def __init__(self, problem: Problem, members: Member, together: int, shared: PyTree = ()):
        """Packs of `together` members: one after the other is what caches like, side by side what GPUs like.

        `shared` is the same for all of them. It goes to the device once and is an input of what is compiled: large
        arrays are neither constants in its code nor copied from member to member.
        """
        self.running = np.ones(len(members.seed), bool)
        self.problem, self.members, self._together = problem, members, together
        self._shared = jax.device_put(shared)
        self._compiled = _compiled(problem)
        self._packs: list[Pack] = []
        self._kept: list[Pack] = []
        self._stopped: dict[int, State] = {}
        self._facts: dict[str, np.ndarray] | None = None
        self._ahead: dict[str, Future[None]] = {}
        self._behind: list[Callable[[], None]] = []

    def compile_ahead(self, within: Callable[[], AbstractContextManager[None]]) -> None:
        """Steps and measurements are compiled side by side while the members begin; `within` sets a thread up.

        The facts follow behind the first steps, because nobody waits for them until the end. Whoever needs one first
        waits for it. What goes wrong here goes wrong there again, and is reported there.
        """
        rows = np.arange(len(self.running))[: self._together]
        members = _rows(self.members, rows)
        state, data = jax.eval_shape(self._compiled.begin, self._shared, members)
        # Before the threads want Python's lock: XLA, which needs none, then compiles the beginning beside them.
        self._compiled.begin.lower(self._shared, members)
        asked = {"advance": (state, members, data, 0, 1), "probe": (state, members, data), "facts": (members, data)}

        def compile(name: str) -> None:
            with within():
                getattr(self._compiled, name).lower(self._shared, *asked[name]).compile()

        def start(*names: str) -> None:
            pool = ThreadPoolExecutor(min(len(names), os.cpu_count() or 1))
            self._ahead |= {name: pool.submit(compile, name) for name in names}
            pool.shutdown(wait=False)

        start("advance", "probe")
        self._behind = [partial(start, "facts")]

    def _ready(self, name: str) -> Callable[..., Any]:
        """A compiled function; should it be compiled in a thread, not twice."""
        if name in self._ahead:
            wait([self._ahead.pop(name)])
        return getattr(self._compiled, name)

    def begin(
        self, running: Bool[np.ndarray, " member"] | None = None, saved: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """Start the members, afresh or, those that are `running`, from their `saved` states in the members' order."""
        everybody = np.arange(len(self.running))
        self._packs, self._stopped = [], {}
        self.running = np.ones_like(self.running)
        for first in range(0, len(everybody), self._together):
            own = everybody[first : first + self._together]
            # Packs of one size share one compilation: the last is filled up with members that nobody looks at.
            rows = np.resize(own, self._together) if first else own
            members = _rows(self.members, rows)
            state, data = self._compiled.begin(self._shared, members)
            if saved is not None:
                state = fill(state, {name: values[rows] for name, values in saved.items()})
            self._packs.append(Pack(rows, len(own), members, data, state))
        if running is not None and not running.all():
            self.retire(~running)
        self.keep()

    def advance(self, start: int, stop: int) -> Float[np.ndarray, "member steps"]:
        """Steps start .. stop-1, at most `ROOM`; the loss of each running member, NaN for the others."""
        shape = len(self.running), stop - start
        losses, packs = np.full(shape, np.nan, jnp.result_type(float)), []
        for pack in self._packs:
            state, found = self._ready("advance")(self._shared, pack.state, pack.members, pack.data, start, stop)
            packs.append(replace(pack, state=state))
            losses[pack.own] = np.asarray(found)[: pack.real, : stop - start]
        losses[~self.running] = np.nan
        self._packs = packs
        while self._behind:
            self._behind.pop()()
        return losses

    def probe(self) -> dict[str, np.ndarray]:
        """Every measurement, (member, ...), NaN for members that have stopped."""
        return self._gather(lambda pack: self._ready("probe")(self._shared, pack.state, pack.members, pack.data))

    def facts(self) -> dict[str, np.ndarray]:
        """What does not change along the run."""
        if self._facts is None:
            self._facts = self._gather(lambda pack: self._ready("facts")(self._shared, pack.members, pack.data))
        return self._facts

    def _gather(self, compute: Callable[[Pack], Mapping[str, Array]]) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for pack in self._packs:
            kept = np.flatnonzero(self.running[pack.own])
            for name, values in compute(pack).items():
                if name not in found:
                    found[name] = np.full((len(self.running), *values.shape[1:]), np.nan, values.dtype)
                found[name][pack.own[kept]] = np.asarray(values)[kept]
        return found

    def diverged_at(self) -> Int[np.ndarray, " member"]:
        """The step after which each member stood still; -1 for the others."""
        found = np.full(len(self.running), -1, np.int64)
        for pack in self._packs:
            found[pack.own] = np.asarray(pack.state.diverged_at)[: pack.real]
        # Last: who has stopped may be computed on beside others, and nobody looks.
        for row, state in self._stopped.items():
            found[row] = int(state.diverged_at)
        return found

    def retire(self, members: Bool[np.ndarray, " member"]) -> None:
        """These members have stopped."""
        if members.any():
            self.facts()  # while everybody's data are here
        self._let_go(members)
        self.running &= ~members
        self._packs = [self._smaller(pack) for pack in self._packs if self.running[pack.own].any()]

    def _let_go(self, members: Bool[np.ndarray, " member"]) -> None:
        """Remember how these ended."""
        for pack in self._packs:
            for place in np.flatnonzero(members[pack.own]):
                row = int(pack.own[place])
                # In NumPy, and a copy: with JAX every shape would be a program, and a view would hold all of the pack.
                own = jax.tree.map(lambda leaf, at=place: np.array(np.asarray(leaf)[at]), pack.state)
                self._stopped.setdefault(row, own)

    def keep(self) -> None:
        """From here one could go on: what is computed behind this point may be cut off at any moment."""
        self._kept = self._packs

    def states(self) -> dict[str, np.ndarray]:
        """What was kept of every member, in the members' order, as `begin` takes it."""
        return self._flattened(lambda state: state)

    def models(self) -> dict[str, np.ndarray]:
        """The same of the models alone, by the names of their own arrays."""
        return self._flattened(lambda state: state.model)

    def _flattened(self, part: Callable[[State], PyTree]) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        held = [
            (pack.own, {name: values[: pack.real] for name, values in flatten(part(pack.state)).items()})
            for pack in self._kept
        ]
        held += [
            (np.array([row]), flatten(jax.tree.map(lambda leaf: leaf[None], part(state))))
            for row, state in self._stopped.items()
        ]
        for rows, arrays in held:
            for name, values in arrays.items():
                if name not in found:
                    found[name] = np.zeros((len(self.running), *values.shape[1:]), values.dtype)
                found[name][rows] = values
        return found

    def _smaller(self, pack: Pack) -> Pack:
        alive = np.flatnonzero(self.running[pack.own])
        size = max(FEWEST, 1 << (len(alive) - 1).bit_length())
        if 2 * len(alive) > len(pack.rows) or size >= len(pack.rows):
            return pack
        stopped = np.setdiff1d(np.arange(len(pack.rows)), alive)
        kept = np.concatenate([alive, stopped[: size - len(alive)]])
        inner = jax.tree.map(lambda leaf: leaf[kept], (pack.members, pack.data, pack.state))
        return Pack(pack.rows[kept], len(alive), *inner)


class _Compiled(NamedTuple):
    """The functions below for one problem; when no program is left that needs them, their code goes, too."""

    begin: Wrapped
    advance: Callable[..., Any]
    probe: Callable[..., Any]
    facts: Callable[..., Any]


@lru_cache(MOST_KEPT)
def _compiled(problem: Problem) -> _Compiled:
    """Once for a problem, whichever program asks: an equal problem is the same problem."""
    often = (jax.jit(partial(function, problem)) for function in (_advance, _probe))
    return _Compiled(_called_once(problem, _begin, 1), *often, _called_once(problem, _facts, 0))


def _called_once(problem: Problem, function: Callable, level: int) -> Wrapped:
    """What is called once is not worth optimising: on a CPU that takes half of the time to compile it, or less.

    At level 1, which saves a third, sampling takes as long as ever and gives the same bits; at level 0 five times.
    Who chose a level keeps it.
    """
    chosen = _LEVEL in os.environ.get("XLA_FLAGS", "") or jax.devices()[0].platform != "cpu"
    return jax.jit(partial(function, problem), compiler_options={} if chosen else {_LEVEL: level})


def _rows(tree: PyTree, rows: Int[np.ndarray, " some"]) -> PyTree:
    """These rows of every leaf, on the device; cut by NumPy, where JAX would compile a program for every shape."""
    return jax.device_put(jax.tree.map(lambda leaf: np.asarray(leaf)[rows], tree))


def _over(function: Callable, stacked: PyTree) -> Any:
    """For every member of a pack; a single one without an axis of its own, which some products would pay for."""
    if len(jax.tree.leaves(stacked)[0]) > 1:
        return jax.vmap(function)(stacked)
    found = function(jax.tree.map(lambda leaf: leaf[0], stacked))
    return jax.tree.map(lambda leaf: leaf[None], found)


def _begin(problem: Problem, shared: PyTree, members: Member) -> tuple[State, PyTree]:
    def one(member: Member) -> tuple[State, PyTree]:
        member = member._replace(shared=shared)
        model, data = problem.begin(member)
        memory = problem.optimiser(member).init(model)
        return State(model, memory, jnp.asarray(-1, jnp.int32), jnp.asarray(jnp.nan, jnp.float32)), data

    return _over(one, members)


def _probe(problem: Problem, shared: PyTree, states: State, members: Member, data: PyTree) -> dict[str, Array]:
    def one(everything: tuple[State, Member, PyTree]) -> dict[str, Array]:
        state, member, data = everything
        member = member._replace(shared=shared)
        rate = problem.rate(member, state.optimiser)
        return {
            **problem.probe(state.model, member, data),
            "learning_rate": rate,
            "gradient_norm": state.gradient_norm,
        }

    return _over(one, (states, members, data))


def _facts(problem: Problem, shared: PyTree, members: Member, data: PyTree) -> dict[str, Array]:
    return _over(lambda each: problem.facts(each[0]._replace(shared=shared), each[1]), (members, data))


def _advance(
    problem: Problem, shared: PyTree, states: State, members: Member, data: PyTree, start, stop
) -> tuple[State, Array]:
    """Steps start .. stop-1; the bounds are traced, so that any number of steps shares one compilation."""

    def step_all(step, carry):
        states, losses = carry

        # The step is shared by all members, so that a branch on it stays a branch.
        def one(each: tuple[State, Member, PyTree]) -> tuple[State, Array]:
            state, member, data = each
            return _step(problem, step, step == stop - 1, state, member._replace(shared=shared), data)

        states, loss = _over(one, (states, members, data))
        return states, losses.at[:, step - start].set(loss)

    losses = jnp.zeros((len(members.seed), ROOM), jnp.result_type(float))
    ended, losses = jax.lax.fori_loop(start, stop, step_all, (states, losses))
    return _over(lambda each: _finite_or_before(stop, *each), (ended, states)), losses


def _step(problem: Problem, step, last, state: State, member: Member, data: PyTree) -> tuple[State, Float[Array, ""]]:
    examples, real = problem.draw(member, data, step)
    value, grads = _gradient(problem, step, state.model, member, examples, real)
    optimiser = problem.optimiser(member)
    updates, inner = optimiser.update(grads, state.optimiser, state.model, value=value)
    model = optax.apply_updates(state.model, updates)
    # Small models of many matrices would pay a tenth of their time for it at every step. A gradient that overflows
    # before the last shows in the next loss, and its weights below.
    norm = jax.lax.cond(last, lambda: optax.tree.norm(grads).astype(jnp.float32), lambda: jnp.zeros((), jnp.float32))
    sound = jnp.isfinite(value) & (value < EXPLODED) & jnp.isfinite(norm)
    diverged_at = jnp.where((state.diverged_at < 0) & ~sound, step + 1, state.diverged_at).astype(jnp.int32)
    # A diverged member stands still before the step, with finite weights; the others do not notice.
    alive = diverged_at < 0
    keep = lambda new, old: jnp.where(alive, new, old)  # noqa: E731
    new = State(
        jax.tree.map(keep, model, state.model),
        jax.tree.map(keep, inner, state.optimiser),
        diverged_at,
        norm,
    )
    return new, value.astype(jnp.result_type(float))


def _finite_or_before(stop, ended: State, before: State) -> State:
    """Weights that overflowed, which the loss shows only a step later, are those from before this call again.

    Looked at once a call and not at every step: small models would pay a tenth of their time for it.
    """
    sound = _all_finite(ended.model)
    keep = lambda new, old: jnp.where(sound, new, old)  # noqa: E731
    diverged_at = jnp.where(sound | (ended.diverged_at >= 0), ended.diverged_at, stop).astype(jnp.int32)
    model, memory = (jax.tree.map(keep, getattr(ended, name), getattr(before, name)) for name in ("model", "optimiser"))
    return State(model, memory, diverged_at, ended.gradient_norm)


def _gradient(problem: Problem, step, model, member, examples, real):
    def gradient(key):
        dtype = jax.tree.leaves(model)[0].dtype
        return problem.gradient(member)(model, examples, real.astype(dtype), key)

    every = problem.noisy_every
    if every == 0:
        return gradient(None)
    key = problem.noise_key(member, step)
    if every == 1:
        return gradient(key)
    return jax.lax.cond(step % every == 0, gradient, lambda _: gradient(None), key)


def _all_finite(tree: PyTree) -> Bool[Array, ""]:
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(tree)]))
