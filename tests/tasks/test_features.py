"""Haar's measure on the orthogonal matrices, against its known moments and symmetries."""

import jax
import numpy as np
import pytest
from scipy import stats

from headway.tasks.features import haar, independent_features, mutually_orthogonal_features

SAMPLES = 4000


@pytest.fixture(scope="module", params=[2, 3])
def drawn(request) -> np.ndarray:
    """Many matrices of a size."""
    size = request.param
    keys = jax.random.split(jax.random.key(size), SAMPLES)
    return np.asarray(jax.jit(jax.vmap(lambda key: haar(key, size)))(keys), np.float64)


def features(make, count: int, size: int) -> np.ndarray:
    return np.asarray(make(jax.random.key(3), count, size), np.float64)


@pytest.mark.parametrize("make", [independent_features, mutually_orthogonal_features])
def test_every_feature_is_an_orthogonal_matrix(make):
    found = features(make, 3, 20)
    np.testing.assert_allclose(
        found @ found.transpose(0, 2, 1), np.broadcast_to(np.eye(20), (3, 20, 20)), atol=1e-5
    )


def test_mutually_orthogonal_features_have_no_trace_in_common_even_when_as_many_as_tokens():
    """tr(Q_i^T Q_j) = d if i = j, else 0."""
    found = features(mutually_orthogonal_features, 4, 4).reshape(4, -1)
    np.testing.assert_allclose(found @ found.T, 4 * np.eye(4), atol=1e-5)


def test_independent_features_do_have_some_trace_in_common():
    """E tr(Q_i^T Q_j)^2 = 1, so that the setting makes a difference."""
    found = features(independent_features, 4, 4).reshape(4, -1)
    assert np.abs((found @ found.T)[np.triu_indices(4, 1)]).max() > 0.3


def test_entries_have_the_moments_of_haar_s_measure(drawn):
    """E Q = 0, E Q_ij^2 = 1/d, E Q_ij^4 = 3/(d(d+2)), each within five standard errors."""
    size = drawn.shape[-1]
    for power, wanted in ((1, 0), (2, 1 / size), (3, 0), (4, 3 / (size * (size + 2)))):
        moment, error = (drawn**power).mean(axis=0), (drawn**power).std(axis=0) / np.sqrt(SAMPLES)
        np.testing.assert_array_less(np.abs(moment - wanted), 5 * error)


def test_rotations_and_reflections_are_equally_likely(drawn):
    rotations = int((np.linalg.det(drawn) > 0).sum())
    assert stats.binomtest(rotations, SAMPLES).pvalue > 0.01


def test_the_law_does_not_change_when_a_matrix_is_turned_or_all_signs_are(drawn):
    """Q, -Q, U Q and Q U have the same distribution of traces."""
    size = drawn.shape[-1]
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(size, size)))[0]
    first, second = drawn[: SAMPLES // 2], drawn[SAMPLES // 2 :]
    for changed in (-second, turn @ second, second @ turn):
        # Reflections of the plane all have the trace 0; rounding must not make them differ.
        traces = [np.trace(m, axis1=1, axis2=2).round(4) + 0.0 for m in (first, changed)]
        assert stats.ks_2samp(*traces).pvalue > 0.01


def test_rotations_of_the_plane_have_uniform_angles():
    """Half of the traces in two dimensions are 2 cos(angle), the angle uniform."""
    keys = jax.random.split(jax.random.key(9), SAMPLES)
    drawn = np.asarray(jax.jit(jax.vmap(lambda key: haar(key, 2)))(keys), np.float64)
    rotations = drawn[np.linalg.det(drawn) > 0]
    angles = np.arctan2(rotations[:, 1, 0], rotations[:, 0, 0])
    assert stats.kstest(angles / (2 * np.pi) + 0.5, "uniform").pvalue > 0.01


def test_each_of_the_mutually_orthogonal_features_is_as_random_as_an_independent_one():
    """The mean vanishes and E tr(Q)^2 = 1, as for a matrix that is drawn alone."""
    keys = jax.random.split(jax.random.key(5), SAMPLES)
    drawn = np.asarray(
        jax.jit(jax.vmap(lambda key: mutually_orthogonal_features(key, 2, 3)))(keys), np.float64
    )
    error = drawn.std(axis=0) / np.sqrt(SAMPLES)
    np.testing.assert_array_less(np.abs(drawn.mean(axis=0)), 5 * error)
    squares = np.trace(drawn, axis1=2, axis2=3) ** 2
    np.testing.assert_array_less(np.abs(squares.mean(axis=0) - 1), 5 * squares.std(axis=0) / np.sqrt(SAMPLES))


def test_another_key_gives_other_features():
    first, second = (np.asarray(haar(jax.random.key(seed), 5)) for seed in (0, 1))
    assert np.abs(first - second).max() > 0.1
