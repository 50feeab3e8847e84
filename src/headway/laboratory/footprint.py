"""Memory of a program = members * (model + optimiser + data) + 2 * those side by side * their activations.

The first part is exact, from shapes alone. In the second, temporaries take about as much as what is kept for them.
"""

import math
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from headway.kernels import Form
from headway.laboratory import group as markov
from headway.laboratory.emergence import group as emergence
from headway.laboratory.emergence.lesson import EmergenceSettings, lesson, repetition_of
from headway.settings import Settings
from headway.training.chunks import chunk_size, together
from headway.training.train import Member

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

    def of(self, members: int) -> int:
        """Bytes of a program of so many members."""
        side_by_side = together(members, self.batch, self.example)
        chunk = chunk_size(self.batch, self.example, side_by_side)
        return members * self.resident + 2 * side_by_side * chunk * self.example


@cache
def footprint(settings: Settings | EmergenceSettings, capacity: int) -> Footprint:
    """What a member takes; `capacity` rows hold its training set. Nothing is computed."""
    if isinstance(settings, Settings):
        task, training = settings.task, settings.training
        compared = 4 * len(settings.references) * training.test_samples * task.horizon * task.tokens
        with markov.precision(settings):
            resident = _resident(_markov(settings, capacity), markov.numbers_of(settings))
        rows = markov.rows_of_batch(settings, capacity)
        return Footprint(resident + compared, markov.example_bytes(settings), rows)
    with emergence.precision(settings):
        resident = _resident(_emergence(settings), repetition_of(settings))
    return Footprint(resident, emergence.example_bytes(settings), settings.training.batch)


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


def _markov(settings: Settings, capacity: int) -> Callable[[Member], PyTree]:
    """What a member begins with, except for the references' predictions, which only their weights could tell."""
    own = markov.problem(replace(settings, references=()), capacity, Form("", _nobody, _nobody, None))

    def begin(member: Member) -> PyTree:
        model, data = own.begin(member)
        return model, own.optimiser(member).init(model), data

    return begin


def _nobody(*_arguments: Any) -> Any:
    raise AssertionError("nothing is read and no gradient is taken before the first step.")


def _emergence(settings: EmergenceSettings) -> Callable[[Member], PyTree]:
    own = lesson(settings)

    def begin(member: Member) -> PyTree:
        model, task = own.begin(member)
        return model, own.optimiser.init(model), task

    return begin


def _resident(begin: Callable[[Member], PyTree], numbers: PyTree) -> int:
    made = jax.eval_shape(
        lambda seed, own: begin(Member(seed, own, ())), jnp.uint32(0), jax.tree.map(jnp.asarray, numbers)
    )
    return sum(math.prod(leaf.shape) * leaf.dtype.itemsize for leaf in jax.tree.leaves(made))
