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


@pytest.fixture(scope="module", params=[independent_features, mutually_orthogonal_features])
def features(request) -> tuple[bool, np.ndarray]:
    """Whether they are orthogonal to each other, and as many features as there are tokens."""
    mutually = request.param is mutually_orthogonal_features
    return mutually, np.asarray(request.param(jax.random.key(3), 4, 4), np.float64)


def test_every_feature_is_an_orthogonal_matrix(features):
    for matrix in features[1]:
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(4), atol=1e-5)


def test_only_mutually_orthogonal_features_have_no_trace_in_common(features):
    """tr(Q_i^T Q_j) = 0 for i != j; for independent ones its mean square is 1."""
    mutually, matrices = features
    flat = matrices.reshape(4, -1)
    common = (flat @ flat.T)[np.triu_indices(4, 1)]
    if mutually:
        np.testing.assert_allclose(common, 0, atol=1e-5)
    else:
        assert np.abs(common).max() > 0.3


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


def test_columns_point_in_every_direction_alike(drawn):
    """In the plane the angle of a column is uniform; in space its height is (Archimedes' hat-box)."""
    height = drawn[:, 0, 0].clip(-1, 1)
    share = np.arccos(height) / np.pi if drawn.shape[-1] == 2 else (height + 1) / 2
    assert stats.kstest(share, "uniform").pvalue > 0.01


def test_each_of_the_mutually_orthogonal_features_is_as_random_as_an_independent_one():
    """The mean vanishes and E tr(Q)^2 = 1, as for a matrix that is drawn alone."""
    keys = jax.random.split(jax.random.key(5), SAMPLES)
    draw = jax.jit(jax.vmap(lambda key: mutually_orthogonal_features(key, 2, 3)))
    drawn = np.asarray(draw(keys), np.float64)
    error = drawn.std(axis=0) / np.sqrt(SAMPLES)
    np.testing.assert_array_less(np.abs(drawn.mean(axis=0)), 5 * error)
    squares = np.trace(drawn, axis1=2, axis2=3) ** 2
    np.testing.assert_array_less(np.abs(squares.mean(axis=0) - 1), 5 * squares.std(axis=0) / np.sqrt(SAMPLES))


def test_another_key_gives_another_matrix(drawn):
    assert len(np.unique(drawn.reshape(SAMPLES, -1), axis=0)) == SAMPLES
