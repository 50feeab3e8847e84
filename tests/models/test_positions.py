"""The sinusoidal code."""

import numpy as np
import pytest
from tests.models.plain_transformer import sinusoid

from headway.models.positions import sinusoidal

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
