"""Which changes of its parameters leave a transformer as it is, and which of them training respects: docs/theory.md."""

from dataclasses import replace
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from scipy.stats import ortho_group
from tests.models.switches import LENGTH, chosen_settings, name, stirred

from headway.models.attention import Attention
from headway.models.construction import construction
from headway.models.transformer import Transformer
from headway.presets import FULL
from headway.settings import TrainingSettings
from headway.tasks.chain import Chain
from headway.training.optimisers import Rates, optimiser

pytestmark = pytest.mark.usefixtures("double")

SENTENCE = jnp.asarray([2, 0, 3, 2])
NEXT = jnp.asarray([1, 2, 0, 3])
MODELS = chosen_settings()
SEVERAL = [settings for settings in MODELS if settings.heads == 2][::2]
LIKE = {"rtol": 1e-9, "atol": 1e-11}


def each_attention(model: Transformer, change) -> Transformer:
    """The same model with `change` made of every layer's attention."""
    for number in range(len(model.layers)):
        model = eqx.tree_at(lambda m, n=number: m.layers[n].attention, model, replace_fn=change)
    return model


def permuted(attention: Attention) -> Attention:
    """Head k becomes head pi(k), with everything that is its own; what all heads share stays."""

    def by_head(part):
        return None if part is None else part[::-1]

    biases = attention.biases
    if biases is not None:
        own = {field: by_head(getattr(biases, field)) for field in ("query", "key", "value")}
        biases = biases._replace(**own)
    own = {field: by_head(getattr(attention, field)) for field in ("query", "key", "value", "output")}
    of_positions = {field: jax.tree.map(by_head, getattr(attention, field)) for field in ("bias", "codes")}
    return replace(attention, **own, **of_positions, biases=biases)


def turned(attention: Attention, matrix: np.ndarray, *, gradient: bool = False) -> Attention:
    """W_Q -> W_Q A, W_K -> W_K A^-T, and so what stands for keys; a gradient the other way round: dW_Q -> dW_Q A^-T."""
    of_query, of_key = matrix, np.linalg.inv(matrix).T
    if gradient:
        of_query, of_key = of_key, of_query
    biases = attention.biases
    if biases is not None:
        biases = biases._replace(query=biases.query @ of_query, key=biases.key @ of_key)
    codes = jax.tree.map(lambda each: each @ of_key, attention.codes)
    return replace(attention, query=attention.query @ of_query, key=attention.key @ of_key, biases=biases, codes=codes)


def recoded(attention: Attention, matrix: np.ndarray) -> Attention:
    """W_V -> W_V B, W_O -> B^-1 W_O."""
    biases = attention.biases
    if biases is not None:
        biases = biases._replace(value=biases.value @ matrix)
    return replace(
        attention, value=attention.value @ matrix, output=np.linalg.inv(matrix) @ attention.output, biases=biases
    )


@eqx.filter_jit
def read(model: Transformer):
    def loss(model):
        reading = model.read(SENTENCE, LENGTH)
        guess = jax.nn.log_softmax(reading.logits)
        return -jnp.mean(guess[jnp.arange(LENGTH), NEXT]), reading

    (_, reading), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(model)
    return reading, gradient


def assert_trees_close(found, wanted, **within) -> None:
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(one, other, **(within or LIKE))


@pytest.mark.parametrize("settings", SEVERAL, ids=name)
def test_heads_may_be_permuted(settings):
    """Logits stay, attention and gradients are permuted; but for ALiBi, whose slopes belong to the heads' numbers."""
    model = stirred(settings)
    (before, gradient), (after, moved) = read(model), read(each_attention(model, permuted))
    if settings.positions == "alibi":
        assert np.abs(after.logits - before.logits).max() > 1e-3
        return
    np.testing.assert_allclose(after.logits, before.logits, **LIKE)
    for one, other in zip(before.heads, after.heads, strict=True):
        np.testing.assert_allclose(other.pattern, one.pattern[::-1], **LIKE)
        np.testing.assert_allclose(other.written, one.written[::-1], **LIKE)
    assert_trees_close(moved, each_attention(gradient, permuted))


WITH_KEYS = [settings for settings in MODELS if settings.keys and settings.layers < 3]


@pytest.mark.parametrize("settings", WITH_KEYS, ids=name)
def test_queries_and_keys_matter_by_their_product_alone(settings):
    """W_Q A and W_K A^-T, A invertible: the same logits and attention, and gradients that change with them.

    Not with rotary positions, which turn between the two.
    """
    model = stirred(settings)
    size = model.layers[0].attention.query.shape[-1]
    matrix = np.random.default_rng(1).normal(size=(size, size)) + 2 * np.eye(size)
    (before, gradient), (after, moved) = read(model), read(each_attention(model, lambda a: turned(a, matrix)))
    if settings.positions == "rotary":
        assert np.abs(after.logits - before.logits).max() > 1e-3
        return
    np.testing.assert_allclose(after.logits, before.logits, **LIKE)
    for one, other in zip(before.heads, after.heads, strict=True):
        np.testing.assert_allclose(other.pattern, one.pattern, **LIKE)
    assert_trees_close(
        moved, each_attention(gradient, lambda a: turned(a, matrix, gradient=True)), rtol=1e-8, atol=1e-9
    )


@pytest.mark.parametrize("settings", [each for each in WITH_KEYS if each.output][:4], ids=name)
def test_values_and_outputs_matter_by_their_product_alone(settings):
    """W_V B and B^-1 W_O: the same logits and the same part of each head."""
    model = stirred(settings)
    size = model.layers[0].attention.value.shape[-1]
    matrix = np.random.default_rng(2).normal(size=(size, size)) + 2 * np.eye(size)
    (before, _), (after, _) = read(model), read(each_attention(model, lambda a: recoded(a, matrix)))
    np.testing.assert_allclose(after.logits, before.logits, **LIKE)
    for one, other in zip(before.heads, after.heads, strict=True):
        np.testing.assert_allclose(other.written, one.written, **LIKE)


def test_rotary_positions_leave_only_the_rotations_that_commute_with_theirs():
    """A rotation of each plane of coordinates in which rotary positions turn, the same for queries and keys."""
    [settings] = [each for each in WITH_KEYS if each.positions == "rotary" and each.layers == 2]
    model = stirred(settings)
    half = model.layers[0].attention.query.shape[-1] // 2
    cos, sin = (np.diag(f(np.arange(1.0, half + 1))) for f in (np.cos, np.sin))
    before = read(model)[0].logits
    joined = [np.block([[cos, -sin], [sin, cos]])]  # coordinates i and i + half form a plane
    pairs = np.zeros((2 * half, 2 * half))  # or neighbours do
    for i in range(half):
        pairs[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[cos[i, i], -sin[i, i]], [sin[i, i], cos[i, i]]]
    off = [
        np.abs(read(each_attention(model, lambda a, m=m: turned(a, m)))[0].logits - before).max()
        for m in (*joined, pairs)
    ]
    assert min(off) < 1e-11 < 1e-4 < max(off)


def test_the_hand_made_solution_does_not_care_which_head_has_which_block():
    chain = Chain(vocab=5, blocks=((1,), (2, 3)), horizon=4)
    world = chain.world(jax.random.key(0))
    row = chain.sample(world, jax.random.key(1))[:-1]
    model = construction(world.matrices, world.weights, chain.horizon, sharpness=3.0)
    swapped = construction(world.matrices[::-1], world.weights[::-1], chain.horizon, sharpness=3.0)
    assert_trees_close(swapped, each_attention(model, permuted))
    np.testing.assert_allclose(swapped(row, chain.horizon), model(row, chain.horizon), **LIKE)


CHAIN = Chain(vocab=6, blocks=((1,), (2,)), horizon=6, weighting="sum")
SMALL = replace(FULL, width=12, heads=2, mlp=0, norm="none", dropout=0.0)
STEPS = 80


@cache
def training_of(method: str, change: str) -> tuple[np.ndarray, Transformer]:
    """Losses of descent on one batch with Headway's own optimisers, from a start that was changed; and its end."""
    matrix = {"rotation": ortho_group.rvs(6, random_state=3), "scale": np.diag(np.geomspace(0.3, 3, 6))}
    changes = {"": lambda a: a, "heads": permuted} | {word: lambda a, m=m: turned(a, m) for word, m in matrix.items()}
    model = each_attention(stirred(SMALL, vocab=CHAIN.vocab, length=CHAIN.reads), changes[change])
    world = CHAIN.world(jax.random.key(0))
    rows = jax.vmap(lambda key: CHAIN.sample(world, key))(jax.random.split(jax.random.key(1), 64))
    rates = {"sgd": 0.05, "adamw": 0.01, "muon": 0.02}
    settings = TrainingSettings(optimiser=method, learning_rate=rates[method], schedule="constant", weight_decay=0.01)
    numbers = Rates(settings.learning_rate, settings.weight_decay, settings.momentum, settings.clip)
    update = optimiser(settings, numbers, 1)

    def loss(model):
        def one(row):
            guess = jax.nn.log_softmax(model(row[:-1], CHAIN.horizon))
            return -jnp.mean(guess[jnp.arange(CHAIN.horizon), row[-CHAIN.horizon :]])

        return jnp.mean(jax.vmap(one)(rows))

    @eqx.filter_jit
    def train(model):
        def step(carry, _):
            model, state = carry
            value, gradient = jax.value_and_grad(loss)(model)
            moves, state = update.update(gradient, state, model, value=value)
            return (optax.apply_updates(model, moves), state), value

        (model, _), values = jax.lax.scan(step, (model, update.init(model)), length=STEPS)
        return values, model

    losses, end = train(model)
    return np.asarray(losses), end


@pytest.mark.parametrize("method", ["sgd", "adamw", "muon"])
def test_training_respects_the_order_of_heads(method):
    """Permuted heads stay permuted: every loss, and every parameter at the end."""
    (plain, end), (losses, other) = training_of(method, ""), training_of(method, "heads")
    np.testing.assert_allclose(losses, plain, rtol=1e-7)
    assert_trees_close(other, each_attention(end, permuted), rtol=1e-4, atol=1e-6)


def test_gradient_descent_respects_rotations_of_queries_and_keys_and_no_other_change():
    """Momentum, decay and the clip of the norm commute with a rotation; a rescaling changes what a step is worth."""
    (plain, _), (rotated, _), (rescaled, _) = (training_of("sgd", change) for change in ("", "rotation", "scale"))
    np.testing.assert_allclose(rotated, plain, rtol=1e-9)
    assert np.abs(rescaled / plain - 1).max() > 1e-3


def test_adam_respects_neither_and_its_losses_differ_by_percents():
    """Adam divides by the root of each coordinate's own mean square: another basis, another path."""
    (plain, _), (rotated, _), (rescaled, _) = (training_of("adamw", change) for change in ("", "rotation", "scale"))
    assert rotated[0] == pytest.approx(plain[0], rel=1e-12)
    assert np.abs(rotated / plain - 1).max() > 1e-3
    assert np.abs(rescaled / plain - 1).max() > 1e-3


def test_the_exceptions_above_are_among_the_models():
    assert {"alibi", "relative-keys"} <= {settings.positions for settings in SEVERAL}
    assert {"rotary", "relative-keys", "relative"} <= {settings.positions for settings in WITH_KEYS}
