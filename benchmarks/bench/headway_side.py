"""Headway's own side: the compiled program of a group, exactly as `headway run` trains with it."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import jax
import numpy as np

from benchmarks.bench.contestant import HEADWAY, Contestant
from headway.records import Cell
from headway.tasks.run import Settings
from headway.training.group import Group
from headway.training.problem import precision
from headway.training.steps import ROOM


@dataclass
class Begun:
    """A program that has begun, and what its first seed starts from."""

    settings: Settings
    group: Group
    weights: dict[str, np.ndarray]
    untouched: bool = True
    """Nothing has trained since it began."""

    @property
    def sequences(self) -> np.ndarray:
        """What the first seed learns from."""
        return np.asarray(self.group.program.data(0).training)

    def contestant(self, steps: int) -> Contestant:
        """Train on and on, `steps` at a time, from the beginning; a program has one contestant at a time."""
        if steps > ROOM:
            raise ValueError(f"{steps} steps are more than one call makes. Use at most {ROOM}.")
        done = 0
        self._begin()

        def advance() -> np.ndarray:
            nonlocal done
            done += steps
            with precision(self.settings):
                return self.group.program.advance(done - steps, done)

        return Contestant(HEADWAY, len(self.group.cells[0].seeds), steps, advance)

    def evaluate(self) -> None:
        """One evaluation of every seed."""
        with precision(self.settings):
            self.group.program.probe()

    def gradient_by_one_step(self, rate: float) -> tuple[float, dict[str, np.ndarray]]:
        """loss, (before - after) / rate: what the program's one step of plain gradient descent says."""
        self._begin()
        with precision(self.settings):
            losses = self.group.program.advance(0, 1)
        self.group.program.keep()
        after = first_of(self.group)
        grads = {name: (before.astype(np.float64) - after[name]) / rate for name, before in self.weights.items()}
        return float(losses[0, 0]), grads

    def _begin(self) -> None:
        if not self.untouched:
            with precision(self.settings):
                self.group.program.begin()
        self.untouched = False


def first_of(group: Group) -> dict[str, np.ndarray]:
    """The first seed's weights."""
    return {name: values[0] for name, values in group.weights()[0].items()}


@functools.lru_cache(maxsize=32)  # a case's own program serves every part that measures it
def begin(settings: Settings, seeds: int, ahead: bool = False) -> Begun:
    """The program of these settings for seeds 0 .. seeds-1, ready to train; compiled side by side, as a run is."""
    group = Group([Cell(settings, tuple(range(seeds)))])
    with precision(settings):
        if ahead:
            group.program.compile_ahead()
        group.program.begin()
    return Begun(settings, group, first_of(group))


def on_gpu() -> bool:
    """Whether JAX would use something other than the CPU."""
    return jax.devices()[0].platform != "cpu"
