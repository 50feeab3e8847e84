"""Memory of a process = itself + shared + members * (model + optimiser + data) + those under way at once * their work.

What members hold is exact, from shapes alone. Their work is the largest of three: samples as they are drawn, from a
trace; activations of a step, of which temporaries take about as much as what is kept; half of them in a test, where
nothing is kept. What the process itself takes was measured: on a CPU it lies in the same memory. docs/log.md compares
the sum with runs.
"""

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import PyTree

from headway.tasks.run import Settings
from headway.tasks.task import functions_of, has_shared, shape_of
from headway.training.checkpoint import plain
from headway.training.chunks import at_once, chunk_size, together
from headway.training.evaluation import AT_A_TIME, EvaluationData
from headway.training.limits import Limit, limits, smallest
from headway.training.liveness import bytes_alive
from headway.training.problem import form, numbers, precision, problem
from headway.training.sizes import example_bytes, least_bytes, rows_of_batch
from headway.training.steps import Member, Problem

SHARE = 0.9
"""Of what is free, for one process: the estimate may be too small by so much."""
PROCESS = {"own": 475 * 2**20, "transformer": 650 * 2**20, "kernels": 900 * 2**20}
"""Measured on a CPU, Python and JAX (250 MiB) and compiling: models of tasks' own, transformers, those with kernels."""
COPIES = {"cpu": 6, "gpu": 3}
"""Of models and optimisers: as they are, as they were, as they become; those of a checkpoint, and its file."""
FUSED = 7
"""Kernels on a CPU take a batch at once, and of every sequence about a seventh of its activations."""


@dataclass(frozen=True)
class Footprint:
    """Bytes of one member of a program."""

    model: int
    """Weights, what the optimiser keeps of them, and copies of both."""
    training: int
    """Training set."""
    tests: int
    """Test set, what the reference predictors say of it, and what the task drew for the seed."""
    drawing: int
    """Temporaries while it draws its data."""
    example: int
    """Activations of one sequence."""
    batch: int
    """Sequences of a step."""
    tested: int = 0
    """Sequences that are drawn, read and measured together, where no test set is kept."""
    kind: str = "transformer"
    """What is compiled, of `PROCESS`; of tasks' own models many run side by side also on a CPU."""
    shared: int = 0
    """Of all members together."""
    least: int = 0
    """Bytes of activations that are computed together at least, on a CPU."""

    @property
    def resident(self) -> int:
        """From the beginning to the end."""
        return self.model + self.training + self.tests

    def of(self, members: int) -> int:
        """Bytes of a process that runs a program of so many members; on a GPU those of the device."""
        return sum(self.parts(members).values())

    def parts(self, members: int) -> dict[str, int]:
        """The same by what they are for."""
        side_by_side = together(members, self.batch, self.example, self.kind == "own")
        step = 2 * chunk_size(self.batch, self.example, side_by_side, self.least) * self.example
        if self.kind == "kernels" and _platform() == "cpu":
            step = max(step, self.batch * self.example // FUSED)
        work = {
            "drawing": self.drawing,
            "activations": step,
            "testing": 2 * self.tests + self.tested * self.example // 2,
        }
        largest = max(work, key=lambda each: work[each])
        return {
            "process": PROCESS[self.kind] if _platform() == "cpu" else 0,
            "shared": self.shared,
            "model": members * self.model,
            "training": members * self.training,
            "tests": members * self.tests,
            largest: side_by_side * at_once(-(-members // side_by_side)) * work[largest],
        }


class Step(NamedTuple):
    """What a member does at every step."""

    kind: str
    """What is compiled, of `PROCESS`."""
    example: int
    """Bytes of activations of one sequence."""
    batch: int
    """Sequences."""
    least: int
    """Bytes of activations that are computed together at least, on a CPU."""


@cache
def step_of(settings: Settings, capacity: int) -> Step:
    """By shapes alone: nothing is traced, and no data are loaded."""
    alone = settings.alone().thawed()
    with precision(alone):
        fast = form(alone, capacity, 1)
    kind = "own" if settings.model is None else "transformer" if fast is None else "kernels"
    return Step(kind, example_bytes(settings), rows_of_batch(alone, capacity), least_bytes(settings))


@cache
def footprint(settings: Settings, capacity: int) -> Footprint:
    """What a member takes; `capacity` rows hold its training set. Nothing is computed."""
    own = shape_of(settings.task)
    # What the references say of the tests is not there yet: only their weights could give it.
    said = len(settings.references) * settings.training.test_samples * own.predicted * own.outputs
    alone = settings.alone().thawed()
    with precision(alone):
        fast = form(alone, capacity, 1)
        posed = problem(alone, capacity, fast)
        world = settings.task.world_of_seed(0) if hasattr(settings.task, "world_of_seed") else ()
        shared = _shared_shapes(settings.task)
        state, data, drawing = _begun(posed, numbers(alone), world, shared)
    step = step_of(settings, capacity)
    functions, kept = functions_of(settings.task), data.test is not None
    drawn = not kept and (functions.expected_loss is None or functions.measures is not None)
    return Footprint(
        COPIES["cpu" if _platform() == "cpu" else "gpu"] * _bytes(state),
        _bytes(data.training),
        _bytes((data.world, data.test, data.references)) + 4 * said,
        drawing,
        step.example,
        step.batch,
        min(AT_A_TIME, settings.training.test_samples) if drawn else 0,
        step.kind,
        _bytes(shared),
        step.least,
    )


def room(workers: int = 1) -> Limit | None:
    """What one process may take on this device, of so many at once, and who says so; None where nobody knows."""
    device = jax.devices()[0]
    found = smallest(limits(), workers)
    if device.platform != "cpu":
        limit = (device.memory_stats() or {}).get("bytes_limit")
        source = "what XLA may take of the GPU (XLA_PYTHON_CLIENT_MEM_FRACTION)"
        found = None if limit is None else Limit(limit, source, shared=False)
    return None if found is None else replace(found, free=int(SHARE * found.free))


def _begun(posed: Problem, own: PyTree, world: PyTree, shared: PyTree) -> tuple[PyTree, EvaluationData, int]:
    """Shapes of what a member holds, model and optimiser and data, and bytes that it takes besides to draw them."""

    def begin(seed: Any, own: PyTree, world: PyTree, shared: PyTree) -> PyTree:
        member = Member(seed, own, (), world, shared)
        model, data = posed.begin(member)
        return model, posed.optimiser(member).init(model), data

    given = (np.uint32(0), *jax.tree.map(plain, (own, world)), shared)
    traced, made = jax.make_jaxpr(begin, return_shape=True)(*given)
    *state, data = made
    return state, data, max(0, bytes_alive(traced.jaxpr) - _bytes(made))


def _shared_shapes(task: Any) -> PyTree:
    """What all members share, as shapes: counting the n-grams of a text to plan its runs would take minutes."""
    if hasattr(task, "shared_shapes"):
        return task.shared_shapes()
    return task.shared() if has_shared(task) else ()


def _platform() -> str:
    return jax.devices()[0].platform


def _bytes(made: PyTree) -> int:
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(made))
