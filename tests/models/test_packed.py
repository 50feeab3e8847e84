"""The form of attention for a GPU computes what the plain one computes, whatever the length; here on a CPU."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.models import packed
from headway.models.attention import Attention, Biases
from headway.models.positions import ENCODINGS

pytestmark = pytest.mark.usefixtures("double")
WIDTH, HEADS, SCORE, INNER = 6, 3, 4, 5


def made(length: int, *, biases: bool = False, causal: bool = True, relative: bool = False) -> Attention:
    rng = np.random.default_rng(0)

    def numbers(*shape: int):
        return jnp.asarray(rng.normal(size=shape))

    own = Biases(numbers(HEADS, SCORE), numbers(HEADS, SCORE), numbers(HEADS, INNER), numbers(WIDTH))
    return Attention(
        *(numbers(HEADS, WIDTH, SCORE), numbers(HEADS, WIDTH, SCORE)),
        *(numbers(HEADS, WIDTH, INNER), numbers(HEADS, INNER, WIDTH)),
        scaled=True,
        bias=numbers(HEADS, length) if relative else None,
        positions=ENCODINGS["relative" if relative else "none"],
        biases=own if biases else None,
        causal=causal,
    )


def whole(pattern):
    return pattern


def dropped(pattern):
    """Every third place, whatever shape the padding gave it."""
    return jnp.where(jnp.arange(pattern.size).reshape(pattern.shape) % 3 == 0, 0, 1.5 * pattern)


SWITCHES = {
    "plain": {},
    "biases": {"biases": True},
    "biases-not-causal": {"biases": True, "causal": False},
    "not-causal": {"causal": False},
    "relative": {"relative": True},
}
SIZES = [(9, 9), (8, 8), (9, 1), (17, 7)]
"""Length, queries."""


def cases() -> Iterator[Any]:
    """Every two of size, switches and dropping meet; with the slow tests every three."""
    for (place, sizes), (row, name), drops in product(enumerate(SIZES), enumerate(SWITCHES), (False, True)):
        marks = [] if drops == bool((place + row) % 2) else [pytest.mark.slow]
        said = f"{sizes[0]}-{sizes[1]}-{name}-{'dropped' if drops else 'whole'}"
        yield pytest.param(*sizes, SWITCHES[name], dropped if drops else whole, id=said, marks=marks)


@pytest.mark.parametrize(("length", "queries", "switches", "drop"), [*cases()])
def test_values_and_gradients_are_those_of_the_plain_form(monkeypatch, length, queries, switches, drop):
    attention = made(length, **switches)
    x = jnp.asarray(np.random.default_rng(1).normal(size=(length, WIDTH)))
    weights = jnp.asarray(np.random.default_rng(2).normal(size=(queries, 4)))

    def summed(attention, x):
        received, heads = attention(x, queries, 4, drop)
        return jnp.sum(weights * received) + jnp.sum(heads.pattern**2) + jnp.sum(heads.written**3), (received, heads)

    asked = []
    told = packed.mixed_values
    monkeypatch.setattr(packed, "mixed_values", lambda *each: asked.append(True) or told(*each))
    plain, fast = [], []
    for wanted, into in ((False, plain), (True, fast)):
        monkeypatch.setattr(packed, "wanted", lambda wanted=wanted: wanted)
        into.extend(jax.tree.leaves(jax.jit(jax.value_and_grad(summed, argnums=(0, 1), has_aux=True))(attention, x)))
    assert asked == ([] if attention._merging_pays(queries, length) else [True])
    for found, reference in zip(fast, plain, strict=True):
        np.testing.assert_allclose(found, reference, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("encoding", ["rotary", "relative-keys"])
def test_what_comes_between_the_products_is_left_to_the_plain_form(encoding):
    four = [jnp.zeros((1, 4, 4))] * 4
    assert packed.serves(Attention(*four, scaled=True, positions=ENCODINGS["alibi"]))
    assert not packed.serves(Attention(*four, scaled=True, positions=ENCODINGS[encoding]))
    assert not packed.serves(Attention(*four, scaled=True, linear=True))


def test_a_cpu_has_the_plain_form():
    assert not packed.wanted()
