"""The batched form of a transformer beside the simple one."""

import jax
import jax.numpy as jnp
import numpy as np
from tests.models.switches import stirred

from headway.kernels import simple
from headway.kernels.asked import Asked
from headway.kernels.tables import form as tables
from headway.settings import ModelSettings
from headway.tasks.chain import Chain
from headway.tasks.run import Settings

BATCH, CHUNK = 37, 10
QUICK = {"xla_backend_optimization_level": 0}
"""Compiling takes longer than running here."""
TASK = Chain(vocab=4, blocks=((1,), (2,)), horizon=3)
SMALL = ModelSettings(width=12, mlp=5, heads=3, dropout=0.3)


def asked_of(settings: Settings) -> Asked:
    """What a run's settings ask of a form."""
    task = settings.task
    return Asked(settings.model, settings.training.precision, task.vocab, task, task.reads)


def batch_of(task, dtype):
    """Random sequences, the same in every precision, a third of which count nothing."""
    sequences = jax.random.randint(jax.random.key(1), (BATCH, task.start + task.horizon), 0, task.vocab, jnp.int32)
    return sequences, jnp.asarray(np.arange(BATCH) % 3, dtype)


def distance(a, b):
    """The largest difference between two trees, against the largest number in the first of them."""
    # In NumPy: with JAX every shape would be compiled.
    pairs = [tuple(map(np.asarray, pair)) for pair in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True)]
    largest = max(float(np.max(np.abs(x))) for x, _ in pairs)
    return max(float(np.max(np.abs(x.astype(y.dtype) - y))) for x, y in pairs) / largest


def simple_form(model, task, sequences, weights, key):
    return simple.gradient(model, task, sequences, weights, key, BATCH)


def fast_form(model, task, sequences, weights, key):
    return tables.gradient(model, task, sequences, weights, key, CHUNK)


def both(model, task, key, forms=(simple_form, fast_form)):
    """(loss, gradient) in the simple form and in the fast one, in the model's own precision."""
    batch = batch_of(task, jax.tree.leaves(model)[0].dtype)
    return jax.jit(lambda model: [form(model, task, *batch, key) for form in forms], compiler_options=QUICK)(model)


def in_float32(model):
    return jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf), jnp.float32), model)


def errors_in_float32(settings, task, length, key):
    """How far the fast form and the simple one, both in float32, are from the simple one in float64."""
    with jax.enable_x64(True):
        model = stirred(settings, vocab=task.vocab, length=length)
        [exact] = both(model, task, key, [simple_form])
    slow, fast = both(in_float32(model), task, key)
    return distance(exact, fast), distance(exact, slow)
