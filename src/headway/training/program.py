"""Train many members at once, each until it is to stop; knows neither tasks nor models nor disks."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.stages import Wrapped
from jaxtyping import Bool, Float, Int, PyTree

from headway.training.blocking import blocks
from headway.training.checkpoint import fill, flatten
from headway.training.chunks import at_once, cores
from headway.training.drawing import Drawing, drawing_of, packed
from headway.training.steps import Member, Problem, State, compiled

FEWEST = 8
"""A pack of so many is not made smaller: on a GPU it takes as long as one member, and one more program to compile."""


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

    def __init__(
        self,
        problem: Problem,
        members: Member,
        together: int,
        shared: PyTree = (),
        within: Callable[[], AbstractContextManager[None]] = nullcontext,
    ):
        """Packs of `together` members: few are what caches like, many what GPUs like.

        `shared` is the same for all of them. It goes to the device once and is an input of what is compiled: large
        arrays are neither constants in its code nor copied from member to member. `within` sets up a thread: JAX keeps
        the arithmetic that was asked for in the thread that asked.
        """
        self.running = np.ones(len(members.seed), bool)
        self.problem, self.members, self._together = problem, members, together
        self._shared = jax.device_put(shared)
        self._compiled, self._within = compiled(problem), within
        self._packs: list[Pack] = []
        self._kept: list[Pack] = []
        self._stopped: dict[int, State] = {}
        self._facts: dict[str, np.ndarray] | None = None
        self._ahead: dict[str, Future[None]] = {}
        self._behind: list[Callable[[], None]] = []
        self._blocks: dict[str, bool] = {}

    def compile_ahead(self) -> None:
        """Steps and measurements are compiled side by side while the members begin.

        The facts follow behind the first steps, because nobody waits for them until the end. Whoever needs one first
        waits for it. What goes wrong here goes wrong there again, and is reported there.
        """
        rows = np.arange(len(self.running))[: self._together]
        members = _rows(self.members, rows)
        # Before the threads want Python's lock: XLA, which needs none, then compiles the beginning beside them.
        asked: dict[str, tuple[Any, ...]] = {}
        if self._drawing is not None:
            state, data = self._drawing.shapes(len(rows))
            if self.problem.compare is not None:
                asked["compare"] = members, data
                data = jax.eval_shape(self._compiled.compare, self._shared, members, data)
        else:
            state, data = jax.eval_shape(self._compiled.begin, self._shared, members)
            self._compiled.begin.lower(self._shared, members)
        asked |= {"advance": (state, members, data, 0, 1), "probe": (state, members, data), "facts": (members, data)}

        def compile(name: str) -> None:
            with self._within():
                getattr(self._compiled, name).lower(self._shared, *asked[name]).compile()

        def start(*names: str) -> None:
            pool = ThreadPoolExecutor(min(len(names), cores()))
            self._ahead |= {name: pool.submit(compile, name) for name in names}
            pool.shutdown(wait=False)

        start(*(name for name in asked if name != "facts"))
        self._behind = [partial(start, "facts")]

    def _ready(self, name: str) -> Wrapped:
        """A compiled function; should it be compiled in a thread, not twice."""
        if name in self._ahead:
            wait([self._ahead.pop(name)])
        return getattr(self._compiled, name)

    def _each(self, name: str, asked: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What a compiled function finds for each: for as many packs at once as suits the device and the function.

        The first call is made alone, or every thread would compile. After an interrupt what is under way comes to its
        end, and nothing else begins.
        """
        function = self._ready(name)

        def compute(arguments: tuple[Any, ...]) -> Any:
            return jax.block_until_ready(function(self._shared, *arguments))

        alone = 0 if name in self._blocks else 1
        found, rest = [compute(arguments) for arguments in asked[:alone]], asked[alone:]
        for arguments in asked[:alone]:
            self._blocks[name] = blocks(function.trace(self._shared, *arguments).jaxpr.jaxpr)
        threads = at_once(len(rest))
        if threads < 2 or self._blocks[name]:
            return found + [compute(arguments) for arguments in rest]

        def in_thread(arguments: tuple[Any, ...]) -> Any:
            with self._within():
                return compute(arguments)

        pool = ThreadPoolExecutor(threads)
        try:
            return found + list(pool.map(in_thread, rest))
        finally:
            pool.shutdown(cancel_futures=True)

    def begin(
        self, running: Bool[np.ndarray, " member"] | None = None, saved: Mapping[str, np.ndarray] | None = None
    ) -> None:
        """Start the members, afresh or, those that are `running`, from their `saved` states in the members' order."""
        everybody = np.arange(len(self.running))
        self._packs, self._stopped = [], {}
        self.running = np.ones_like(self.running)
        # Packs of one size share one compilation: the last is filled up with members that nobody looks at.
        own = [everybody[first : first + self._together] for first in range(0, len(everybody), self._together)]
        rows = [own[0], *(np.resize(each, self._together) for each in own[1:])]
        members = [_rows(self.members, each) for each in rows]
        for place, (state, data) in enumerate(self._begun(rows, members)):
            if saved is not None:
                state = fill(state, {name: values[rows[place]] for name, values in saved.items()})
            self._packs.append(Pack(rows[place], len(own[place]), members[place], data, state))
        if running is not None and not running.all():
            self.retire(~running)
        self.keep()

    @cached_property
    def _drawing(self) -> Drawing | None:
        """How members begin, if another device draws them."""
        return drawing_of(self.problem, self._shared, self.members, self._within)

    def _begun(
        self, rows: Sequence[Int[np.ndarray, " packed"]], members: Sequence[Member]
    ) -> list[tuple[State, PyTree]]:
        """State and data of each pack."""
        if self._drawing is None:
            return self._each("begin", [(each,) for each in members])
        drawn = self._drawing.draw()
        packs = [packed(drawn, each) for each in rows]
        if self.problem.compare is None:
            return packs
        compared = self._each("compare", [(each, data) for each, (_, data) in zip(members, packs, strict=True)])
        return [(state, data) for (state, _), data in zip(packs, compared, strict=True)]

    def advance(self, start: int, stop: int) -> Float[np.ndarray, "member steps"]:
        """Steps start .. stop-1, at most `ROOM`; the loss of each running member, NaN for the others."""
        losses = np.full((len(self.running), stop - start), np.nan, jnp.result_type(float))
        advanced = self._each("advance", [(pack.state, pack.members, pack.data, start, stop) for pack in self._packs])
        for pack, (_, found) in zip(self._packs, advanced, strict=True):
            losses[pack.own] = np.asarray(found)[: pack.real, : stop - start]
        losses[~self.running] = np.nan
        self._packs = [replace(pack, state=state) for pack, (state, _) in zip(self._packs, advanced, strict=True)]
        while self._behind:
            self._behind.pop()()
        return losses

    def probe(self) -> dict[str, np.ndarray]:
        """Every measurement, (member, ...), NaN for members that have stopped."""
        return self._gather("probe", [(pack.state, pack.members, pack.data) for pack in self._packs])

    def facts(self) -> dict[str, np.ndarray]:
        """What does not change along the run."""
        if self._facts is None:
            self._facts = self._gather("facts", [(pack.members, pack.data) for pack in self._packs])
        return self._facts

    def _gather(self, name: str, asked: Sequence[tuple[Any, ...]]) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = {}
        for pack, measured in zip(self._packs, self._each(name, asked), strict=True):
            kept = np.flatnonzero(self.running[pack.own])
            for quantity, values in measured.items():
                if quantity not in found:
                    found[quantity] = np.full((len(self.running), *values.shape[1:]), np.nan, values.dtype)
                found[quantity][pack.own[kept]] = np.asarray(values)[kept]
        return found

    def data(self, member: int) -> PyTree:
        """What a member that still runs learns from and is measured on."""
        [found] = [(pack, at) for pack in self._packs for at in np.flatnonzero(pack.own == member)]
        return jax.tree.map(lambda leaf: leaf[found[1]], found[0].data)

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


def _rows(tree: PyTree, rows: Int[np.ndarray, " some"]) -> PyTree:
    """These rows of every leaf, on the device; cut by NumPy, where JAX would compile a program for every shape."""
    return jax.device_put(jax.tree.map(lambda leaf: np.asarray(leaf)[rows], tree))
