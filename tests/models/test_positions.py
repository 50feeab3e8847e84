"""The sinusoidal code, rotations, and what distance does to scores."""

import jax.numpy as jnp
import numpy as np
import pytest
from tests.models.plain_transformer import sinusoid, turned

from headway.models.positions import distances, rotated, sinusoidal, slopes

pytestmark = pytest.mark.usefixtures("double")


@pytest.mark.parametrize("width", [1, 4, 7])
def test_pairs_of_sine_and_cosine_with_growing_wavelengths(width):
    wanted = [sinusoid(position, width) for position in range(5)]
    np.testing.assert_allclose(sinusoidal(5, width), wanted, rtol=1e-12, atol=1e-15)


def test_the_angle_between_two_positions_depends_only_on_their_distance():
    """sin a sin b + cos a cos b = cos(a - b), summed over the pairs."""
    code = np.asarray(sinusoidal(30, 16))
    products = code @ code.T
    for distance in range(30):
        diagonal = np.diagonal(products, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], rtol=1e-10)
    assert np.argmax(products[0]) == 0


@pytest.mark.parametrize("axis", [0, 1])
def test_a_rotation_turns_pairs_of_neighbours_at_the_last_positions(axis):
    """Five positions, of which the last three are there, along either axis."""
    x = np.random.default_rng(0).normal(size=(3, 2, 6))
    wanted = np.stack([[turned(row, position) for row in x[place]] for place, position in enumerate((2, 3, 4))])
    found = rotated(jnp.asarray(np.swapaxes(x, 0, axis)), 5, axis)
    np.testing.assert_allclose(np.swapaxes(found, 0, axis), wanted, rtol=1e-12, atol=1e-14)


def test_the_product_of_rotated_vectors_does_not_change_when_both_move_by_the_same_number():
    """And it does change when one of them moves alone."""
    query, key = np.random.default_rng(1).normal(size=(2, 8))
    queries, keys = (np.asarray(rotated(jnp.tile(jnp.asarray(row), (12, 1)), 12, 0)) for row in (query, key))
    products = queries @ keys.T
    assert products[0, 0] == pytest.approx(query @ key, rel=1e-12)
    for distance in range(-11, 12):
        diagonal = np.diagonal(products, distance)
        np.testing.assert_allclose(diagonal, diagonal[0], rtol=1e-11)
    assert np.abs(np.diff(products[0])).min() > 1e-3


def test_a_rotation_changes_no_length():
    x = jnp.asarray(np.random.default_rng(2).normal(size=(7, 4)))
    np.testing.assert_allclose(jnp.linalg.norm(rotated(x, 7, 0), axis=1), jnp.linalg.norm(x, axis=1), rtol=1e-12)


def test_slopes_are_those_of_the_alibi_paper():
    """For 8 heads 1/2, 1/4, .., 1/256; for 16 the same and, between them, their geometric means."""
    np.testing.assert_array_equal(slopes(8), [2.0**-h for h in range(1, 9)])
    np.testing.assert_array_equal(slopes(16)[1::2], slopes(8))
    np.testing.assert_allclose(slopes(16)[2::2] ** 2, slopes(8)[:-1] * slopes(8)[1:], rtol=1e-12)


def test_distances_count_back_from_the_last_positions():
    np.testing.assert_array_equal(distances(2, 4), [[2, 1, 0, 0], [3, 2, 1, 0]])
