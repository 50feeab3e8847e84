"""Cells of one shape, trained together: for a number of steps, or each seed until it has learnt."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from headway.records import Cell, Trajectory
from headway.tasks.run import Settings
from headway.tasks.task import RISING, functions_of, has_shared, progress_of
from headway.training.checkpoint import fill, plain
from headway.training.chunks import together
from headway.training.pilots import contests, lost
from headway.training.problem import form, new_model, numbers, precision, problem, shape
from headway.training.program import Program
from headway.training.shown import ATTENTION
from headway.training.sizes import chunk_of, example_bytes, rows_of_batch
from headway.training.spent import during
from headway.training.steps import ROOM, Member

STATE = "state"
"""Before the names of the arrays of a checkpoint that are models and optimisers."""
KEPT = ("ended_at", "shown_at", "stopped_at")
"""What a checkpoint says about every seed, besides its state."""
MOST_LAGS = 64
"""Attention by lag is kept at every evaluation where there are no more lags than this, else where matrices are."""


@dataclass(frozen=True)
class Tick:
    """What happened up to `step`: the loss of every step since the last tick and, at an evaluation, what was measured.

    Everything is (member, ...), NaN for members that had stopped before.
    """

    step: int
    losses: Float[np.ndarray, "member steps"]
    measured: dict[str, np.ndarray] | None


class Group:
    """Cells of one shape with the same number of finished steps."""

    def __init__(
        self,
        cells: Sequence[Cell],
        references: Sequence[Sequence[Mapping[str, np.ndarray]]] = (),
        capacity: int | None = None,
        at_once: int | None = None,
    ):
        """`references[i]` are the saved weights of cell i's reference models, in the order of its settings.

        `capacity` rows hold every training set, those of the largest if not given; `at_once` members are computed side
        by side, as many as the device likes if not given.
        """
        shapes = {shape(cell.settings) for cell in cells}
        if len(shapes) != 1:
            raise ValueError(f"these cells have {len(shapes)} shapes; a program has one. Group them by `shape`.")
        self.cells = tuple(cells)
        self.settings: Settings = cells[0].settings
        largest = max(cell.settings.training.samples for cell in cells)
        self.capacity = largest if capacity is None else capacity
        if self.capacity < largest:
            raise ValueError(
                f"{self.capacity} rows cannot hold a training set of {largest}. Use capacity >= {largest}."
            )
        self._cell_of = np.repeat(np.arange(len(cells)), [len(cell.seeds) for cell in cells])
        trainings = [cells[index].settings.training for index in self._cell_of]
        self._threshold = np.array([each.threshold or np.nan for each in trainings])
        self._until = np.array([each.until or each.threshold or np.nan for each in trainings])
        self._tail = np.array([each.tail for each in trainings])
        self.ended_at, self.shown_at, self.stopped_at = np.full((3, len(trainings)), -1, np.int64)
        self._contests = [places for places in contests(self.cells) if len(places) > 1]
        self._exact = functions_of(self.settings.task).expected_loss is not None
        """Whether the loss of every step is that of the test, so that one sees when it passed a level."""
        self._levels = [getattr(cells[index].settings.task, "levels", ()) for index in self._cell_of]
        self.boundaries = np.full((len(trainings), max(map(len, self._levels))), np.inf)
        with precision(self.settings):
            size, batch = example_bytes(self.settings), rows_of_batch(self.settings, self.capacity)
            small = self.settings.model is None
            side_by_side = together(len(trainings), batch, size, small) if at_once is None else at_once
            self.form = form(self.settings, self.capacity, side_by_side)
            chunk = 0 if self.form else chunk_of(self.settings, batch, side_by_side)
            posed = problem(self.settings, self.capacity, self.form, chunk)
            shared = self.settings.task.shared() if has_shared(self.settings.task) else ()
            arithmetic = partial(precision, self.settings)
            self.program = Program(posed, _members(cells, references), side_by_side, shared, arithmetic)

    @property
    def _kept(self) -> tuple[str, ...]:
        """What a checkpoint says about every seed, besides whether it is running."""
        return KEPT + (("boundaries",) if self.boundaries.shape[1] else ())

    @property
    def until_learnt(self) -> bool:
        """Whether each seed stops by itself."""
        return self.settings.training.threshold is not None

    def ticks(self, position: int, checkpoints: Sequence[Mapping[str, np.ndarray]] | None) -> Iterator[Tick]:
        """Train from the evaluation at `position` to the end, or until every member has stopped.

        It yields at least every `ROOM` steps, and at least once.
        """
        last = self.settings.training.steps
        ahead = [step for step in self.settings.evaluation.steps(last) if step > position]
        if ahead:
            with precision(self.settings):
                self.program.compile_ahead()
        self._start(checkpoints)
        nothing = np.zeros((len(self._cell_of), 0), np.float32)
        if position == 0:
            yield self._judged(Tick(0, nothing, self._measured()), nothing)
        elif not ahead or not self.running.any():  # Stopped behind the last evaluation: only the state is wanted.
            yield Tick(position, nothing, None)
        step, since = position, [nothing]
        for goal in ahead:
            while step < goal:
                if not self.running.any():
                    return
                stop = min(goal, step + ROOM)
                # Only while it computes: whoever looks at a tick has a precision of their own.
                with precision(self.settings), during("training"):
                    losses = self.program.advance(step, stop)
                step = stop
                since.append(losses)
                if step == goal:
                    yield self._judged(Tick(step, losses, self._measured()), np.concatenate(since, axis=1))
                    since = [nothing]
                else:
                    yield Tick(step, losses, None)

    def _measured(self) -> dict[str, np.ndarray]:
        with precision(self.settings), during("evaluating"):
            return self.program.probe()

    @property
    def running(self) -> Bool[np.ndarray, " member"]:
        return self.program.running

    def done(self, index: int) -> bool:
        """Whether all seeds of a cell have stopped."""
        return not self.running[self._cell_of == index].any()

    def _judged(self, tick: Tick, since: Float[np.ndarray, "member steps"]) -> Tick:
        """Note whose plateau has ended; those stop that are through with their tail, diverged, or pilots that lost.

        `since` are the losses of all steps since the last evaluation.
        """
        step, running = tick.step, self.running.copy()
        assert tick.measured is not None
        over = running & (step >= self.settings.training.steps)
        if self.until_learnt:
            measure = progress_of(self.settings.task)
            if measure not in tick.measured:
                raise ValueError(
                    f"the task {self.settings.KIND!r} counts as learnt by {measure!r}, which is not measured. There "
                    f"are {', '.join(sorted(tick.measured))}. Name one in PROGRESS, or train without a threshold."
                )
            sign = 1 if measure in RISING else -1
            score = sign * tick.measured[measure][:, None]
            if self._exact and measure == "loss":
                score = np.concatenate([sign * since, score], axis=1)
            for reached_at, level in ((self.ended_at, self._threshold), (self.shown_at, self._until)):
                there = score >= sign * level[:, None]
                new = running & there.any(axis=1) & (reached_at < 0)
                reached_at[new] = (step - score.shape[1] + 1 + np.argmax(there, axis=1))[new]
            through = (self.shown_at >= 0) & (self._tail >= 0) & (step >= (1 + self._tail) * self.shown_at)
            over |= running & (through | (self.program.diverged_at() >= 0))
            over |= running & self._lost(running & ~over, step)
            self.stopped_at[over] = step
        if self._exact:
            self._note_boundaries(np.concatenate([since, tick.measured["loss"][:, None]], axis=1), step)
        self.program.keep()
        if over.any() and self.until_learnt:
            with precision(self.settings):
                self.program.retire(over)
            self.program.keep()
        return tick

    def _lost(self, running: Bool[np.ndarray, " member"], step: int) -> Bool[np.ndarray, " member"]:
        """Pilots whose learning rate cannot be chosen any more."""
        found = np.zeros(len(running), bool)
        for places in self._contests:
            rows = np.stack([np.flatnonzero(self._cell_of == place) for place in places])
            rates = [self.cells[place].settings.training.learning_rate for place in places]
            plateaus = np.where(self.ended_at[rows] >= 0, self.ended_at[rows], np.nan)
            found[rows[lost(rates, plateaus, running[rows], step)]] = True
        return found

    def _note_boundaries(self, losses: Float[np.ndarray, "member steps"], step: int) -> None:
        """When the loss first went through each level, by a line between the losses before and after a step."""
        for member, place in np.argwhere(np.isinf(self.boundaries)):
            level = self._levels[member][place]
            below = np.flatnonzero((losses[member, :-1] > level) & (losses[member, 1:] <= level))
            if len(below):
                before, after = (float(each) for each in losses[member, below[0] : below[0] + 2])
                share = (before - level) / (before - after)
                self.boundaries[member, place] = step - losses.shape[1] + 1 + below[0] + share

    def part(self, ticks: Sequence[Tick], index: int) -> Trajectory:
        """What consecutive ticks add to a cell's trajectory; the last of them is an evaluation."""
        own = self._cell_of == index
        evaluation, last = self.settings.evaluation, self.settings.training.steps
        losses = np.concatenate([tick.losses[own] for tick in ticks], axis=1).astype(np.float32)
        probes = [(tick.step, tick.measured) for tick in ticks if tick.measured is not None]
        pictured = set(evaluation.pictures(last))
        clocks: dict[str, list[int]] = {
            "evaluation": [step for step, _ in probes],
            "snapshot": [step for step, _ in probes if step in pictured],
        }
        arrays: dict[str, np.ndarray] = {}
        clock_of: dict[str, str] = {}
        if evaluation.losses == "step":
            first = ticks[-1].step - losses.shape[1] + 1
            clocks["step"] = list(range(first, ticks[-1].step + 1))
            arrays["train_loss"], clock_of["train_loss"] = losses, "step"
        else:
            arrays["train_loss"], clock_of["train_loss"] = _means(losses, ticks), "evaluation"
        for name, first_values in probes[0][1].items():
            lags = first_values.shape[-1] if name == "attention_by_lag" else 0
            large = (name in ("attention", ATTENTION) and first_values.ndim == 5) or lags > MOST_LAGS
            clock_of[name] = "snapshot" if large else "evaluation"
            # What only a page shows, in shades, needs no more than half of the bits.
            bits = np.float16 if name == ATTENTION else first_values.dtype
            kept = [probe[name][own].astype(bits) for step, probe in probes if step in clocks[clock_of[name]]]
            empty = np.zeros((int(own.sum()), 0, *first_values.shape[1:]), bits)
            arrays[name] = np.stack(kept, axis=1) if kept else empty
        ticked = {name: np.asarray(steps, np.int64) for name, steps in clocks.items()}
        return Trajectory(self.cells[index].seeds, ticked, arrays, clock_of)

    def checkpoints(self) -> list[dict[str, np.ndarray]]:
        """All that is needed to go on from the last evaluation, cell by cell."""
        with precision(self.settings):
            states = {STATE + name: values for name, values in self.program.states().items()}
        facts = {"running": self.running.copy()} | {name: getattr(self, name).copy() for name in self._kept}
        return self._shared_out(facts | states)

    def weights(self) -> list[dict[str, np.ndarray]]:
        """The models as they were at the last evaluation, or as they ended, cell by cell."""
        with precision(self.settings):
            return self._shared_out(self.program.models())

    def facts(self) -> list[dict[str, np.ndarray]]:
        """What does not change along the run, which seeds diverged when, and when plateaus ended, cell by cell."""
        with precision(self.settings):
            facts = {**self.program.facts(), "diverged_at": self.program.diverged_at()}
        if self.until_learnt:
            facts["plateau"] = np.where(self.ended_at >= 0, self.ended_at, np.nan)
            facts["stopped_at"] = self.stopped_at
        if self.boundaries.shape[1]:
            facts["boundaries"] = self.boundaries
        return self._shared_out(facts)

    def own(self, values: np.ndarray, index: int) -> np.ndarray:
        """The rows of a cell, of values (member, ...)."""
        return values[self._cell_of == index]

    def _shared_out(self, arrays: Mapping[str, np.ndarray]) -> list[dict[str, np.ndarray]]:
        """Every cell's own rows."""
        ends = np.cumsum([len(cell.seeds) for cell in self.cells])
        each = [slice(int(end) - len(cell.seeds), int(end)) for end, cell in zip(ends, self.cells, strict=True)]
        return [{name: values[rows] for name, values in arrays.items()} for rows in each]

    def _start(self, checkpoints: Sequence[Mapping[str, np.ndarray]] | None) -> None:
        with precision(self.settings):
            if checkpoints is None:
                self.program.begin()
                return
            joined = {name: np.concatenate([each[name] for each in checkpoints]) for name in checkpoints[0]}
            for name in self._kept:
                setattr(self, name, joined[name].copy())
            saved = {name[len(STATE) :]: values for name, values in joined.items() if name.startswith(STATE)}
            self.program.begin(joined["running"].astype(bool), saved)


def reopened(checkpoint: Mapping[str, np.ndarray], settings: Settings) -> dict[str, np.ndarray]:
    """The last checkpoint of a run of `settings` as that of a run of more steps: whom only the end stopped goes on."""
    if settings.training.threshold is None:
        return dict(checkpoint)
    last, tail = settings.training.steps, settings.training.tail
    shown_at, stopped_at = checkpoint["shown_at"], checkpoint["stopped_at"]
    through = (shown_at >= 0) & (tail >= 0) & (last >= (1 + tail) * shown_at)
    on = (stopped_at == last) & ~through & (checkpoint[f"{STATE}.diverged_at"] < 0)
    running = checkpoint["running"].astype(bool) | on
    return {**checkpoint, "running": running, "stopped_at": np.where(on, -1, stopped_at)}


def _means(losses: Float[np.ndarray, "member steps"], ticks: Sequence[Tick]) -> Float[np.ndarray, "member tick"]:
    """The mean loss between two evaluations; NaN at step 0, before which there is none."""
    found, first, place = [], 0, 0
    for tick in ticks:
        place += tick.losses.shape[1]
        if tick.measured is not None:
            own = losses[:, first:place]
            found.append(own.mean(axis=1) if own.shape[1] else np.full(len(losses), np.nan, np.float32))
            first = place
    return np.stack(found, axis=1)


def _members(cells: Sequence[Cell], references: Sequence[Sequence[Mapping[str, np.ndarray]]]) -> Member:
    """All seeds of all cells in a row."""
    pairs = [(cell.settings, seed) for cell in cells for seed in cell.seeds]
    columns = zip(*(jax.tree.leaves(numbers(settings)) for settings, _ in pairs), strict=True)
    stacked = jax.tree.unflatten(jax.tree.structure(numbers(pairs[0][0])), [plain(each) for each in columns])
    models = []
    for number, run in enumerate(cells[0].settings.references):
        template = jax.eval_shape(
            jax.vmap(lambda seed, run=run: new_model(run, seed, 1.0)), jnp.zeros(len(pairs), jnp.int32)
        )
        own = [cell_references[number] for cell_references in references]
        models.append(fill(template, {name: np.concatenate([weights[name] for weights in own]) for name in own[0]}))
    seeds: Any = np.asarray([seed for _, seed in pairs], np.uint32)
    worlds = [run.task.world_of_seed(seed) for run, seed in pairs if hasattr(run.task, "world_of_seed")]
    world = jax.tree.map(lambda *each: np.stack([plain(leaf) for leaf in each]), *worlds) if worlds else ()
    return jax.device_put(Member(seeds, stacked, tuple(models), world))
