"""The batched form of the transformer is the simple one in another order of sums."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from tests.kernels.forms import (
    BATCH,
    CHUNK,
    SMALL,
    TASK,
    asked_of,
    batch_of,
    both,
    distance,
    errors_in_float32,
    in_float32,
)
from tests.models.switches import SWITCHES, chosen_settings, name, stirred

from headway.kernels import simple
from headway.kernels.cpu import attention, dropped
from headway.kernels.cuda import full
from headway.kernels.tables import form as tables
from headway.kernels.tables.attention import merging_pays
from headway.prediction import predict
from headway.presets import full_as_run
from headway.settings import TrainingSettings
from headway.settings.model import POSITIONS
from headway.tasks.chain import Chain
from headway.training.optimisers import Rates, optimiser

KERNEL = {
    "full": (SMALL, TASK, TASK.length),
    "windows": (SMALL, TASK, 2),
    "merged, before the norm, two layers": (replace(SMALL, keys=False, output=False, norm="pre", layers=2), TASK, 4),
    "one head, two tokens, one prediction": (
        replace(SMALL, heads=1, width=7),
        Chain(vocab=2, blocks=((1, 3),), horizon=1),
        3,
    ),
    "wide": (replace(SMALL, width=75, norm="none"), replace(TASK, horizon=11), 12),
    "relative": (replace(SMALL, positions="relative"), TASK, TASK.length),
    "rotary, windows": (replace(SMALL, positions="rotary"), TASK, 2),
    "alibi, merged, two layers": (replace(SMALL, positions="alibi", keys=False, layers=2), TASK, 4),
}
"""What the kernel is compared on: every tile it has, whole and in part."""


@pytest.fixture(scope="module")
def double():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize(
    ("some", "noisy"),
    [
        pytest.param(slice(1, None, 3), False, id="quiet"),
        pytest.param(slice(0, None, 6), True, id="noisy"),
        pytest.param(slice(None), False, id="quiet, all", marks=pytest.mark.slow),
        pytest.param(slice(0, None, 3), True, id="noisy, more", marks=pytest.mark.slow),
    ],
)
def test_every_switch_has_the_simple_forms_loss_gradient_and_noise(some, noisy, double):
    """Noise takes away the tables and nothing else, so a third of the settings is enough for it.

    In all settings every two switches meet; in the third that is tried each time, every switch is there by itself.
    """
    chosen = chosen_settings()[some]
    if not noisy:
        for switch, values in SWITCHES.items():
            assert {getattr(settings, switch) for settings in chosen} >= set(values)
    for settings in chosen:
        model = stirred(replace(settings, dropout=0.3, attention_dropout=settings.residual))
        assert distance(*both(model, TASK, jax.random.key(2) if noisy else None)) < 1e-10, name(settings)


# With the slow tests every two of them meet; here each is there.
@pytest.mark.parametrize(
    ("head_width", "layers"),
    [(2, 2), (12, 1), *(pytest.param(*each, marks=pytest.mark.slow) for each in [(2, 1), (12, 2)])],
)
def test_heads_of_any_width_have_the_simple_forms_loss_gradient_and_noise(head_width, layers, double):
    settings = replace(SMALL, embedding="one-hot", positions="one-hot", head_width=head_width, layers=layers)
    for key in (None, jax.random.key(2)):
        assert distance(*both(stirred(settings), TASK, key)) < 1e-10


# Every two of them meet; with the slow tests also noise with and without dropped attention, for the same windows.
WINDOWS = [(1, 2, True, False), (2, 1, True, True), (2, 2, False, True), (1, 1, False, False)]
FURTHER = [(*others, not dropped) for *others, dropped in WINDOWS]


@pytest.mark.parametrize(
    ("context", "layers", "noisy", "attention_dropout"),
    [*WINDOWS, *(pytest.param(*each, marks=pytest.mark.slow) for each in FURTHER)],
)
def test_windows_have_the_simple_forms_loss_gradient_and_noise(context, layers, noisy, attention_dropout, double):
    model = stirred(replace(SMALL, layers=layers, attention_dropout=attention_dropout), length=context)
    assert distance(*both(model, TASK, jax.random.key(2) if noisy else None)) < 1e-10


@pytest.mark.parametrize("positions", ["rotary", "relative", "alibi"])
def test_positions_at_the_scores_have_the_simple_forms_loss_gradient_and_noise_in_windows(positions, double):
    """Of two layers: in the first all positions ask, in the second one, whose heads are merged where they can be."""
    model = stirred(replace(SMALL, positions=positions, layers=2, heads=2), length=2)
    assert [merging_pays(model.layers[1].attention, queries, 2) for queries in (2, 1)] == [False, positions != "rotary"]
    assert distance(*both(model, TASK, jax.random.key(2))) < 1e-10


@pytest.mark.parametrize("positions", ["rotary", "relative"])
def test_positions_at_the_scores_are_served_where_dropped_rows_come_from_tables(positions, monkeypatch):
    calls, project = [], dropped.project
    monkeypatch.setattr(dropped, "project", lambda *arguments: calls.append(1) or project(*arguments))
    fast, slow = errors_in_float32(replace(SMALL, width=36, positions=positions), TASK, TASK.length, jax.random.key(2))
    assert fast < 3 * slow + 1e-6
    assert calls


@pytest.mark.parametrize("positions", POSITIONS)
def test_on_a_gpu_only_positions_in_the_stream_have_kernels(positions, monkeypatch):
    monkeypatch.setattr(full, "usable", lambda: True)
    monkeypatch.setattr(full, "shared_limit", lambda: 227 * 1024)
    settings = full_as_run()
    settings = replace(settings, model=replace(settings.model, width=252, positions=positions))
    assert full.covers(asked_of(settings)) == (positions in ("learned", "one-hot", "sinusoidal", "none"))


@pytest.mark.parametrize("change, served", [({"attention_dropout": True}, True), ({"head_width": 80}, False)])
def test_on_a_gpu_dropped_attention_has_kernels_and_heads_of_another_width_have_none(change, served, monkeypatch):
    monkeypatch.setattr(full, "usable", lambda: True)
    monkeypatch.setattr(full, "shared_limit", lambda: 227 * 1024)
    settings = full_as_run().changed(model=change)
    assert full.covers(asked_of(settings)) == served


# Rotations and slopes are there with dropped rows, or where the sums are exact: above.
ABOVE = ("rotary, windows", "alibi, merged, two layers")


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[pytest.mark.slow] if case in ABOVE else []) for case in KERNEL]
)
def test_the_kernel_errs_in_float32_no_more_than_the_simple_form(case):
    settings, task, length = KERNEL[case]
    assert attention.serves(in_float32(stirred(settings, vocab=task.vocab, length=length)), BATCH, length)
    fast, slow = errors_in_float32(settings, task, length, None)
    assert fast < 3 * slow + 1e-6


MERGED = "merged, before the norm, two layers"


# Each case in one precision; with the slow tests in both.
@pytest.mark.parametrize(
    ("case", "dtype"),
    [
        *(("windows", jnp.float64), (MERGED, jnp.float32), ("relative", jnp.float64)),
        *(
            pytest.param(case, dtype, marks=pytest.mark.slow)
            for case, dtype in (("windows", jnp.float32), (MERGED, jnp.float64), ("relative", jnp.float32))
        ),
    ],
)
def test_reading_a_batch_is_the_mean_over_simple_readings(case, dtype, double):
    settings, task, length = KERNEL[case]
    model = jax.tree.map(lambda leaf: leaf.astype(dtype), stirred(settings, vocab=task.vocab, length=length))
    sequences, _ = batch_of(task, dtype)
    rows = task.horizon if length == task.length else 1
    simple = jax.jit(jax.vmap(lambda sequence: predict(model, task, sequence)))(sequences)
    pattern = jnp.stack([jnp.mean(heads.pattern, axis=0)[:, -rows:] for heads in simple.heads])
    reading = jax.jit(lambda m: tables.read(m, task, sequences, CHUNK))(model)
    tolerance = 1e-5 if dtype == jnp.float32 else 1e-12
    np.testing.assert_allclose(reading.logits, simple.logits, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(reading.pattern, pattern, rtol=tolerance, atol=tolerance)


def test_two_hundred_steps_with_noise_in_every_third_go_the_simple_forms_way():
    model = in_float32(stirred(SMALL))
    sequences, weights = batch_of(TASK, jnp.float32)
    method = optimiser(TrainingSettings(schedule="constant"), Rates(0.003, 0.01, 0.9, 1.0), 3)

    def trained(gradient):
        def step(carry, number):
            model, state = carry
            key = jax.random.fold_in(jax.random.key(3), number)
            noisy = lambda model: gradient(model, key)  # noqa: E731
            value, grads = jax.lax.cond(number % 3 == 0, noisy, lambda model: gradient(model, None), model)
            updates, state = method.update(grads, state, model, value=value)
            return (optax.apply_updates(model, updates), state), value

        return jax.jit(lambda: jax.lax.scan(step, (model, method.init(model)), jnp.arange(200))[1])()

    slow = trained(lambda model, key: simple.gradient(model, TASK, sequences, weights, key, BATCH))
    fast = trained(lambda model, key: tables.gradient(model, TASK, sequences, weights, key, CHUNK))
    assert slow[-1] < 0.9 * slow[0]
    np.testing.assert_allclose(fast, slow, atol=2e-3)


def test_a_model_that_is_no_number_anywhere_has_a_loss_that_is_none():
    model = in_float32(stirred(SMALL))
    sick = jax.jit(lambda model: jax.tree.map(lambda leaf: leaf.at[(0,) * leaf.ndim].set(jnp.nan), model))(model)
    batch = batch_of(TASK, jnp.float32)
    value, _ = jax.jit(lambda model: tables.gradient(model, TASK, *batch, None, CHUNK))(sick)
    assert jnp.isnan(value)
