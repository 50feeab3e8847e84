"""The dense form, which serves GPUs: the simple form's numbers from products of filled-up sizes, summed in pieces."""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.forms import CHUNK, QUICK, SMALL, TASK, both, distance, simple_form
from tests.models.switches import chosen_settings, name, stirred

from headway.kernels import products
from headway.kernels.cuda import dense, front, halves, joining, own_rows, token_rows
from headway.kernels.tables import attention
from headway.kernels.tables import form as tables
from headway.models.attention import causal_mask
from headway.models.dropout import _mixed


@pytest.fixture
def as_on_a_gpu(monkeypatch):
    """The same code as there, compiled for this CPU."""
    for module in (products, attention):
        monkeypatch.setattr(module, "wanted", lambda: True)


@pytest.fixture
def exact(monkeypatch):
    """What a GPU keeps as float16 keeps all of its bits."""
    monkeypatch.setattr(halves, "HALF", jnp.float64)
    monkeypatch.setattr(halves, "LARGEST", jnp.inf)
    for module in (own_rows, dense):
        monkeypatch.setattr(module, "lift_of", lambda _positions: 1.0)


@pytest.fixture(scope="module")
def double():
    with jax.enable_x64(True):
        yield


def dense_form(model, task, sequences, weights, key, kernels=None):
    return tables.gradient(model, task, sequences, weights, key, CHUNK, dense=True, kernels=kernels)


HEADS = tables.DenseKernels(own_rows.written, lambda *_: None, halves.evening)
ALL = tables.DenseKernels(own_rows.written, dense.logits, halves.evening)


@pytest.mark.usefixtures("as_on_a_gpu", "double")
@pytest.mark.parametrize(
    ("some", "noisy"),
    [
        pytest.param(slice(2, None, 6), False, id="quiet"),
        pytest.param(slice(0, None, 12), True, id="noisy"),
        pytest.param(slice(None), False, id="quiet, all", marks=pytest.mark.slow),
        pytest.param(slice(0, None, 3), True, id="noisy, more", marks=pytest.mark.slow),
    ],
)
def test_every_switch_has_the_simple_forms_loss_gradient_and_noise(some, noisy):
    for settings in chosen_settings()[some]:
        model = stirred(replace(settings, dropout=0.3, attention_dropout=settings.residual))
        key = jax.random.key(2) if noisy else None
        assert distance(*both(model, TASK, key, (simple_form, dense_form))) < 1e-10, name(settings)


@pytest.mark.usefixtures("as_on_a_gpu", "double")
def test_members_side_by_side_have_the_gradients_that_they_have_alone():
    """Pieces and filled-up sizes are of a member's own rows, so that neighbours do not meet."""
    models = [stirred(SMALL, seed=seed) for seed in (0, 1)]
    sequences = jax.random.randint(jax.random.key(1), (6, TASK.length + 1), 0, TASK.vocab, jnp.int32)
    compute = partial(dense_form, task=TASK, sequences=sequences, weights=jnp.ones(6), key=None)
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)
    together = jax.jit(jax.vmap(lambda model: compute(model)), compiler_options=QUICK)(stacked)
    for number, model in enumerate(models):
        own = jax.tree.map(lambda leaf, number=number: leaf[number], together)
        assert distance(jax.jit(lambda model: compute(model), compiler_options=QUICK)(model), own) < 1e-12


def plain_mix(own: own_rows.OwnRows, rows, words, keys=None):
    """What the kernels compute, written out."""
    columns, before = own.columns, rows.shape[:2]
    asking = own.heads * columns.score
    query = rows[:, -own.queries :, :asking].reshape(len(rows), own.queries, own.heads, -1)
    value = rows[:, :, -own.heads * columns.value :].reshape(*before, own.heads, -1)
    if keys is None:
        key = rows[:, :, asking : 2 * asking].reshape(*before, own.heads, -1)
    else:
        key = jnp.broadcast_to(keys[:, :, None], (*before, own.heads, columns.score))
    scores = jnp.einsum("bqhs,bkhs->bhqk", query, key)
    pattern = jax.nn.softmax(jnp.where(causal_mask(own.queries, own.length), scores, -jnp.inf))
    kept = jax.vmap(lambda each, pair: dropped_by_words(each, own.rate, pair))(pattern, words)
    mixed = jnp.einsum("bhqk,bkhs->bqhs", kept, value)
    return mixed.sum(2) if columns.summed else mixed.reshape(len(rows), own.queries, -1)


def dropped_by_words(x, rate, words):
    """models/dropout.py from its two words instead of its key."""
    if rate == 0:
        return x
    bits = _mixed(_mixed(jnp.arange(x.size, dtype=jnp.uint32).reshape(x.shape) ^ words[0]) + words[1])
    return jnp.where(bits >= jnp.uint32(round(rate * 2**32)), x / (1 - rate), 0)


SERVED = {
    "two layers": replace(SMALL, layers=2, attention_dropout=True),
    "before the norm, one-hot, wide heads": replace(
        SMALL, norm="pre", embedding="one-hot", positions="one-hot", head_width=5, attention_dropout=True
    ),
    "rotary": replace(SMALL, positions="rotary"),
    "merged scores": replace(SMALL, keys=False, attention_dropout=True),
    "merged scores and values, scaled, before the norm": replace(
        SMALL, keys=False, output=False, norm="pre", scaled_scores=True
    ),
    "merged values": replace(SMALL, output=False),
}
NOT_SERVED = {
    "shifted scores": replace(SMALL, positions="alibi"),
}


@pytest.mark.usefixtures("as_on_a_gpu", "exact", "double")
@pytest.mark.parametrize("case", [*SERVED, *NOT_SERVED])
def test_kernels_for_the_heads_are_given_what_they_serve_and_nothing_else(case, monkeypatch):
    """Rows of queries, keys and values with zeros between the heads, the queries scaled and turned; words of noise."""
    calls = []
    monkeypatch.setattr(own_rows, "usable", lambda: True)
    monkeypatch.setattr(own_rows, "mix", lambda own, *rows: calls.append(own) or plain_mix(own, *rows))
    settings = (SERVED | NOT_SERVED)[case]
    model = stirred(settings)
    for key in (None, jax.random.key(2)):
        forms = (simple_form, partial(dense_form, kernels=HEADS))
        assert distance(*both(model, TASK, key, forms)) < 1e-10
    assert bool(calls) == (case in SERVED)
    if calls:
        [columns] = {own.columns for own in calls}
        wide = -(-settings.stream(TASK.vocab, TASK.length) // 8) * 8
        keys, output = settings.keys, settings.output
        assert columns == (8 if keys else wide, 8 if output else wide, not keys, not output)
        assert {own.rate for own in calls} == {0.0, *([0.3] if settings.attention_dropout else [])}


def plain_join(own: joining.Joining, x, branch, vectors, words):
    """What the kernels for joining compute, written out; what lies beyond the width is zero."""
    (scale, shift, bias), real = vectors, jnp.arange(branch.shape[-1]) < own.width
    kept = jax.vmap(lambda each, pair: dropped_by_words(each[:, : own.width], own.rate, pair))(branch + bias, words)
    joined = jnp.pad(kept, [(0, 0), (0, 0), (0, branch.shape[-1] - own.width)])
    joined = joined + x[:, -own.queries :] if own.residual else joined
    if own.normed:
        centred = (joined - jnp.sum(joined * real, -1, keepdims=True) / own.width) * real
        joined = centred * jax.lax.rsqrt(jnp.sum(centred**2, -1, keepdims=True) / own.width + 1e-5) * scale + shift
    return joined if own.passes else None, joined


def plain_rows(own: token_rows.TokenRows, table, places, words):
    """What the kernel that looks rows up computes, written out."""
    rows = jax.vmap(lambda each, pair: dropped_by_words(each[:, : own.width], own.rate, pair))(table[places], words)
    rows = jnp.pad(rows, [(0, 0), (0, 0), (0, table.shape[-1] - own.width)])
    return rows[:, -own.last :], rows


JOINED = {
    "two layers": replace(SMALL, layers=2, attention_dropout=True),
    "no MLP, no readout, one-hot": replace(
        SMALL, heads=2, mlp=0, readout=False, embedding="one-hot", positions="one-hot"
    ),
    "rotary": replace(SMALL, positions="rotary", layers=2),
    "merged scores, scaled": replace(SMALL, keys=False, scaled_scores=True),
    "merged values, shifted scores, two layers": replace(SMALL, output=False, positions="alibi", layers=2),
    "no residual": replace(SMALL, residual=False),
    "no norm": replace(SMALL, norm="none", layers=2),
    "no norm, no residual, merged": replace(SMALL, norm="none", residual=False, keys=False, layers=2),
}
OTHERS = {
    "before the norm": replace(SMALL, norm="pre"),
    "nothing but heads": replace(SMALL, norm="none", residual=False, mlp=0, readout=False),
}


@pytest.mark.usefixtures("as_on_a_gpu", "exact", "double")
@pytest.mark.parametrize("case", [*JOINED, *OTHERS])
def test_kernels_for_joining_are_given_whole_models_that_they_serve_and_nothing_else(case, monkeypatch):
    """Vectors are filled up from the embedding to the readout, and nothing of what fills them is learnt."""
    calls = []
    monkeypatch.setattr(own_rows, "usable", lambda: True)
    monkeypatch.setattr(own_rows, "mix", plain_mix)
    for module in (dense, front):
        monkeypatch.setattr(module, "WIDTH", 14)
    monkeypatch.setattr(dense, "rows_of", plain_rows)
    monkeypatch.setattr(dense, "join", lambda own, *arrays: calls.append(own) or plain_join(own, *arrays))
    settings = (JOINED | OTHERS)[case]
    model = stirred(settings)
    for key in (None, jax.random.key(2)):
        assert distance(*both(model, TASK, key, (simple_form, partial(dense_form, kernels=ALL)))) < 1e-10
    assert bool(calls) == (case in JOINED)
    assert {own.rate for own in calls} <= {0.0, 0.3}


def test_a_sum_over_rows_is_the_same_in_any_number_of_pieces():
    left, right = (jax.random.normal(jax.random.key(seed), (12, 5, 3)) for seed in (0, 1))
    for examples in (1, 7, 12):
        wanted = np.einsum("bni,bno->io", left[:examples], right[:examples])
        np.testing.assert_allclose(products.summed(left[:examples], right[:examples]), wanted, rtol=2e-5, atol=1e-5)
