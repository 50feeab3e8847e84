"""A cell of paper B's toy: every case is descended, or its flow solved, and seen on its own time scale.

The clock "escape" counts closed forms of the plateau, sqrt(pi/2) T / (r sqrt(k B)), which every case has its own of:

    loss             (seed, time, case)     tested without cross-sample repetition; starts at 1/2
    focus            (seed, time, case)     attention on all copies together
    value            (seed, time, case)     <W, W*> / d: 1 when all is learned
    repeated_value   (seed, time, case)     the same on the repeated vector alone
    plateau          (seed, case), a fact   steps times the learning rate, or time; infinite where it was censored
    closed_form      (seed, case), a fact   the unit of the clock
    escape_time      (seed, case), a fact   of the linearised loss

Without samples nothing is random but W*, on which no number depends: seeds agree.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from headway.records import Cell, Trajectory
from headway.settings import ToySettings
from headway.theory.emergence import escape, logits, simulate
from headway.theory.emergence.descent import Descent, Rule, descend
from headway.theory.emergence.simulate import Seen, Times
from headway.theory.emergence.toy import Toy, toys
from headway.training.randomness import FEATURES, TRAINING_SET, key_of

CLOCK = "escape"
QUANTITIES = ("loss", "focus", "value", "repeated_value")


def toy_run(cell: Cell) -> Trajectory:
    """Every case of the settings, once a seed where seeds matter."""
    settings: ToySettings = cell.settings
    problems = toys(settings.cases, shared=settings.model == "gap")
    times = np.linspace(0, settings.shown, settings.points)
    # In coordinates there is nothing left that a seed could change.
    different = cell.seeds if settings.model == "matrices" else cell.seeds[:1]
    found = [_compute(settings, problems, times, seed) for seed in different]
    rows = [found[min(row, len(found) - 1)] for row in range(len(cell.seeds))]
    plateaus = np.stack([plateau for _, plateau in rows])
    with jax.enable_x64(True):
        share = 1 - 2 * settings.threshold
        predicted = {
            "closed_form": simulate.units_of(problems),
            "escape_time": np.array([float(escape.escape_time(problem, share)) for problem in problems]),
        }
    return Trajectory(
        seeds=cell.seeds,
        clocks={CLOCK: times},
        arrays={name: np.stack([curves[name] for curves, _ in rows]).astype(np.float32) for name in QUANTITIES},
        clock_of=dict.fromkeys(QUANTITIES, CLOCK),
        facts={
            "plateau": np.where(np.isnan(plateaus), np.inf, plateaus),
            # Steps that are too large blow up within a few: when, nobody needs to know.
            "diverged_at": np.where(np.isnan(plateaus).any(axis=1), 0, -1),
            **{name: np.tile(values, (len(rows), 1)) for name, values in predicted.items()},
        },
    )


def _compute(settings: ToySettings, problems: list[Toy], times: Times, seed: int) -> Seen:
    ends = {"threshold": settings.threshold, "longest": settings.longest}
    if settings.model == "matrices":
        each = [_in_matrices(settings, problem, times, seed) for problem in problems]
        curves = {name: np.stack([curves[name] for curves, _ in each], axis=1) for name in QUANTITIES}
        return curves, np.array([plateau for _, plateau in each])
    if settings.dynamics == "descent":
        return simulate.by_descent(problems, times, rate=settings.learning_rate, tail=settings.tail, **ends)
    if settings.model == "linearised":
        return simulate.by_line(problems, times, threshold=settings.threshold)
    return (simulate.by_late_phase if settings.model == "late" else simulate.by_flow)(problems, times, **ends)


def _in_matrices(settings: ToySettings, problem: Toy, times: Times, seed: int) -> tuple[dict[str, np.ndarray], float]:
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
