"""Attention on numbers small enough to follow by hand, and in all its brackets."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from headway.models.attention import Attention, causal_mask
from headway.models.positions import ENCODINGS

pytestmark = pytest.mark.usefixtures("double")

X = [[1.0, 0.0], [0.0, 1.0]]
"""Two tokens with the two unit vectors."""
LOG_3 = math.log(3)


def one_head(query, key, value, output, scaled: bool = False) -> Attention:
    """From plain lists."""
    parts = [None if part is None else jnp.asarray([part]) for part in (query, key, value, output)]
    return Attention(*parts, scaled)


@pytest.mark.parametrize(
    ("parts", "received"),
    [
        # Merged matrices. x_2 S x_1 = log 3 and x_2 S x_2 = 0, so the second token looks 3 : 1 at the first.
        # Values: x_1 -> (2, 0), x_2 -> (0, 4). 3/4 (2, 0) + 1/4 (0, 4) = (1.5, 1).
        (([[5.0, 0.0], [LOG_3, 0.0]], None, [[2.0, 0.0], [0.0, 4.0]], None), [[2, 0], [1.5, 1]]),
        # Queries and keys of width one: q_2 = log 3, k_1 = 1, k_2 = 0. The same 3 : 1.
        # Values of width one: 1 and 2, mixed to 3/4 + 2/4 = 1.25; the output matrix makes (10, 100) of a one.
        (([[7.0], [LOG_3]], [[1.0], [0.0]], [[1.0], [2.0]], [[10.0, 100.0]]), [[10, 100], [12.5, 125]]),
        # Scores divided by the root of their width, which is 2: sqrt(2) log 3 becomes log 3 again.
        (
            ([[5.0, 0.0], [math.sqrt(2) * LOG_3, 0.0]], None, [[2.0, 0.0], [0.0, 4.0]], None, True),
            [[2, 0], [1.5, 1]],
        ),
    ],
    ids=["merged", "key-and-output", "scaled"],
)
def test_two_tokens_by_hand(parts, received):
    out, heads = one_head(*parts)(jnp.asarray(X), 2, 2)
    np.testing.assert_allclose(heads.pattern, [[[1, 0], [0.75, 0.25]]], rtol=1e-12)
    np.testing.assert_allclose(out, received, rtol=1e-12)
    np.testing.assert_allclose(heads.written, [received], rtol=1e-12)


def test_the_mask_shows_the_last_positions_themselves_and_their_past():
    np.testing.assert_array_equal(causal_mask(2, 4), [[1, 1, 1, 0], [1, 1, 1, 1]])
    np.testing.assert_array_equal(causal_mask(3, 3), np.tri(3))


WIDTH, KEYS, HEADS = 6, 8, 2


def random_heads(parts: str, part: int = WIDTH // HEADS, positions: str = "none") -> Attention:
    """Two heads with the parts that are named, all numbers random."""
    rng = np.random.default_rng(0)
    keys, output = "keys" in parts, "output" in parts
    shapes = {
        "query": (HEADS, WIDTH, part if keys else WIDTH),
        "key": (HEADS, WIDTH, part) if keys else None,
        "value": (HEADS, WIDTH, part if output else WIDTH),
        "output": (HEADS, part, WIDTH) if output else None,
        "bias": (HEADS, KEYS) if "bias" in parts else None,
    }
    made = {name: None if shape is None else jnp.asarray(rng.normal(size=shape)) for name, shape in shapes.items()}
    encoding = ENCODINGS["relative" if "bias" in parts else positions]
    return Attention(**made, scaled=True, positions=encoding)


@pytest.fixture(scope="module", params=["merged", "keys", "output", "keys-and-output", "keys-and-bias"])
def heads(request, double) -> Attention:
    """Two heads with or without their own keys, output matrix and bias."""
    return random_heads(request.param)


@pytest.fixture(scope="module")
def stream(double) -> jax.Array:
    return jnp.asarray(np.random.default_rng(1).normal(size=(KEYS, WIDTH)))


@pytest.mark.parametrize("coordinates", [WIDTH, 4])
def test_what_the_heads_wrote_adds_up_to_what_the_layer_received(heads, stream, coordinates):
    for queries in (1, KEYS):
        received, readings = heads(stream, queries, coordinates)
        assert readings.written.shape == (HEADS, queries, coordinates)
        np.testing.assert_allclose(readings.written.sum(axis=0), received, rtol=1e-12, atol=1e-12)


def test_fewer_coordinates_are_the_first_of_all(heads, stream):
    for queries in (1, KEYS):
        everything, _ = heads(stream, queries, WIDTH)
        some, _ = heads(stream, queries, 4)
        np.testing.assert_allclose(some, everything[:, :4], rtol=1e-12, atol=1e-12)


def test_merging_the_matrices_changes_neither_values_nor_gradients(heads, stream):
    """With few queries the products are bracketed otherwise than with all; the last rows must be the same."""
    few = KEYS // HEADS
    assert heads._merging_pays(few, KEYS) and not heads._merging_pays(few + 1, KEYS)
    weights = jnp.asarray(np.random.default_rng(2).normal(size=(few, WIDTH)))

    def summed(heads, stream, queries):
        received, readings = heads(stream, queries, WIDTH)
        value = jnp.sum(weights * received[-few:]) + jnp.sum(readings.pattern[:, -few:] ** 2)
        return value, (received[-few:], readings.pattern[:, -few:], readings.written[:, -few:])

    merged, unmerged = (
        jax.value_and_grad(summed, argnums=(0, 1), has_aux=True)(heads, stream, queries) for queries in (few, KEYS)
    )
    for found, wanted in zip(jax.tree.leaves(merged), jax.tree.leaves(unmerged), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-11)


def test_heads_do_not_know_each_other(heads, stream):
    """Turning the order of the heads turns their readings and leaves the sum."""
    turned = jax.tree.map(lambda leaf: leaf[::-1], heads)
    (received, readings), (same, other) = heads(stream, KEYS, WIDTH), turned(stream, KEYS, WIDTH)
    np.testing.assert_allclose(same, received, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(other.pattern, readings.pattern[::-1], rtol=1e-12)
    np.testing.assert_allclose(other.written, readings.written[::-1], rtol=1e-12, atol=1e-12)


def test_scores_far_beyond_the_range_of_exp_still_give_a_distribution():
    sharp = one_head([[1e6, -1e6], [-1e6, 1e6]], None, [[1.0, 0.0], [0.0, 1.0]], None)
    pattern = sharp.pattern(jnp.asarray(X), 2)
    np.testing.assert_array_equal(pattern, [[[1, 0], [0, 1]]])


BY_DISTANCE = {
    "rotary": lambda: random_heads("keys", part=4, positions="rotary"),
    "relative": lambda: random_heads("keys-and-bias"),
    "alibi": lambda: random_heads("merged", positions="alibi"),
}


def against_itself(pattern) -> np.ndarray:
    """log of what a query gives to each of its keys, less that of what it gives to its own position."""
    seen = np.where(np.tri(*pattern.shape[1:], pattern.shape[2] - pattern.shape[1]), pattern, np.nan)
    return np.log(seen) - np.log(np.diagonal(seen, pattern.shape[2] - pattern.shape[1], 1, 2))[:, :, None]


@pytest.mark.parametrize("queries", [1, 5])
@pytest.mark.parametrize("kind", BY_DISTANCE)
def test_scores_do_not_change_when_queries_and_keys_move_by_the_same_number(kind, queries, stream):
    """The same five vectors, alone and with three others before them: what they give to each other keeps its ratios."""
    heads = BY_DISTANCE[kind]()
    alone, later = (against_itself(heads.pattern(x, queries)) for x in (stream[3:], stream))
    np.testing.assert_allclose(later[:, :, 3:], alone, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("queries", [2, KEYS])
def test_with_equal_contents_attention_follows_the_distance_alone(queries):
    """ALiBi falls by exp(-slope) a step back, of two heads 1/16 and 1/256; a learned bias is the score itself."""
    alike = jnp.broadcast_to(jnp.asarray(np.random.default_rng(3).normal(size=WIDTH)), (KEYS, WIDTH))
    falling = against_itself(BY_DISTANCE["alibi"]().pattern(alike, queries))
    relative = BY_DISTANCE["relative"]()
    learned = against_itself(relative.pattern(alike, queries))
    for query in range(queries):
        back = np.arange(KEYS - queries + query, -1, -1)
        for head, slope in enumerate((1 / 16, 1 / 256)):
            np.testing.assert_allclose(falling[head, query, : len(back)], -slope * back, rtol=1e-9, atol=1e-12)
            wanted = relative.bias[head, back] - relative.bias[head, 0]
            np.testing.assert_allclose(learned[head, query, : len(back)], wanted, rtol=1e-9, atol=1e-12)


def test_rotated_heads_are_never_merged(stream):
    """Few queries are the last of many, though a merged matrix would be cheaper for them."""
    heads = BY_DISTANCE["rotary"]()
    np.testing.assert_allclose(heads.pattern(stream, 1), heads.pattern(stream, KEYS)[:, -1:], rtol=1e-12)
    still = random_heads("keys", part=4)
    assert np.abs(heads.pattern(stream, 1) - still.pattern(stream, 1)).max() > 0.01
