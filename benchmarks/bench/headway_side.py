"""Headway's own side: the compiled program of a group, exactly as `headway run` trains with it."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.bench.contestant import HEADWAY, Contestant
from headway.records import Cell
from headway.tasks.run import Settings
from headway.training.data import epoch_batch
from headway.training.group import Group
from headway.training.problem import precision
from headway.training.randomness import ORDER, key_of
from headway.training.steps import ROOM, compiled

DECAY = 0.9
"""b1 of AdamW, in every run that is measured."""


@dataclass(frozen=True)
class Step:
    """A step of the first seed: from which weights, on which of its sequences, its loss and its clipped gradient."""

    weights: dict[str, np.ndarray]
    rows: np.ndarray
    loss: float
    gradient: dict[str, np.ndarray]


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

    def compile(self) -> None:
        """Make the code of a step, and do none: where all seeds are one pack, `contestant` then need not make it."""
        program = self.group.program
        functions = compiled(program.problem)
        with precision(self.settings):
            state, data = jax.eval_shape(functions.begin, (), program.members)
            functions.advance.lower((), state, program.members, data, 0, 1).compile()

    def second_step(self) -> Step:
        """AdamW's first moment is m' = b1 m + (1 - b1) g, so that two of them give the gradient of the step between.

        Of an epoch's steps the second has no dropout where only the first has.
        """
        program, training = self.group.program, self.settings.training
        self._begin()
        with precision(self.settings):
            program.advance(0, 1)
            program.keep()
            weights, before = first_of(self.group), _first_moments(program.states())
            losses = program.advance(1, 2)
            program.keep()
            after = _first_moments(program.states())
            rows, _ = epoch_batch(
                key_of(jnp.uint32(0), ORDER), 1, training.samples, self.group.capacity, training.batch
            )
        gradient = {name: (after[name] - DECAY * before[name]) / (1 - DECAY) for name in weights}
        return Step(weights, np.asarray(rows), float(losses[0, 0]), gradient)

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


def _first_moments(states: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Of the first seed, by the names of the weights."""
    named = {name.partition("].mu"): values[0].astype(np.float64) for name, values in states.items()}
    return {weight: values for (_, found, weight), values in named.items() if found}


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
