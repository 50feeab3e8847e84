"""Cells of paper B that share a shape, trained together until each seed's plateau has ended."""

import contextlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from headway.laboratory.emergence.lesson import EmergenceSettings, lesson, repetition_of
from headway.records import Cell, Trajectory
from headway.settings import SingleLocationSettings
from headway.training.chunks import together
from headway.training.ensemble import Ensemble
from headway.training.train import Member

STATE = "state"
"""Before the names of the arrays of a checkpoint that are models and optimisers."""
KEPT = ("running", "ended_at", "shown_at", "stopped_at", "diverged_at")
"""What a checkpoint says about every seed besides."""
PRODUCTS = {"float32": "highest", "tf32": "tensorfloat32", "bfloat16": "BF16_BF16_F32"}


@dataclass(frozen=True)
class Tick:
    """An evaluation: every measurement, (member, ...), NaN for members that had stopped before."""

    step: int
    measured: dict[str, np.ndarray]


def shape_of(settings: EmergenceSettings) -> EmergenceSettings:
    """The settings without repetition, how much of which is a number: equal for cells that share a program."""
    repeated = "repeated" if isinstance(settings, SingleLocationSettings) else "favoured"
    # Thresholds differ where repetition does; when to stop is decided outside of the program.
    return settings.changed(task={"copies": 1, repeated: 0.0}, training={"threshold": 1.0, "until": None, "tail": 0.0})


def _program(settings: EmergenceSettings) -> EmergenceSettings:
    """What is compiled, which does not depend on how long a run may last and when it is looked at."""
    shape = shape_of(settings)
    return shape.changed(training={"steps": shape.training.every, "growth": 0.0})


class EmergenceGroup:
    """Cells of one shape at the same step."""

    def __init__(self, cells: Sequence[Cell], at_once: int | None = None):
        """`at_once` members are computed side by side, at most; as many as the device likes if not given."""
        if len({shape_of(cell.settings) for cell in cells}) != 1:
            raise ValueError(f"these {len(cells)} cells differ in shape; a program has one. Group them by `shape_of`.")
        self.cells = tuple(cells)
        self.settings: EmergenceSettings = cells[0].settings
        pairs = [(number, cell, seed) for number, cell in enumerate(cells) for seed in cell.seeds]
        self._cell_of = np.array([number for number, *_ in pairs])
        trainings = [cell.settings.training for _, cell, _ in pairs]
        self._threshold = np.array([each.threshold for each in trainings])
        self._until = np.array([each.threshold if each.until is None else each.until for each in trainings])
        self._tail = np.array([each.tail for each in trainings])
        self.ended_at, self.shown_at, self.stopped_at, self.diverged_at = np.full((4, len(pairs)), -1, np.int64)
        with precision(self.settings):
            numbers = [
                jnp.asarray(column) for column in zip(*(repetition_of(c.settings) for _, c, _ in pairs), strict=True)
            ]
            seeds = jnp.asarray([seed for *_, seed in pairs], jnp.uint32)
            members = Member(seeds, type(repetition_of(self.settings))(*numbers), ())
            batch = self.settings.training.batch
            size = together(len(pairs), batch, example_bytes(self.settings)) if at_once is None else at_once
            self._ensemble = Ensemble(lesson(_program(self.settings)), members, size, self.settings.training.every)

    def ticks(self, position: int, checkpoints: Sequence[Mapping[str, np.ndarray]] | None) -> Iterator[Tick]:
        """Train from the evaluation at `position` until every member has stopped."""
        self._start(checkpoints)
        evaluations = self.settings.training.evaluations()
        if position == 0:
            with precision(self.settings):
                tick = Tick(
                    0, {"train_loss": np.full(len(self._cell_of), np.nan, np.float32), **self._ensemble.probe()}
                )
            yield self._judged(tick)
        for start, stop in pairwise(step for step in evaluations if step >= position):
            if not self.running.any():
                return
            with precision(self.settings):
                losses = self._ensemble.advance(start, stop)
                tick = Tick(stop, {"train_loss": losses, **self._ensemble.probe()})
            yield self._judged(tick)

    @property
    def running(self) -> Bool[np.ndarray, " member"]:
        return self._ensemble.running

    def done(self, index: int) -> bool:
        """Whether all seeds of a cell have stopped."""
        return not self.running[self._cell_of == index].any()

    def part(self, ticks: Sequence[Tick], index: int) -> Trajectory:
        """What consecutive ticks add to a cell's trajectory."""
        own = self._cell_of == index
        arrays = {name: np.stack([tick.measured[name][own] for tick in ticks], axis=1) for name in ticks[0].measured}
        clocks = {"evaluation": np.array([tick.step for tick in ticks], np.int64)}
        return Trajectory(self.cells[index].seeds, clocks, arrays, dict.fromkeys(arrays, "evaluation"))

    def checkpoint(self, index: int) -> dict[str, np.ndarray]:
        """All that is needed to go on from the last tick, for one cell."""
        own = self._cell_of == index
        with precision(self.settings):
            states = self._ensemble.states(own)
        return {
            **{name: getattr(self, name)[own] for name in KEPT},
            **{STATE + name: values for name, values in states.items()},
        }

    def facts(self, index: int) -> dict[str, np.ndarray]:
        """When the plateau of each seed ended, NaN where it did not, and when the seed stopped or diverged."""
        own = self._cell_of == index
        ended = self.ended_at[own]
        return {
            "plateau": np.where(ended >= 0, ended, np.nan),
            "stopped_at": self.stopped_at[own],
            "diverged_at": self.diverged_at[own],
        }

    def _start(self, checkpoints: Sequence[Mapping[str, np.ndarray]] | None) -> None:
        with precision(self.settings):
            if checkpoints is None:
                self._ensemble.begin()
                return
            joined = {name: np.concatenate([each[name] for each in checkpoints]) for name in KEPT}
            self.ended_at, self.shown_at, self.stopped_at, self.diverged_at = (joined[name] for name in KEPT[1:])
            named = [
                {name[len(STATE) :]: each[name] for name in each if name.startswith(STATE)} for each in checkpoints
            ]
            saved = {name: np.concatenate([each[name] for each in named if each]) for name in max(named, key=len)}
            self._ensemble.begin(joined["running"].astype(bool), saved)

    def _judged(self, tick: Tick) -> Tick:
        """Note whose plateau has ended, and let those stop that are through with their tail, or diverged."""
        running, step = self.running.copy(), tick.step
        regression = isinstance(self.settings, SingleLocationSettings)
        score = -tick.measured["loss"] if regression else tick.measured["accuracy"]
        for reached_at, level in ((self.ended_at, self._threshold), (self.shown_at, self._until)):
            reached_at[running & (score >= (-level if regression else level)) & (reached_at < 0)] = step
        lost = running & ~np.isfinite(tick.measured["loss"])
        self.diverged_at[lost] = step
        through = (self.shown_at >= 0) & (self._tail >= 0) & (step >= (1 + self._tail) * self.shown_at)
        stopping = running & (through | lost | (step >= self.settings.training.steps))
        self.stopped_at[stopping] = step
        if stopping.any():
            with precision(self.settings):
                self._ensemble.retire(stopping)
        self._ensemble.keep()
        return tick


@contextlib.contextmanager
def precision(settings: EmergenceSettings) -> Generator[None]:
    """Products as the settings ask for, whatever the device would do by itself."""
    with jax.default_matmul_precision(PRODUCTS[settings.training.precision]):
        yield


def example_bytes(settings: EmergenceSettings) -> int:
    """What one sequence's activations take, about; the last layer has a single query and hardly counts."""
    model, length = settings.model, settings.length
    layers = max(1, model.blocks - 1)
    return 4 * layers * length * (12 * model.width + 3 * model.mlp + 4 * model.heads * length)
