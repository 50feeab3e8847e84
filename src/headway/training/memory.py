"""Memory of a program = shared + members * (model + optimiser + data) + 2 * those side by side * their activations.

The first part is exact, from shapes alone. In the second, temporaries take about as much as what is kept for them.
"""

import math
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from headway.tasks.run import Settings
from headway.tasks.task import has_shared, shape_of
from headway.training.chunks import chunk_size, together
from headway.training.problem import example_bytes, form, numbers, precision, problem, rows_of_batch
from headway.training.program import Member, Problem

SHARES = {"gpu": 0.9, "cpu": 0.5}
"""Of the device's memory that one program may take; on a CPU others live there too."""
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where Linux says what a container, or a job of a cluster, may take."""


@dataclass(frozen=True)
class Footprint:
    """Bytes of one member of a program."""

    resident: int
    """From the beginning to the end."""
    example: int
    """Activations of one sequence."""
    batch: int
    """Sequences of a step."""
    small: bool = False
    """Whether many run side by side also on a CPU."""
    shared: int = 0
    """Of all members together."""

    def of(self, members: int) -> int:
        """Bytes of a program of so many members."""
        side_by_side = together(members, self.batch, self.example, self.small)
        chunk = chunk_size(self.batch, self.example, side_by_side)
        return self.shared + members * self.resident + 2 * side_by_side * chunk * self.example


@cache
def footprint(settings: Settings, capacity: int) -> Footprint:
    """What a member takes; `capacity` rows hold its training set. Nothing is computed."""
    own = shape_of(settings.task)
    # What the references say of the tests is not there yet: only their weights could give it.
    said = len(settings.references) * settings.training.test_samples * own.predicted * own.outputs
    alone = settings.alone().thawed()
    with precision(alone):
        rows = rows_of_batch(alone, capacity)
        posed = problem(alone, capacity, form(alone, capacity, 1))
        world = settings.task.world_of_seed(0) if hasattr(settings.task, "world_of_seed") else ()
        shared = settings.task.shared() if has_shared(settings.task) else ()
        resident = _resident(posed, numbers(alone), world, shared)
    return Footprint(resident + 4 * said, example_bytes(settings), rows, settings.model is None, _bytes(shared))


def room() -> int | None:
    """Bytes that one program may take on this device; None where nobody knows."""
    device = jax.devices()[0]
    if device.platform != "cpu":
        limit = (device.memory_stats() or {}).get("bytes_limit")
        return None if limit is None else int(SHARES["gpu"] * limit)
    limits = []
    with suppress(OSError, ValueError):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for path in LIMITS:
        with suppress(OSError, ValueError):
            limits.append(int(Path(path).read_text()))
    return int(SHARES["cpu"] * min(limits)) if limits else None


def _resident(posed: Problem, own: PyTree, world: PyTree, shared: PyTree) -> int:
    def begin(seed: Any, own: PyTree, world: PyTree, shared: PyTree) -> PyTree:
        member = Member(seed, own, (), world, shared)
        model, data = posed.begin(member)
        return model, posed.optimiser(member).init(model), data

    made = jax.eval_shape(begin, jnp.uint32(0), *jax.tree.map(jnp.asarray, (own, world)), shared)
    return _bytes(made)


def _bytes(made: PyTree) -> int:
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(made))
