"""The CUDA kernels give the simple form's numbers; only where there is a GPU that runs them.

`JAX_PLATFORMS=cuda,cpu python -m pytest --optimised tests/kernels/test_cuda.py` on a machine with one; elsewhere they
skip.
"""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.forms import asked_of

from headway.kernels import cuda, form_of, simple
from headway.kernels.cuda import full, ngram, one_hot
from headway.models.initialisation import transformer
from headway.presets import FULL, MINIMAL
from headway.settings import TrainingSettings
from headway.tasks.chain import Chain
from headway.tasks.run import Settings
from headway.training.drawing import drawing_device
from headway.training.optimisers import Rates, optimiser

pytestmark = pytest.mark.skipif(not cuda.usable(), reason="no GPU that runs CUDA kernels")

TF32 = TrainingSettings(precision="tf32")
BLOCKS = ((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12))
MINIMAL_SHAPES = {
    "paper": (Chain(), replace(MINIMAL, scaled_scores=True), None, 301),
    "one of everything": (Chain(vocab=2, blocks=((1,),), horizon=1), replace(MINIMAL, heads=1), None, 1),
    "eight heads": (Chain(vocab=7, blocks=((1, 2), (3,)), horizon=4), replace(MINIMAL, heads=8), None, 37),
    "largest": (Chain(vocab=64, blocks=((1,),), horizon=32), replace(MINIMAL, heads=1), None, 5),
    "overlapping": (Chain(vocab=33, blocks=((1, 2, 3), (2, 3))), replace(MINIMAL, heads=2), None, 37),
    "windows": (Chain(), MINIMAL, 4, 37),
}
SHORT, NARROW = Chain(vocab=7, blocks=((1,), (2, 3)), horizon=5), replace(FULL, width=130, heads=2, mlp=9)
FULL_SHAPES = {
    "paper": (Chain(blocks=BLOCKS), FULL, None, 101),
    "narrow": (SHORT, NARROW, None, 37),
    "sinusoids, one sequence": (Chain(vocab=20), replace(FULL, width=144, positions="sinusoidal", mlp=9), None, 1),
    "one query": (Chain(vocab=20, horizon=1), replace(FULL, width=256, heads=8), None, 37),
    "one head": (SHORT, replace(NARROW, heads=1), None, 37),
    "windows of 12": (Chain(blocks=BLOCKS), FULL, 12, 101),
    "windows of 4": (Chain(blocks=BLOCKS), FULL, 4, 101),
    "narrow windows": (SHORT, NARROW, 3, 9),
    "windows of one token": (SHORT, replace(FULL, width=144, mlp=9), 1, 9),
    "windows that are whole": (Chain(vocab=20, horizon=1), replace(FULL, width=252, heads=6, mlp=9), 6, 37),
}


def members_of(settings: Settings, count: int, batch: int):
    """Models, sequences and weights (some zero) of several members."""
    random = np.random.default_rng(1)

    def model(seed):
        return transformer(settings.model, settings.task.vocab, settings.task.reads, jax.random.key(seed))

    stirred = jax.tree.map(
        lambda leaf: leaf + 0.05 * jnp.asarray(random.normal(size=leaf.shape), leaf.dtype),
        jax.vmap(model)(jnp.arange(count)),
    )
    if settings.model.mlp:
        # One that only rounding opens outweighs all other errors of few rows: they stand clearly open or closed.
        sides = jnp.where(jnp.arange(settings.model.mlp) % 2, 8.0, -8.0)
        stirred = eqx.tree_at(_inner_biases, stirred, [bias + sides for bias in _inner_biases(stirred)])
    sequences = random.integers(0, settings.task.vocab, (count, batch, settings.task.length + 1))
    weights = 1.0 * (random.uniform(size=(count, batch)) < 0.9)
    weights[:, 0] = 1
    return stirred, jnp.asarray(sequences, jnp.int32), jnp.asarray(weights, jnp.float32)


def _inner_biases(model):
    return [layer.mlp.inner_bias for layer in model.layers]


def errors(found, wanted):
    """Relative error of every leaf; of one that is zero, as the queries' of a single key, relative to the largest."""
    pairs = list(zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True))
    largest = max(float(jnp.linalg.norm(b.ravel())) for _, b in pairs)
    return [float(jnp.linalg.norm((a - b).ravel()) / (jnp.linalg.norm(b.ravel()) + 1e-5 * largest)) for a, b in pairs]


def exact(settings, key, arguments):
    """The simple form in float32, by the CPU beside the GPU if JAX may use it, for which XLA compiles it sooner."""
    device = drawing_device()
    where = jax.devices()[0] if device is None else device
    with jax.default_device(where), jax.default_matmul_precision("highest"):
        return jax.device_get(_simple(settings, key)(*jax.device_put((*arguments, key), where)))


def rounded(settings, key, arguments):
    """The simple form by the GPU in TF32; not timed, so that XLA need not look for the fastest products."""
    with jax.default_matmul_precision("tensorfloat32"):
        return _simple(settings, key, {"xla_gpu_autotune_level": 0})(*arguments, key)


def _simple(settings, key, options=None):
    compute = partial(simple.gradient, task=settings.task, chunk=64)
    axes = (0, 0, 0, None if key is None else 0)
    every = jax.vmap(lambda m, x, w, k: compute(m, sequences=x, weights=w, key=k), in_axes=axes)
    return jax.jit(every, compiler_options=options)


@pytest.mark.parametrize(("task", "model", "context", "batch"), MINIMAL_SHAPES.values(), ids=MINIMAL_SHAPES)
@pytest.mark.parametrize("count", [1, 3])
def test_the_minimal_model_to_float32_accuracy(task, model, context, batch, count):
    settings = Settings(task=replace(task, context=context), model=model)
    assert one_hot.covers(asked_of(settings))
    arguments = members_of(settings, count, batch)
    wanted = exact(settings, None, arguments)
    found = jax.jit(jax.vmap(lambda m, x, w: one_hot.gradient(m, task, x, w)))(*arguments)
    assert max(errors(found, wanted)) < 2e-6


@pytest.mark.parametrize(("task", "model", "context", "batch"), FULL_SHAPES.values(), ids=FULL_SHAPES)
@pytest.mark.parametrize("noise", ["", "dropout", "dropped attention"])
def test_the_full_model_is_as_near_to_float32_as_xla_s_tf32(task, model, context, batch, noise):
    noisy, model = bool(noise), replace(model, attention_dropout=noise == "dropped attention")
    settings = Settings(task=replace(task, context=context), model=model, training=TF32)
    asked = asked_of(settings)
    form = ngram if asked.windows else full
    assert form.covers(asked)
    arguments = members_of(settings, 2, batch)
    key = jax.random.split(jax.random.key(3), 2) if noisy else None
    wanted, theirs = exact(settings, key, arguments), rounded(settings, key, arguments)
    with jax.default_matmul_precision("tensorfloat32"):
        axes = (0, 0, 0, 0 if noisy else None)
        compute = jax.vmap(lambda m, x, w, k: form.gradient(m, task, x, w, k), in_axes=axes)
        found = jax.jit(compute)(*arguments, key)
    for ours, usual in zip(errors(found, wanted), errors(theirs, wanted), strict=True):
        assert ours < 1.5 * usual + 1e-3


DENSE = {
    "two layers": (Chain(blocks=BLOCKS), replace(FULL, layers=2), 101),
    "without norm": (Chain(blocks=BLOCKS), replace(FULL, norm="none"), 101),
    "without residual, rotary, two layers": (
        SHORT,
        replace(NARROW, width=132, positions="rotary", residual=False, layers=2),
        37,
    ),
    "without MLP and readout": (SHORT, replace(NARROW, mlp=0, readout=False), 37),
    "rotary, before the norm, three layers": (
        SHORT,
        replace(NARROW, width=132, positions="rotary", norm="pre", layers=3),
        37,
    ),
    "one-hot": (SHORT, replace(NARROW, embedding="one-hot", positions="one-hot", head_width=11), 37),
    "without keys": (Chain(blocks=BLOCKS), replace(FULL, keys=False), 101),
    "without outputs": (Chain(blocks=BLOCKS), replace(FULL, output=False), 101),
    "without keys and outputs, two layers": (SHORT, replace(NARROW, keys=False, output=False, layers=2), 37),
    "relative, without outputs": (SHORT, replace(NARROW, positions="relative", output=False), 37),
}


@pytest.mark.parametrize(("task", "model", "batch"), DENSE.values(), ids=DENSE)
@pytest.mark.parametrize("noisy", [False, True], ids=["", "dropout"])
def test_dense_rows_are_as_near_to_float32_as_xla_s_tf32(task, model, batch, noisy):
    model = replace(model, attention_dropout=True)
    settings = Settings(task=task, model=model, training=TF32)
    form = form_of(asked_of(settings), batch, batch)
    assert "dense" in form.name
    arguments = members_of(settings, 2, batch)
    key = jax.random.split(jax.random.key(3), 2) if noisy else None
    wanted, theirs = exact(settings, key, arguments), rounded(settings, key, arguments)
    with jax.default_matmul_precision("tensorfloat32"):
        axes = (0, 0, 0, 0 if noisy else None)
        found = jax.jit(jax.vmap(form.gradient, in_axes=axes))(*arguments, key)
    for ours, usual in zip(errors(found, wanted), errors(theirs, wanted), strict=True):
        assert ours < 1.5 * usual + 2e-3


def test_heads_that_are_alike_get_the_same_gradient_to_the_last_bit():
    """From a start at zero only rounding could tell heads apart, and it must not."""
    settings = Settings(model=replace(MINIMAL, initialisation="uniform", scale=0.0))
    model, sequences, weights = members_of(settings, 2, 301)
    same = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[:, :1], leaf.shape), model)
    _, grads = jax.jit(jax.vmap(lambda m, x, w: one_hot.gradient(m, settings.task, x, w)))(same, sequences, weights)
    wanted = exact(settings, None, (same, sequences, weights))[1]
    assert max(errors(grads, wanted)) < 2e-6
    for leaf in jax.tree.leaves(grads):
        np.testing.assert_array_equal(leaf, np.broadcast_to(leaf[:, :1], leaf.shape))


@pytest.mark.parametrize("steps", [200])
def test_a_training_of_the_minimal_model_stays_with_the_simple_form(steps):
    settings = Settings(task=Chain(vocab=10, weighting="sum"), model=replace(MINIMAL, scaled_scores=True))
    model, sequences, weights = jax.tree.map(lambda leaf: leaf[0], members_of(settings, 1, 200))
    method = optimiser(settings.training, Rates(0.003, 0.01, 0.0, 1.0), 3)

    def train(gradient):
        def step(carry, _):
            model, state = carry
            value, grads = gradient(model)
            updates, state = method.update(grads, state, model, value=value)
            return (jax.tree.map(jnp.add, model, updates), state), value

        return jax.jit(lambda model: jax.lax.scan(step, (model, method.init(model)), length=steps)[1])(model)

    with jax.default_matmul_precision("highest"):
        wanted = train(lambda m: simple.gradient(m, settings.task, sequences, weights, None, 200))
    found = train(lambda m: one_hot.gradient(m, settings.task, sequences, weights))
    np.testing.assert_allclose(found, wanted, rtol=2e-5)
    assert wanted[-1] < wanted[0] - 0.05, "it learned"
