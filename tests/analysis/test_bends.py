"""The fit that bends only where it must, against least squares, and the turns that no curve can avoid."""

import numpy as np

from headway.analysis.bends import _straighten, fit_bends, noise_near, unavoidable_turns


def test_straightening_every_bend_gives_the_regression_line_and_its_errors():
    rng = np.random.default_rng(0)
    x, y, variances = np.sort(rng.uniform(0, 5, 30)), rng.normal(size=30), rng.uniform(0.5, 2, 30)
    fitted, covariance, gone = _straighten(x, y, variances, certainty=np.inf)
    design = np.stack([np.ones(30), x], axis=1)
    inverse = np.linalg.inv(design.T @ (design / variances[:, None]))
    assert gone == 28
    np.testing.assert_allclose(covariance, design @ inverse @ design.T, atol=1e-10)
    np.testing.assert_allclose(fitted, design @ inverse @ design.T @ (y / variances), atol=1e-10)


def test_a_curve_of_three_straight_pieces_is_found_again_from_noisy_points():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 6, 150)
    truth = np.interp(x, [0, 2, 4, 6], [3, 3, 1, 1])
    fit = fit_bends(x, truth + 0.02 * rng.normal(size=150), certainty=3.5, noise=None, width=0.01)
    assert np.max(np.abs(fit.values - truth)) < 0.04
    assert np.max(fit.errors) < 0.02


def test_the_noise_is_seen_through_the_drops():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 6, 2000)
    y = np.where(x > 3, 1.0, 3.0) + 0.02 * rng.normal(size=2000)
    assert abs(noise_near(np.array([3.0]), x, y)[0] / 0.02 - 1) < 0.1


def test_the_noise_is_local_where_there_are_points_enough():
    rng = np.random.default_rng(0)
    x = np.linspace(0, 6, 2000)
    y = np.where(x > 3, 0.001, 0.02) * rng.normal(size=2000)
    np.testing.assert_allclose(noise_near(np.array([1.0, 5.0]), x, y), [0.02, 0.001], rtol=0.2)


def test_the_noise_is_rarely_taken_for_much_less_than_it_is():
    """A fifth too little lets noise pass for bends: neighbours alone err so now and then, the fit hardly."""
    rng = np.random.default_rng(0)
    x = np.linspace(0, 6, 90)
    curves = [np.exp(-x) + 0.02 * rng.normal(size=90) for _ in range(100)]
    fits = [fit_bends(x, y, certainty=3.5, noise=None, width=0.01).noise.mean() for y in curves]
    assert sum(noise_near(x, x, y).mean() < 0.8 * 0.02 for y in curves) > 5
    assert sum(noise < 0.8 * 0.02 for noise in fits) <= 2


def test_a_single_drop_of_any_shape_has_no_turn_within_its_errors():
    rng = np.random.default_rng(0)
    for _ in range(40):
        x = np.sort(rng.uniform(0, 7, 60))
        rate = np.concatenate([np.sort(rng.exponential(size=20)), np.sort(rng.exponential(size=39))[::-1]])
        curve = -np.concatenate([[0.0], np.cumsum(rate * np.diff(x))])
        tolerance = np.full(60, 0.2)
        assert unavoidable_turns(x, curve + rng.uniform(-0.2, 0.2, 60), tolerance) == []


def test_two_drops_have_one_turn_between_them_until_the_errors_hide_it():
    x = np.linspace(0, 4, 81)
    curve = -np.tanh(5 * (x - 1)) - np.tanh(5 * (x - 3))
    (turn,) = unavoidable_turns(x, curve, np.full(81, 0.01))
    assert 2.0 < x[turn] < 2.8
    assert unavoidable_turns(x, curve, np.full(81, 1.0)) == []
