from collections.abc import Iterator

import jax
import pytest


@pytest.fixture(scope="module")
def double() -> Iterator[None]:
    """Arithmetic in float64, so that a formula and its test agree to the last digits."""
    with jax.enable_x64(True):
        yield
