"""The kernels that mix the heads' values: what they are given and give back, seen without a GPU, and with one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.kernels import cuda, mixers
from headway.kernels.cuda import heads
from headway.kernels.cuda.heads import Heads
from headway.models.attention import Attention, Biases
from headway.models.mixing import mixed_by

WIDTH, COUNT, PART = 24, 3, 32


def plain_forward(sizes: Heads, *rows):
    """The kernel's numbers, written out for one sequence after the other."""
    query, key, value = _apart(sizes, rows)
    scores = jnp.einsum("nqhs,nkhs->nhqk", query, key) * (sizes.part**-0.5 if sizes.scaled else 1)
    if sizes.causal:
        position = jnp.arange(sizes.length)
        scores = jnp.where(position <= position[-sizes.asked :, None], scores, -jnp.inf)
    normaliser = jax.nn.logsumexp(scores, axis=-1)
    mixed = jnp.einsum("nhqk,nkhs->nqhs", jnp.exp(scores - normaliser[..., None]), value)
    return mixed.reshape(*mixed.shape[:2], -1), normaliser


def _apart(sizes: Heads, rows):
    whole = [each.reshape(*each.shape[:2], -1, sizes.heads, sizes.part) for each in rows]
    return [array[:, :, place] for array in whole for place in range(array.shape[2])]


@pytest.fixture
def made_up(monkeypatch):
    """A GPU that is not there: its sizes, and XLA's own sums in place of the kernels."""
    launched = []

    def call(source, function, macros, operands, results, **launch):
        launched.append((function, len(operands[0]), launch))
        sizes = Heads(*(macros[name] for name in ("LENGTH", "ASKED", "HEADS", "PART")), macros["CAUSAL"], True)
        rows = operands[: 1 if macros["TOGETHER"] else 2]
        if function == "heads_forward":
            return plain_forward(sizes, *rows)
        _, back = jax.vjp(lambda *rows: plain_forward(sizes, *rows)[0], *rows)
        return back(operands[-1])

    monkeypatch.setattr(heads, "call", call)
    monkeypatch.setattr(heads, "usable", lambda: True)
    monkeypatch.setattr(heads, "shared_limit", lambda: 232448)
    heads._mix.cache_clear()
    yield launched
    heads._mix.cache_clear()


def attention(causal: bool, biases: bool = True, part: int = PART, count: int = COUNT, width: int = WIDTH) -> Attention:
    rng = np.random.default_rng(0)

    def numbers(*shape: int):
        return jnp.asarray(rng.normal(size=shape) / np.sqrt(shape[-2] if len(shape) > 1 else 1), jnp.float32)

    own = Biases(numbers(count, part), numbers(count, part), numbers(count, part), numbers(width))
    into = [numbers(count, width, part) for _ in range(3)]
    return Attention(*into, numbers(count, part, width), scaled=True, biases=own if biases else None, causal=causal)


def gradients(attention: Attention, x, queries: int, mixer):
    """Of a loss over members and sequences, as a training step takes them."""
    weights = jnp.asarray(np.random.default_rng(2).normal(size=(queries, x.shape[-1])), jnp.float32)

    def loss(attention, sequences):
        with mixed_by(mixer):
            received = jax.vmap(lambda each: attention(each, queries, x.shape[-1])[0])(sequences)
        return jnp.mean(jnp.sum(weights * received**2, axis=(1, 2)))

    models = jax.tree.map(lambda leaf: jnp.stack([leaf, 0.5 * leaf]), attention)
    return jax.jit(jax.vmap(jax.value_and_grad(loss, argnums=(0, 1))))(models, x)


def inputs(length: int, width: int = WIDTH, batch: int = 3):
    return jnp.asarray(np.random.default_rng(1).normal(size=(2, batch, length, width)), jnp.float32)


@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not-causal"])
@pytest.mark.parametrize(("length", "queries"), [(9, 9), (9, 1), (20, 7)])
def test_values_and_gradients_are_those_of_the_plain_form(made_up, length, queries, causal):
    model, x = attention(causal), inputs(length)
    fast = gradients(model, x, queries, mixers.Mixer(mixers._covers, mixers._mix))
    for found, wanted in zip(*map(jax.tree.leaves, (fast, gradients(model, x, queries, None))), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)


def test_all_sequences_of_all_members_share_a_launch(made_up):
    gradients(attention(True), inputs(9), 9, mixers.Mixer(mixers._covers, mixers._mix))
    last = {function: (sequences, sizes) for function, sequences, sizes in made_up}
    assert {function: found[0] for function, found in last.items()} == {"heads_forward": 6, "heads_backward": 6}
    assert {function: sizes["blocks"] for function, (_, sizes) in last.items()} == {
        "heads_forward": 6 * COUNT,
        "heads_backward": 3 * 6 * COUNT,
    }


@pytest.mark.parametrize("change", [{"part": 24}, {"part": 128}], ids=["narrow", "wide"])
def test_other_sizes_are_left_to_the_plain_form(made_up, change):
    assert not mixers._covers(attention(True, **change), 9, 9)
    gradients(attention(True, **change), inputs(9), 9, mixers.Mixer(mixers._covers, mixers._mix))
    assert made_up == []


def test_a_sequence_that_does_not_fit_shared_memory_is_left_to_the_plain_form(made_up):
    assert mixers._covers(attention(False, part=64), 400, 400)
    assert not mixers._covers(attention(False, part=64), 500, 500)


def test_there_are_none_for_a_cpu_or_for_other_precisions(monkeypatch):
    assert mixers.mixer_of("tf32") is None
    monkeypatch.setattr(mixers.jax, "devices", lambda: [type("Gpu", (), {"platform": "gpu"})()])
    monkeypatch.setattr(cuda, "usable", lambda: True)
    assert mixers.mixer_of("tf32") is not None
    assert mixers.mixer_of("float32") is None


@pytest.mark.skipif(not cuda.usable(), reason="no GPU that runs CUDA kernels")
@pytest.mark.parametrize("causal", [True, False], ids=["causal", "not-causal"])
@pytest.mark.parametrize(("length", "queries"), [(65, 65), (65, 1), (17, 17), (256, 256), (32, 9), (1, 1)])
@pytest.mark.parametrize(("count", "part"), [(4, 64), (3, 32)])
def test_the_kernels_give_the_plain_numbers_up_to_tf32(length, queries, causal, count, part):
    model, x = attention(causal, count=count, part=part), inputs(length)
    mixer = mixers.mixer_of("tf32")
    assert mixer is not None and mixer.covers(model, queries, length)
    with jax.default_matmul_precision("highest"):
        wanted = jax.tree.leaves(gradients(model, x, queries, None))
    with jax.default_matmul_precision("tensorfloat32"):
        found = jax.tree.leaves(gradients(model, x, queries, mixer))
    largest = max(float(jnp.linalg.norm(each)) for each in wanted)
    for own, other in zip(found, wanted, strict=True):
        # The keys' bias has no slope at all: what is found there is rounding, of about as much as any.
        assert float(jnp.linalg.norm(own - other)) < 3e-3 * float(jnp.linalg.norm(other)) + 1e-4 * largest
