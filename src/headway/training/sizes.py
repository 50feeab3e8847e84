"""How much an example, a batch and a model take, by settings alone: nothing is traced but a task's own model."""

import functools
import math
from typing import Any

import jax
from jaxtyping import PRNGKeyArray

from headway.models.rows import PlainRows, Rows
from headway.tasks.run import Settings
from headway.tasks.task import as_example, functions_of, has_own_model, is_row, shape_of
from headway.training.chunks import chunk_size
from headway.training.evaluation import read_example

CPU_WEIGHTS = 3
"""Times the bytes of the weights: every chunk reads all weights and adds to the slopes of all."""
CPU_DROPOUT = 20 * 2**20
"""With dropout: chunks of 5 MiB take a tenth longer, and with one seed, alone on two cores, half as long again."""


@functools.lru_cache(256)
def rows_of(task: Any) -> Rows | None:
    """How its rows of tokens are read, if it draws rows and scores them by their cross-entropy; the fast forms do."""
    if has_own_model(task):
        return None
    if isinstance(task, Rows):
        return task
    functions = functions_of(task)
    if hasattr(task, "loss") or not hasattr(task, "vocab"):
        return None
    drawn = jax.eval_shape(lambda key: functions.sample(functions.world(key), key), jax.random.key(0))
    own = shape_of(task)
    return PlainRows(drawn.shape[0] - own.predicted, own.predicted) if is_row(drawn) else None


def rows_of_batch(settings: Settings, capacity: int) -> int:
    training = settings.training
    if training.data == "exact":
        return 1
    return training.batch if training.data == "fresh" else min(training.batch, capacity)


def chunk_of(settings: Settings, batch: int, members: int) -> int:
    """How many of a batch's examples are differentiated together, if so many members run side by side."""
    return chunk_size(batch, example_bytes(settings), members, least_bytes(settings))


def least_bytes(settings: Settings) -> int:
    """What the activations of a chunk shall take at least on a CPU; of a task's own model nobody asks."""
    if has_own_model(settings.task):
        return 0
    task, model = shape_of(settings.task), settings.model
    width = model.stream(task.inputs, task.reads)
    weights = 4 * width * (model.layers * (4 * width + 2 * model.mlp) + task.inputs + task.outputs)
    return max(CPU_WEIGHTS * weights, CPU_DROPOUT if model.dropout else 0)


def example_bytes(settings: Settings) -> int:
    """What one example's activations take, about: the streams, the heads' scores and what they write."""
    if has_own_model(settings.task):
        return _own_bytes(settings.task, settings.training.data == "exact")
    task, model = shape_of(settings.task), settings.model
    rows = rows_of(settings.task)
    width = model.stream(task.inputs, task.reads)
    windows = task.predicted if rows is not None and task.reads != rows.length else 1
    queries = 1 if windows > 1 else task.predicted
    last = queries * (6 * width + model.mlp + 3 * model.heads * (task.reads + width) + 3 * task.outputs)
    if rows is not None:
        return 4 * windows * (model.layers * task.reads * 5 * width + last)
    # Every layer but the last is computed at every position, with its scores and its MLP.
    before = task.reads * (12 * width + 3 * model.mlp + 4 * model.heads * task.reads)
    return 4 * (max(1, model.layers - 1) * before + last)


@functools.lru_cache(64)
def _own_bytes(task: Any, exact: bool) -> int:
    """What a loss of one example of a task with a model of its own computes on its way, all of it."""
    functions = functions_of(task)

    def loss(key: PRNGKeyArray) -> Any:
        world = functions.world(key)
        model = functions.parameters(world, key)
        if exact:
            return functions.expected_loss(world, model)
        drawn = functions.sample(world, key)
        return functions.loss(world, read_example(model, task, world, drawn).logits, as_example(task, drawn))

    equations = jax.make_jaxpr(loss)(jax.random.key(0)).jaxpr.eqns
    outputs = [variable.aval for equation in equations for variable in equation.outvars]
    return sum(math.prod(each.shape) * 4 for each in outputs if hasattr(each, "shape"))
