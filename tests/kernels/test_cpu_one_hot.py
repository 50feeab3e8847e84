"""The fused kernels give what the simple version gives, as exactly as float32 can, in any program."""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from tests.kernels.forms import asked_of

import headway
from headway import presets
from headway.kernels import simple as simple_form
from headway.kernels.asked import is_minimal
from headway.kernels.cpu.calls import FIELDS
from headway.kernels.cpu.one_hot import gradient, read
from headway.models.initialisation import transformer
from headway.prediction import predict
from headway.presets import MINIMAL
from headway.settings import TrainingSettings
from headway.tasks.chain import Chain
from headway.tasks.run import Settings
from headway.training.optimisers import Rates, optimiser

SMALL = Settings(task=Chain(vocab=7, blocks=((1, 2), (3,)), horizon=4), model=replace(MINIMAL, heads=8))
ONE = replace(MINIMAL, heads=1)
TWO_SCALED = replace(MINIMAL, heads=2, scaled_scores=True)
SHAPES = {
    "eight heads": (SMALL, 37),
    "least": (Settings(task=Chain(vocab=2, blocks=((1,),), horizon=1), model=ONE), 37),
    "wide": (Settings(task=Chain(vocab=110, blocks=((1,), (4,)), horizon=7), model=TWO_SCALED), 1),
    "paper": (Settings(task=Chain(weighting="sum"), model=replace(MINIMAL, scaled_scores=True)), 13),
    "windows": (SMALL.changed(task={"context": 2}), 37),
}
shapes = pytest.mark.parametrize(("settings", "batch"), SHAPES.values(), ids=SHAPES)
sizes = pytest.mark.parametrize("size", [1.0, 40.0], ids=["smooth", "sharp"])


def model_of(settings, size=1.0):
    model = transformer(settings.model, settings.task.vocab, settings.task.reads, jax.random.key(0))
    return jax.tree.map(lambda leaf: size * leaf, model)


def batch_of(settings, batch=37):
    """Sequences, and weights of which some are zero."""
    random = np.random.default_rng(1)
    sequences = random.integers(0, settings.task.vocab, (batch, settings.task.length + 1))
    weights = random.uniform(0, 2, batch) * (random.uniform(size=batch) < 0.8)
    return jnp.asarray(sequences, jnp.int32), jnp.asarray(np.where(weights.any(), weights, 1), jnp.float32)


@cache
def simple(task, batch):
    return jax.jit(lambda model, examples, w: simple_form.gradient(model, task, examples, w, None, batch))


@cache
def simple_reading(task):
    def means(model, sequences):
        reading = jax.vmap(lambda sequence: predict(model, task, sequence))(sequences)
        pattern = jnp.mean(reading.heads[0].pattern, axis=0)
        return reading.logits, pattern

    return jax.jit(means)


@cache
def fused(task):
    return jax.jit(lambda model, sequences, weights: gradient(model, task, sequences, weights))


@cache
def fused_reading(task):
    return jax.jit(lambda model, sequences: read(model, task, sequences))


def exact(function, model, sequences, *weights):
    """The simple version in float64."""
    with jax.enable_x64(True):
        doubled = jax.tree.map(lambda leaf: jnp.asarray(np.asarray(leaf), jnp.float64), (model, weights))
        return jax.tree.map(np.asarray, function(doubled[0], sequences, *doubled[1]))


def assert_as_exact(got, simple, exact):
    """No leaf is further from the truth than a few times the simple version's distance, or the last bits."""
    for a, b, truth in zip(*map(jax.tree.leaves, (got, simple, exact)), strict=True):
        assert a.shape == truth.shape
        assert a.dtype == np.float32
        size = np.abs(truth).max()
        errors = [np.abs(np.asarray(x, np.float64) - truth).max() / max(size, 1e-30) for x in (a, b)]
        assert errors[0] <= 3 * errors[1] + 5e-7, errors


@shapes
@sizes
def test_loss_and_gradient_are_as_exact_as_the_simple_ones(settings, batch, size):
    task, arguments = settings.task, (model_of(settings, size), *batch_of(settings, batch))
    reference = simple(task, batch)
    assert_as_exact(fused(task)(*arguments), reference(*arguments), exact(reference, *arguments))


@shapes
@sizes
def test_logits_and_mean_patterns_are_as_exact_as_the_simple_ones(settings, batch, size):
    task, model = settings.task, model_of(settings, size)
    sequences, _ = batch_of(settings, batch)
    reference = simple_reading(task)
    got = fused_reading(task)(model, sequences)
    assert_as_exact(got, reference(model, sequences), exact(reference, model, sequences))
    np.testing.assert_allclose(np.sum(got[1], axis=-1), 1, atol=1e-6)


def test_two_hundred_steps_end_where_the_simple_ones_end():
    """Rounding differs, and AdamW divides by small numbers: the losses stay within 1e-5 of each other."""
    task, training = SMALL.task, TrainingSettings(schedule="constant")
    sequences, weights = batch_of(SMALL)
    method = optimiser(training, Rates(0.01, 0.01, 0.9, 1.0), 1)
    start = model_of(SMALL)

    def trained(step_gradient):
        def step(number, carry):
            model, state, losses = carry
            value, grads = step_gradient(model, sequences, weights)
            updates, state = method.update(grads, state, model, value=value)
            return optax.apply_updates(model, updates), state, losses.at[number].set(value)

        return jax.jit(lambda: jax.lax.fori_loop(0, 200, step, (start, method.init(start), jnp.zeros(200)))[2])()

    found, wanted = trained(fused(task)), trained(simple(task, len(weights)))
    assert wanted[-1] < wanted[0] - 0.5
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_many_slices_in_loops_branches_and_threads_give_the_same_bits():
    """Slices are many here, and which thread takes which is anybody's guess."""
    task = SMALL.task
    models = jax.tree.map(lambda leaf: jnp.stack([leaf, 2 * leaf, -leaf]), model_of(SMALL))
    sequences, weights = batch_of(SMALL, 10_000)

    @jax.jit
    def program(models):
        def one(model):
            run = lambda model: gradient(model, task, sequences, weights)  # noqa: E731
            return jax.lax.cond(jnp.isfinite(model.layers[0].attention.query[0, 0, 0]), run, run, model)

        return jax.lax.map(one, models)

    def bits(tree):
        return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]

    alone = [fused(task)(jax.tree.map(lambda leaf, i=i: leaf[i], models), sequences, weights) for i in range(3)]
    wanted = bits(jax.tree.map(lambda *leaves: jnp.stack(leaves), *alone))
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: bits(program(models)), range(8)):
            assert found == wanted


COUNTED = """
import hashlib, os, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[1])])
import jax, jax.numpy as jnp, numpy as np
from headway import presets
from headway.kernels.cpu.one_hot import gradient, read
from headway.training.problem import new_model
settings = presets.minimal_as_run()
sequences = jnp.asarray(np.random.default_rng(0).integers(0, 50, (1003, settings.task.length + 1)), jnp.int32)
both = lambda model: (gradient(model, settings.task, sequences, jnp.ones(1003)), read(model, settings.task, sequences))
found = jax.jit(both)(new_model(settings, jnp.asarray(0), 1.0))
sys.stdout.write(hashlib.sha1(b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(found))).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not say which cores to use")
def test_the_number_of_cores_does_not_change_a_bit():
    command = [sys.executable, "-W", "error", "-c", COUNTED]
    where = {**os.environ, "PYTHONPATH": str(Path(headway.__file__).parent.parent)}
    found = [
        subprocess.run([*command, cores], capture_output=True, check=True, env=where).stdout for cores in ("1", "64")
    ]
    assert len(found[0]) == 40
    assert found[0] == found[1]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["query", "value"])
def test_a_model_that_is_not_finite_has_no_finite_gradient(bad, where):
    place = lambda model: getattr(model.layers[0].attention, where)  # noqa: E731
    broken = eqx.tree_at(place, model_of(SMALL), place(model_of(SMALL)).at[2].set(bad))
    value, grads = fused(SMALL.task)(broken, *batch_of(SMALL))
    assert not np.isfinite(optax.tree.norm((value, grads)))


def test_weights_that_are_not_numbers_give_a_loss_that_is_none():
    sequences, weights = batch_of(SMALL)
    for bad in (weights.at[3].set(np.nan), jnp.zeros_like(weights)):
        assert np.isnan(fused(SMALL.task)(model_of(SMALL), sequences, bad)[0])


def test_a_token_outside_of_the_dictionary_is_read_as_the_nearest():
    """A look-up behind the tables would read what is not ours."""
    sequences, weights = batch_of(SMALL)
    inside, outside = sequences.at[:, 2].set(6).at[:, 3].set(0), sequences.at[:, 2].set(10**9).at[:, 3].set(-5)
    found = [fused(SMALL.task)(model_of(SMALL), x, weights)[0] for x in (inside, outside)]
    assert found[0] == found[1]


def test_a_model_of_a_length_that_the_task_has_not_is_refused():
    model = transformer(MINIMAL, 7, 5, jax.random.key(0))
    with pytest.raises(ValueError, match="reads 5 tokens at once"):
        gradient(model, SMALL.task, *batch_of(SMALL))


def test_only_the_minimal_models_switches_in_float32_are_covered():
    minimal = presets.minimal_quick()
    covered = [minimal, presets.minimal_printed(), SMALL, minimal.changed(task={"context": 3})]
    switches = ({"residual": True}, {"mlp": 3}, {"layers": 2}, {"positions": "none"}, {"dropout": 0.1}, {"norm": "pre"})
    others = [replace(minimal, model=replace(minimal.model, **switch)) for switch in switches]
    double = replace(minimal, training=replace(minimal.training, precision="float64"))
    assert [is_minimal(asked_of(settings)) for settings in covered] == [True] * len(covered)
    assert not any(
        is_minimal(asked_of(settings)) for settings in (*others, double, presets.full_printed(), presets.full_quick())
    )


@pytest.mark.parametrize("structure", FIELDS)
def test_the_fields_of_a_call_are_where_xlas_own_header_has_them(structure):
    """Every member is one word, but for the structures within, which have as many as they have members."""
    header = re.sub(r"//.*", "", (Path(jax.ffi.include_dir()) / "xla/ffi/api/c_api.h").read_text())

    def members(name):
        body = re.search(rf"struct {name} \{{(.*?)\}}", header, re.DOTALL).group(1)
        return re.findall(r"(\w+\**)[\s(]+(\w+)\)?;", body)

    def size(kind):
        if kind == "XLA_FFI_Api_Version":
            return 3  # Its two numbers share a word.
        within = kind.endswith(("_Args", "_Rets", "_Attrs", "_Base", "_InternalExtension"))
        return len(members(kind)) if within else 1

    places, word = {}, 0
    for kind, name in members(structure):
        places[name] = word
        word += size(kind)
    assert {name: places[name] for name in FIELDS[structure]} == FIELDS[structure]
