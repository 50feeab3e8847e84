"""Dropped rows times matrices, from tables less what fell, are the dense products."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.forms import SMALL, TASK, distance, errors_in_float32, in_float32
from tests.models.switches import stirred

from headway.kernels.cpu import dropped
from headway.models.dropout import dropout

CASES = {
    "one column more than a tile, few queries": (37, 5, 2, 4, 12, 0.3, (9, 12, 65)),
    "paper's width": (9, 7, 6, 3, 255, 0.1, (255, 255, 255)),
    "one of everything": (1, 1, 1, 1, 7, 0.3, (1, 2, 64)),
}
"""Examples, length, queries, tokens, width, rate, columns of (key, value, query)."""
MODELS = {
    "full": replace(SMALL, width=33),
    "two layers, no output": replace(SMALL, width=40, heads=2, layers=2, output=False, positions="sinusoidal"),
    "dropped attention, two layers": replace(SMALL, width=36, attention_dropout=True, layers=2),
    "no positions, no norm, no residual": replace(SMALL, width=36, positions="none", norm="none", residual=False),
}
"""Settings that the kernel serves."""


def numbers_of(case):
    """Rows, matrices, sequences, keys and a gradient of everything that comes out."""
    batch, length, queries, tokens, width, _, columns = CASES[case]
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(count, width)) for count in (tokens, length)]
    matrices = tuple(rng.normal(size=(width, count)) for count in columns)
    heights = (queries, length, length, queries)
    changes = tuple(rng.normal(size=(batch, *size)) for size in zip(heights, (width, *columns), strict=True))
    sequences = jnp.asarray(rng.integers(0, tokens, (batch, length)))
    return (*rows, matrices), sequences, jax.random.split(jax.random.key(3), batch), changes


def dense(rate, token_rows, position_rows, matrices, tokens, keys, queries):
    """Every row by itself."""
    rows = token_rows[tokens] + position_rows
    rows = jax.vmap(lambda row, key: dropout(row, rate, key))(rows, keys)
    last = rows[:, -queries:]
    return dropped.Projected(last, rows @ matrices[0], rows @ matrices[1], last @ matrices[2])


def values_and_gradients(project, case, dtype):
    queries, rate = CASES[case][2], CASES[case][5]
    numbers, sequences, keys, changes = jax.tree.map(
        lambda leaf: leaf.astype(dtype) if isinstance(leaf, np.ndarray) else leaf, numbers_of(case)
    )

    @jax.jit
    def compute(numbers, changes):
        out, back = jax.vjp(lambda *numbers: project(rate, *numbers, sequences, keys, queries), *numbers)
        return out, back(dropped.Projected(*changes))

    return compute(numbers, changes)


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_are_the_dense_products_up_to_float32(case):
    fast = values_and_gradients(dropped.project, case, np.float32)
    simple = values_and_gradients(dense, case, np.float32)
    with jax.enable_x64(True):
        exact = values_and_gradients(dense, case, np.float64)
        for ours, theirs, truth in zip(*map(jax.tree.leaves, (fast, simple, exact)), strict=True):
            assert ours.shape == truth.shape
            assert distance(truth, ours) < 3 * distance(truth, theirs) + 1e-6


def test_the_kernel_drops_exactly_what_dropout_drops():
    case = "paper's width"
    ours, _ = values_and_gradients(dropped.project, case, np.float32)
    theirs, _ = values_and_gradients(dense, case, np.float32)
    np.testing.assert_array_equal(ours.stream == 0, theirs.stream == 0)


def test_a_batch_has_the_rows_of_its_examples():
    (tokens, positions, matrices), sequences, keys, _ = numbers_of("paper's width")
    single = jax.tree.map(jnp.float32, (tokens, positions, matrices))
    whole = dropped.project(0.1, *single, sequences, keys, 6)
    part = dropped.project(0.1, *single, sequences[4:6], keys[4:6], 6)
    for one, other in zip(whole, part, strict=True):
        np.testing.assert_array_equal(one[4:6], other)


@pytest.mark.parametrize("case", MODELS)
def test_a_model_with_noise_errs_in_float32_no_more_than_the_simple_form(case, monkeypatch):
    calls, project = [], dropped.project
    monkeypatch.setattr(dropped, "project", lambda *arguments: calls.append(1) or project(*arguments))
    fast, slow = errors_in_float32(MODELS[case], TASK, TASK.length, jax.random.key(2))
    assert fast < 3 * slow + 1e-6
    assert calls


@pytest.mark.parametrize(
    "change",
    [{"norm": "pre"}, {"dropout": 0.0}, {"dropout": 0.9}, {"embedding": "one-hot"}, {"positions": "one-hot"}],
    ids=lambda change: next(iter(change)),
)
def test_what_the_tables_do_not_hold_for_is_left_to_the_dense_products(change):
    settings = replace(SMALL, width=40, heads=2, dropout=0.1)
    assert dropped.serves(in_float32(stirred(settings)))
    assert not dropped.serves(in_float32(stirred(replace(settings, **change))))
