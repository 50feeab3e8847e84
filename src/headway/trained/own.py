"""What a model of a task's own answers; it has no heads to be taken apart."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from headway.analysis.arrays import as_numpy
from headway.settings import SettingsError
from headway.tasks.task import Answer, Example, as_example, functions_of
from headway.training.randomness import FEATURES, key_of


def answers(task: Any, seed: int, parameters: Any, inputs: Any) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Answers, (..., predicted, output), and attention, layer by layer, where the task shows any.

    `inputs` are whole examples, or inputs alone: all else is zero then.
    """
    functions = functions_of(task)
    if functions.answer is None or functions.sample is None:
        raise SettingsError(
            f"the task {type(task).__name__} answers no examples: it knows its loss in closed form. Its parameters "
            "are model.weights."
        )
    world = functions.world(key_of(seed, FEATURES))
    one = jax.eval_shape(lambda key: as_example(task, functions.sample(world, key)), jax.random.key(0))
    batch, outer = _batch(one, inputs)
    found = _answering(task)(world, parameters, batch)
    shaped = jax.tree.map(lambda leaf: np.asarray(leaf).reshape(*outer, *leaf.shape[1:]), found)
    layers = () if shaped.attention is None else tuple(np.moveaxis(shaped.attention, len(outer), 0))
    return shaped.logits, layers


@functools.lru_cache(16)
def _answering(task: Any) -> Callable[..., Answer]:
    """Answers to many examples, in one program for all models of a run."""
    answer = functions_of(task).answer
    assert answer is not None

    def one(world: Any, parameters: Any, example: Example) -> Answer:
        return _as_answer(answer(world, parameters, example))

    return jax.jit(jax.vmap(one, in_axes=(None, None, 0)))


def _batch(one: Example, inputs: Any) -> tuple[Example, tuple[int, ...]]:
    """Examples along one axis, and the axes that they had; of inputs alone, all else is zero."""
    given: Any = inputs if isinstance(inputs, Example) else one._replace(inputs=jnp.asarray(as_numpy(inputs)))
    alone = given is not inputs
    outer = np.shape(given.inputs)[: np.ndim(given.inputs) - one.inputs.ndim]
    count = math.prod(outer)

    def rows(shape: Any, values: Any) -> Any:
        if shape is None:
            return None
        if values is None:
            return jnp.zeros((count, *shape.shape), shape.dtype)
        return jnp.asarray(as_numpy(values)).reshape(count, *shape.shape)

    parts: dict[str, Any] = {}
    for name in Example._fields:
        wanted, got = getattr(one, name), None if alone and name != "inputs" else getattr(given, name)
        empty = jax.tree.map(lambda _: None, wanted)
        filled = jax.tree.map(rows, wanted, empty if got is None else got, is_leaf=lambda each: each is None)
        parts[name] = None if wanted is None else filled
    return Example(**parts), outer


def _as_answer(found: Any) -> Answer:
    answer = found if isinstance(found, Answer) else Answer(found)
    return answer._replace(extra=None)
