"""Small transformers of paper B and of text: what is measured, along which axes, and from which batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.tasks.run import Settings

POOL = 16
"""Batches that a rival trains on, again and again; Headway draws its own."""

SMALL = {
    "text": "text",
    "text-mlp": "text, MLP",
    "text-4-layers": "text, 4 layers",
    "text-256-tokens": "text, 256 tokens",
    "recall": "recall",
    "single-location": "single-location",
}
"""Cases, in words."""

GROWING = "single-location"
"""The case whose cost is followed along the axes: it has them all and needs no text."""

SMALL_AXES = {
    "seeds": "seeds in one program",
    "length": "T, tokens of the context",
    "dimension": "d, dimension of a token",
    "layers": "layers",
    "width": "width",
}
"""What the cost of a small transformer is followed along, in words."""


def small_settings(name: str, quick: bool) -> Settings:
    """A run at paper scale, float32 or TF32 as it asks for; quickly, the same parts in shapes that say nothing."""
    from headway.experiments import find  # late: a rival alone in a process measures its own imports

    if name.startswith("text"):
        runs = find("text").grids["paper"]
        found = {
            "text": lambda: runs["speeches, characters, 1 layer"].changed(model={"layers": 2}),
            "text-mlp": lambda: runs["speeches, characters, MLP"],
            "text-4-layers": lambda: runs["speeches, characters, 4 layers"],
            "text-256-tokens": lambda: runs["speeches, characters, 256 tokens"],
        }[name]()
    else:
        runs = find({"recall": "recall-appendix", "single-location": "transformer-appendix"}[name]).grids["paper"]
        found = next(iter(runs.values()))
    return _tiny(name, found) if quick else found


def _tiny(name: str, settings: Settings) -> Settings:
    task = {"recall": {"vocab": 8, "pairs": 2}, "single-location": {"length": 6, "dimension": 4}}[name]
    return settings.changed(
        task=task,
        model={"layers": 1, "width": 8, "mlp": 8 if settings.model.mlp else 0, "heads": 1},
        training={"batch": 8, "test_samples": 8},
    )


def small_names(quick: bool) -> tuple[str, ...]:
    """Quickly, one that needs no text."""
    return ("single-location",) if quick else tuple(SMALL)


def absent(name: str) -> str | None:
    """What a case lacks here, if anything, and what to do: text comes with an extra."""
    from headway.experiments import find

    return (find("text").lacks({name: small_settings(name, quick=False)}) or None) if name.startswith("text") else None


def small_axes(quick: bool, gpu: bool) -> Mapping[str, tuple[int, ...]]:
    """Name of an axis -> the values it takes, the case's own among them, seeds apart."""
    if quick:
        return {"seeds": (1, 2)}
    return {
        "seeds": (1, 4, 8, 16, 32) if gpu else (1, 2, 4, 8),
        "length": (16, 32, 64, 128, 256),
        "dimension": (8, 16, 32, 64),
        "layers": (1, 2, 4),
        "width": (64, 128, 256, 512),
    }


def changed_along(settings: Settings, axis: str, value: int) -> Settings:
    """The same run with one number changed."""
    part = "task" if axis in ("length", "dimension") else "model"
    return settings.changed(**{part: {axis: value}})


def batches(settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets of `POOL` batches, (batch number, row, ..)."""
    import jax

    from headway.tasks.task import as_example, functions_of, has_shared

    task, count = settings.task, POOL * settings.training.batch
    functions = functions_of(task)
    world = jax.tree.map(jax.numpy.asarray, task.shared()) if has_shared(task) else functions.world(jax.random.key(0))
    examples = jax.vmap(lambda each: as_example(task, each))(functions.samples(world, jax.random.key(1), count))

    def by_batch(values: Any) -> np.ndarray:
        return np.asarray(values).reshape(POOL, settings.training.batch, *values.shape[1:])

    return by_batch(examples.inputs), by_batch(examples.targets)
