"""Cells of paper B's toy: each is descended, or its flow solved, and seen on its own time scale.

The clock "escape" counts closed forms of the plateau, sqrt(pi/2) T / (r sqrt(k B)), which every cell has its own of.
What a transformer on the same task measures, too, has its name and shape:

    loss                 (seed, time)         tested without cross-sample repetition; starts at 1/2
    gain                 (seed, time)         <W, W*> / d = E<W x, W* x>: 1 when all is learned
    gain_repeated        (seed, time)         the same on the repeated vector alone
    attention_relevant   (seed, time, 1, 1)   on all copies together, of the one head of the one layer
    plateau              (seed,), a fact      steps times the learning rate, or time; infinite where it was censored
    closed_form          (seed,), a fact      the unit of the clock
    escape_time          (seed,), a fact      of the linearised loss

Without samples nothing is random but W*, on which no number depends: seeds agree.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from headway.records import Cell, Trajectory
from headway.settings import ToySettings
from headway.theory.emergence import escape, logits, simulate
from headway.theory.emergence.descent import Descent, Rule, descend
from headway.theory.emergence.simulate import Times
from headway.theory.emergence.toy import Toy, toy
from headway.training.randomness import FEATURES, TRAINING_SET, key_of

CLOCK = "escape"
QUANTITIES = ("loss", "attention_relevant", "gain", "gain_repeated")
Seen = tuple[dict[str, np.ndarray], float]
"""Name -> (time,), and the plateau."""


def shape_of(settings: ToySettings) -> ToySettings:
    """Equal for settings that are computed side by side, whatever their sizes are; matrices take long, and come alone.

    Descents of many sizes are one program, and the program of one flow serves all.
    """
    if settings.model == "matrices":
        return settings
    usual = ToySettings()
    return replace(settings, **{name: getattr(usual, name) for name in ("dimension", "length", "copies", "repeated")})


def toy_runs(cells: Sequence[Cell]) -> list[Trajectory]:
    """One for each of some cells of one shape, once a seed where seeds matter."""
    settings: ToySettings = cells[0].settings
    times = np.linspace(0, settings.shown, settings.points)
    problems = [_problem(cell.settings) for cell in cells]
    if settings.model == "matrices":
        every = [
            [_in_matrices(cell.settings, problem, times, seed) for seed in cell.seeds]
            for cell, problem in zip(cells, problems, strict=True)
        ]
    else:
        # In coordinates there is nothing left that a seed could change.
        curves, plateaus = _in_coordinates(settings, problems, times)
        alone = [({name: curves[name][:, row] for name in QUANTITIES}, end) for row, end in enumerate(plateaus)]
        every = [[seen] * len(cell.seeds) for cell, seen in zip(cells, alone, strict=True)]
    return [_trajectory(cell, problem, times, seen) for cell, problem, seen in zip(cells, problems, every, strict=True)]


def _problem(settings: ToySettings) -> Toy:
    sizes = settings.dimension, settings.length, settings.copies, settings.repeated
    return toy(*sizes, shared=settings.model == "gap")


def _trajectory(cell: Cell, problem: Toy, times: Times, seen: Sequence[Seen]) -> Trajectory:
    plateaus = np.array([plateau for _, plateau in seen])
    arrays = {name: np.stack([curves[name] for curves, _ in seen]).astype(np.float32) for name in QUANTITIES}
    with jax.enable_x64(True):
        predicted = {
            "closed_form": float(escape.plateau(problem)),
            "escape_time": float(escape.escape_time(problem, 1 - 2 * cell.settings.threshold)),
        }
    return Trajectory(
        seeds=cell.seeds,
        clocks={CLOCK: times},
        arrays={**arrays, "attention_relevant": arrays["attention_relevant"][:, :, None, None]},
        clock_of=dict.fromkeys(QUANTITIES, CLOCK),
        facts={
            "plateau": np.where(np.isnan(plateaus), np.inf, plateaus),
            # Steps that are too large blow up within a few: when, nobody needs to know.
            "diverged_at": np.where(np.isnan(plateaus), 0, -1),
            **{name: np.full(len(seen), value) for name, value in predicted.items()},
        },
    )


def _in_coordinates(settings: ToySettings, problems: list[Toy], times: Times) -> simulate.Seen:
    ends = {"threshold": settings.threshold, "longest": settings.longest}
    if settings.dynamics == "descent":
        return simulate.by_descent(problems, times, rate=settings.learning_rate, tail=settings.tail, **ends)
    if settings.model == "linearised":
        return simulate.by_line(problems, times, threshold=settings.threshold)
    return (simulate.by_late_phase if settings.model == "late" else simulate.by_flow)(problems, times, **ends)


def _in_matrices(settings: ToySettings, problem: Toy, times: Times, seed: int) -> Seen:
    """W and all T logits: the expectation in double precision, a training set, which takes long, in single."""
    with jax.enable_x64(settings.samples is None):
        unit = float(escape.plateau(problem)) / settings.learning_rate
        looks = jnp.asarray(np.round(times * unit), jnp.int32)
        numbers = jax.tree.map(jnp.asarray, problem)
        target = logits.orthogonal_target(key_of(seed, FEATURES), int(problem.dimension))
        posed: Any = logits.Population(numbers, target)
        if settings.samples is not None:
            posed = logits.draw(key_of(seed, TRAINING_SET), posed, settings.samples)
        rule = Rule(settings.threshold, settings.tail, jnp.int32(np.ceil(settings.longest * unit)))
        found = _descend(posed, logits.start(problem), settings.learning_rate, looks, rule)
        curves = {name: np.asarray(values) for name, values in found.seen.items()}
        return curves, float(found.plateau) * settings.learning_rate


@functools.partial(jax.jit, static_argnums=2)
def _descend(posed: Any, start: logits.Matrices, rate: float, looks: jax.Array, rule: Rule) -> Descent:
    if isinstance(posed, logits.Samples):
        return descend(logits.sample_flow, _on_fresh_samples, posed, start, rate, looks, rule)
    return descend(logits.flow, logits.measure, posed, start, rate, looks, rule)


def _on_fresh_samples(samples: logits.Samples, state: logits.Matrices) -> dict[str, logits.Scalar]:
    return logits.measure(samples.population, state)
