"""A trajectory of any trained task, without training: names and shapes of its evaluation, and made numbers."""

import functools
from typing import Any

import jax
import numpy as np

from headway.records import Cell, Trajectory
from headway.training.group import Group

STEPS = 24


def made_of_any(settings: Any, seeds: tuple[int, ...], diverged: dict[int, int] | None = None) -> Trajectory:
    """Everything falls from seed to seed a little differently; nothing is computed."""
    return _made(settings.thawed(), seeds, tuple((diverged or {}).items()))


@functools.cache
def _shapes(settings: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is measured of a seed, and its facts. Tracing a program takes long, and does not depend on the seeds."""
    program = Group([Cell(settings, (0,))]).program
    problem = program.problem
    member = jax.tree.map(lambda leaf: leaf[0], program.members)._replace(shared=program._shared)
    model, data = jax.eval_shape(problem.begin, member)
    return jax.eval_shape(problem.probe, model, member, data), jax.eval_shape(problem.facts, member, data)


@functools.cache
def _made(settings: Any, seeds: tuple[int, ...], diverged: tuple[tuple[int, int], ...]) -> Trajectory:
    """What frozen parts come from is not there."""
    probed, known = _shapes(settings)
    evaluations = np.asarray(settings.evaluation.steps(settings.training.steps), np.int64)
    pictures = np.asarray(settings.evaluation.pictures(settings.training.steps), np.int64)
    clocks = {"evaluation": evaluations, "snapshot": pictures}
    arrays, clock_of = {}, {}
    for name, shape in {**probed, "train_loss": ()}.items():
        clock = "snapshot" if name == "attention" else "evaluation"
        arrays[name] = _falling(clocks[clock], getattr(shape, "shape", ()), seeds)
        clock_of[name] = clock
    for name in ("gradient_norm", "learning_rate"):
        arrays[name], clock_of[name] = _falling(evaluations, (), seeds), "evaluation"
    facts = {name: np.ones((len(seeds), *shape.shape), np.float32) for name, shape in known.items()}
    ends = [dict(diverged).get(seed, -1) for seed in seeds]
    return Trajectory(seeds, clocks, arrays, clock_of, {**facts, "diverged_at": np.asarray(ends, np.int64)})


def _falling(times: np.ndarray, shape: tuple[int, ...], seeds: tuple[int, ...]) -> np.ndarray:
    """exp(-t / tau) between 1 and 0, slower for every further entry."""
    slower = 1 + np.arange(int(np.prod(shape)), dtype=float).reshape(shape)
    curve = np.exp(-times.reshape(-1, *(1 for _ in shape)) / (STEPS * slower))
    return np.stack([curve * (1 + 0.01 * number) / 1.2 for number, _ in enumerate(seeds)]).astype(np.float32)
