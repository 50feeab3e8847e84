"""Headway's own side: the laboratory's compiled program, exactly as `headway run` trains with it."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import jax
import numpy as np
from headway.training.train import State
from jaxtyping import PyTree

from benchmarks.bench.contestant import HEADWAY, Contestant
from headway.laboratory import Group, precision
from headway.records import Cell
from headway.tasks.run import Settings
from headway.training.checkpoint import flatten

FAR = 10**9
"""An evaluation that is never reached: the program only trains."""


@dataclass(frozen=True)
class Begun:
    """A program with its fresh states and data, which training leaves as they are."""

    settings: Settings
    group: Group
    state: State
    data: PyTree

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """What the first seed starts from."""
        return flatten(jax.tree.map(lambda leaf: leaf[0], self.state.model))

    @property
    def sequences(self) -> np.ndarray:
        """What the first seed learns from."""
        return np.asarray(self.data.training[0])

    def contestant(self, steps: int) -> Contestant:
        """Train on and on, `steps` at a time."""
        segments = self.group.program.train(self.state, self.data, 0, [FAR], room=steps)

        def advance() -> np.ndarray:
            with precision(self.settings):
                return next(segments).losses

        return Contestant(HEADWAY, len(self.group.cells[0].seeds), steps, advance)

    def evaluate(self) -> None:
        """One evaluation of every seed."""
        with precision(self.settings):
            next(self.group.program.train(self.state, self.data, 0, [0]))

    def gradient_by_one_step(self, rate: float) -> tuple[float, dict[str, np.ndarray]]:
        """loss, (before - after) / rate: what the program's one step of plain gradient descent says."""
        with precision(self.settings):
            (segment,) = self.group.program.train(self.state, self.data, 0, [1], room=1)
        after = flatten(jax.tree.map(lambda leaf: leaf[0], segment.state.model))
        grads = {name: (before.astype(np.float64) - after[name]) / rate for name, before in self.weights.items()}
        return float(segment.losses[0, 0]), grads


@functools.lru_cache(maxsize=32)  # a case's own program serves every part that measures it
def begin(settings: Settings, seeds: int) -> Begun:
    """The program of these settings for seeds 0 .. seeds-1, ready to train."""
    group = Group([Cell(settings, tuple(range(seeds)))])
    with precision(settings):
        state, data = jax.block_until_ready(group.program.begin())
    return Begun(settings, group, state, data)


def on_gpu() -> bool:
    """Whether JAX would use something other than the CPU."""
    return jax.devices()[0].platform != "cpu"
