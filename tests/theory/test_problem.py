"""What is to be learned, and where it may start."""

import numpy as np
import pytest

from headway.theory.problem import Problem, full_problem, geometric, random_features, reduced_problem
from headway.theory.simplex import on_simplex, project
from headway.theory.start import near_uniform


def test_features_are_orthonormal_matrices():
    features = random_features(3, 4, 5)
    assert np.abs(features @ features.T - np.eye(4)).max() < 1e-14
    matrices = features.reshape(4, 5, 5)
    assert np.trace(matrices[1].T @ matrices[2]) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"strengths": np.array([1.0, 2.0])}, "largest first"),
        ({"strengths": np.array([2.0, -1.0])}, "positive"),
        ({"features": np.ones((2, 2))}, "random_features"),
        ({"copies": np.ones(1)}, "do not fit on 1 positions"),
        ({"copies": np.array([1.0, 2.0, 1.0])}, "Merge only positions that hold none"),
        ({"heads": 0}, "at least one"),
    ],
)
def test_a_problem_that_is_none_is_refused(change, complaint):
    good = {"strengths": np.array([2.0, 1.0]), "features": np.eye(2), "copies": np.ones(3), "heads": 2}
    Problem(**good)
    with pytest.raises(ValueError, match=complaint):
        Problem(**{**good, **change})


def test_single_precision_is_refused():
    with pytest.raises(TypeError, match="float64"):
        Problem(np.array([2.0, 1.0], np.float32), np.eye(2), np.ones(3), heads=2)


def test_a_start_beside_the_simplex_is_refused_or_projected_as_asked(rng):
    beside = 1 / 6 + 0.01 * rng.standard_normal((2, 6))
    with pytest.raises(ValueError, match='otherwise="project"'):
        on_simplex(beside, "refuse")
    assert np.abs(on_simplex(beside, "project").sum(axis=1) - 1).max() < 1e-15


def test_a_projection_that_would_blind_a_head_is_refused():
    with pytest.raises(ValueError, match="never have any"):
        on_simplex(np.array([[0.9, 0.9, 0.01]]), "project")


def test_no_point_of_the_simplex_is_nearer_than_the_projection(rng):
    points = rng.standard_normal((5, 4))
    nearest = project(points)
    assert np.abs(nearest.sum(axis=1) - 1).max() < 1e-14
    assert nearest.min() >= 0
    others = rng.dirichlet(0.5 * np.ones(4), size=(500, 1))
    assert np.all(np.linalg.norm(points - nearest, axis=1) <= np.linalg.norm(points - others, axis=2).min(axis=0))


def test_the_start_is_on_the_simplex_and_depends_on_its_seed_alone():
    problem = reduced_problem(geometric(3, 1.7), length=40)
    start = near_uniform(problem, 4, noise=1e-3)
    assert np.abs(start.attention.sum(axis=1) - 1).max() < 1e-14
    assert np.std(start.attention) == pytest.approx(1e-3, rel=0.3)
    assert not np.any(start.values)
    larger = full_problem(geometric(3, 1.7), length=40, dimension=5)
    assert np.array_equal(near_uniform(larger, 4, noise=1e-3).attention, start.attention)
