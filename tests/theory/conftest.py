"""Theory is computed in float64, and every file shares a few small problems."""

from collections.abc import Iterator

import jax
import numpy as np
import pytest

from headway.theory.problem import Problem, geometric, reduced_problem


@pytest.fixture(autouse=True)
def double_precision() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def problem() -> Problem:
    """Three features, three heads, six positions, in the features' coordinates, as printed."""
    return reduced_problem(geometric(3, 1.7), length=6)
