"""Every positional encoding and every start, ours or brought along, gives the same numbers on every path."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.kernels.forms import BATCH, QUICK, TASK, batch_of, distance, fast_form, in_float32, simple_form
from tests.models.switches import stirred

from headway.kernels.cpu import dropped
from headway.models.initialisation import STARTS, transformer
from headway.models.positions import ENCODINGS, Positions
from headway.settings import ModelSettings, SettingsError
from headway.settings.given import given
from headway.settings.model import INITIALISATIONS, POSITIONS

MODEL = ModelSettings(width=36, heads=3, mlp=5, dropout=0.3)
"""Wide enough that dropped rows come from tables on a CPU, where the encoding allows it."""


def spiral(_parameters, x):
    """Rows that are added, as sinusoids are."""
    return x + jnp.sin(0.7 * jnp.arange(x.shape[0])[:, None] + jnp.arange(x.shape[1])).astype(x.dtype)


def fading(_parameters, x):
    """No row that is added: what a token is worth falls with its position."""
    return x / (1 + jnp.arange(x.shape[0], dtype=x.dtype)[:, None])


def tilted(_parameters, heads, queries, keys):
    return jnp.broadcast_to(-0.3 * jnp.arange(keys, dtype=jnp.float32), (heads, queries, keys))


def flipped(x, length, axis):
    sign = jnp.where(jnp.arange(length)[-x.shape[axis] :] % 2, -1.0, 1.0).astype(x.dtype)
    return x * sign.reshape([-1 if place == axis else 1 for place in range(x.ndim)])


GIVEN = {
    "a stream that is added to": Positions(stream=spiral),
    "a stream that is scaled": Positions(stream=fading),
    "a learned stream": Positions(
        stream=lambda table, x: x * table,
        stream_start=lambda draw, key, length, width: draw(key, (length, width), 1, 1),
    ),
    "a shift of scores": Positions(shift=tilted),
    "a turn of queries and keys": Positions(turn=flipped),
}
ALL = {**{name: name for name in POSITIONS}, **{name: given(each) for name, each in GIVEN.items()}}


@pytest.fixture(scope="module")
def losses():
    """Loss and gradient of every encoding: simple and by tables, quiet and with noise."""
    found = {}

    def of(name):
        if name not in found:
            model = in_float32(stirred(replace(MODEL, positions=ALL[name])))
            batch, keys = batch_of(TASK, jnp.float32), (None, jax.random.key(2))
            compute = lambda model: [form(model, TASK, *batch, k) for k in keys for form in (simple_form, fast_form)]  # noqa: E731
            found[name] = jax.jit(compute, compiler_options=QUICK)(model)
        return found[name]

    return of


def test_every_name_has_a_function_and_every_function_a_name():
    assert set(POSITIONS) == set(ENCODINGS)
    assert set(INITIALISATIONS) == set(STARTS)


@pytest.mark.parametrize("name", ALL)
def test_an_encoding_has_one_loss_and_one_gradient_on_every_path(losses, name):
    """To the rounding of float32, with the noise of dropout and without."""
    quiet, quiet_tables, noisy, noisy_tables = losses(name)
    for simple, tables in ((quiet, quiet_tables), (noisy, noisy_tables)):
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(tables))
        assert distance(simple, tables) < 1e-5
    assert abs(float(noisy[0]) - float(quiet[0])) > 1e-3


@pytest.mark.parametrize("name", [name for name in ALL if name != "none"])
def test_an_encoding_changes_the_numbers_on_every_path(losses, name):
    """One that a path passed over in silence would leave the loss that there is without positions."""
    for encoded, without in zip(losses(name), losses("none"), strict=True):
        assert abs(float(encoded[0]) - float(without[0])) > 1e-4


def test_dropped_rows_come_from_tables_exactly_where_an_encoding_adds_rows_to_the_stream():
    served = {name: dropped.serves(in_float32(stirred(replace(MODEL, positions=each)))) for name, each in ALL.items()}
    left_out = {"one-hot", "a stream that is added to", "a stream that is scaled", "a learned stream"}
    assert {name for name, yes in served.items() if not yes} == left_out, "of ours we know it, of others nobody does"


def halves(role, key, shape, fan_in, _fan_out, scale):
    """A start of one's own."""
    return scale * jax.random.choice(key, jnp.asarray([-0.5, 0.5]), shape) / jnp.sqrt(fan_in)


def test_every_start_gives_a_model_with_one_loss_on_every_path():
    batch = batch_of(TASK, jnp.float32)
    compute = jax.jit(
        lambda model: [form(model, TASK, *batch, None) for form in (simple_form, fast_form)], compiler_options=QUICK
    )
    found = {}
    for start in (*INITIALISATIONS, given(halves)):
        settings = replace(MODEL, initialisation=start, scale=0.5)
        model = transformer(settings, TASK.vocab, TASK.length, jax.random.key(0))
        # The same settings, so that one program serves all starts.
        leaves, structure = (
            jax.tree.leaves(model),
            jax.tree.structure(jax.eval_shape(lambda: transformer(MODEL, TASK.vocab, TASK.length, jax.random.key(0)))),
        )
        simple, tables = compute(jax.tree.unflatten(structure, leaves))
        assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(tables))
        assert distance(simple, tables) < 1e-5
        found[start] = float(tables[0])
    assert len(set(found.values())) == len(found) and BATCH > 1


@pytest.mark.parametrize("part", ["positions", "initialisation"])
def test_a_name_that_is_none_is_refused_with_those_that_are(part):
    with pytest.raises(SettingsError, match=rf'model.{part} is \'sideways\', but it must be one of "'):
        ModelSettings(**{part: "sideways"})
