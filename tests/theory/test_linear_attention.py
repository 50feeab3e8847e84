"""Linear attention on in-context regression: levels, closed forms, the flow, and descent, held against each other."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from headway.analysis import linear_attention as closed
from headway.theory import linear_attention as flows
from headway.theory.solve import solve

PAIRS = 31
EIGENVALUES = closed.spectrum((4, 3, 2, 1))


def regression(eigenvalues=EIGENVALUES, tau=1.0, gain=1.0):
    return flows.Regression(*(jnp.asarray(each, float) for each in (eigenvalues, PAIRS, tau, gain)))


def losses(problem, states, shape):
    """Of one start, at every time."""
    from headway.theory.linear_attention import loss

    along = jax.jit(jax.vmap(lambda *parts: loss(problem, shape(*parts))))
    return np.asarray(along(*(part[0] for part in states)))


def test_the_levels_are_those_of_regression_on_principal_components():
    np.testing.assert_allclose(closed.levels(EIGENVALUES, PAIRS), [1, 0.6406, 0.3774, 0.2098, 0.1360], atol=5e-5)
    for count, level in enumerate(closed.levels(EIGENVALUES, PAIRS)):
        assert closed.loss(closed.best(EIGENVALUES, PAIRS, count), EIGENVALUES, PAIRS) == pytest.approx(
            level, abs=1e-12
        )


def test_every_level_is_a_place_where_the_flow_stands_still():
    """M of the m-th level pulls only on directions that it does not have; heads along the others do not move."""
    for count in range(5):
        pull = np.asarray(flows.force(regression(), jnp.asarray(closed.best(EIGENVALUES, PAIRS, count))))
        assert np.allclose(np.diag(pull)[:count], 0, atol=1e-7)
        assert np.allclose(pull, np.diag(np.diag(pull)))


def test_the_second_moment_is_that_of_drawn_sequences():
    """E2 = L^2 + (L + tr L I) L / N, and E[y beta x_q^T] = L^2."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200_000, PAIRS + 1, 4)) * np.sqrt(EIGENVALUES)
    w = rng.normal(size=(200_000, 4))
    y = np.einsum("snd,sd->sn", x, w)
    beta = np.einsum("sn,snd->sd", y[:, :-1], x[:, :-1]) / PAIRS
    np.testing.assert_allclose(np.mean(beta**2, axis=0), closed.second_moment(EIGENVALUES, PAIRS), rtol=0.02)
    cross = np.einsum("s,sd,se->de", y[:, -1], beta, x[:, -1]) / len(w)
    np.testing.assert_allclose(cross, np.diag(EIGENVALUES**2), atol=0.002)


def test_merged_heads_of_a_white_spectrum_follow_the_logistic_curve():
    """Random small starts, too: w^2 = |u + v|^2 / 4 with u_i = tr U_i / sqrt(D)."""
    size, rng = 3, np.random.default_rng(1)
    white = np.full(size, 1 / size)
    start = flows.Merged(1e-4 * rng.normal(size=(1, 4)), 1e-4 * rng.normal(size=(1, 4, size, size)))
    strength = closed.merged_start(start.v[0], start.U[0], white)
    along = np.trace(start.U[0], axis1=1, axis2=2) / math.sqrt(size)
    assert strength == pytest.approx(np.sum((along + start.v[0]) ** 2) / 4)
    times = np.linspace(0, 120, 61)
    states = solve(flows.merged, regression(white), start, times)
    found = losses(regression(white), states, flows.Merged)
    sigma = closed.merged_sigma(times, 1 / size, size, PAIRS, strength)
    np.testing.assert_allclose(closed.white_loss(sigma, 1 / size, size, PAIRS), found, atol=2e-4)
    half = np.interp(0.5 * (found[0] + found[-1]), found[::-1], times[::-1])
    assert closed.merged_half(strength, white, PAIRS) == pytest.approx(half, rel=5e-3)


def test_a_balanced_head_follows_its_closed_form():
    """t = (tau / l^2) (l c)^(1/3) (F(y) - F(y_0)) along the integrated flow, to the solver's error."""
    eigenvalue, noisy = EIGENVALUES[1], closed.noise(EIGENVALUES, PAIRS)[1]
    along = 0.1 * np.eye(4)[1][None, None]
    start = flows.Separate(np.full((1, 1), 0.1), along, along)
    times = np.linspace(0, 150, 31)
    states = solve(flows.separate, regression(tau=2.0), start, times)
    when = closed.balanced_time(states.v[0, :, 0], 0.1, eigenvalue, noisy, tau=2.0)
    moving = states.v[0, :, 0] < 0.999 * (eigenvalue * noisy) ** (-1 / 3)
    assert moving.sum() > 20
    np.testing.assert_allclose(when[moving], times[moving], rtol=1e-6, atol=1e-6)


def test_the_shape_of_a_drop_has_the_slope_it_should():
    y = np.linspace(0.1, 0.9, 9)
    numeric = (closed.shape(y + 1e-6) - closed.shape(y - 1e-6)) / 2e-6
    np.testing.assert_allclose(numeric, 1 / (y**2 * (1 - y**3)), rtol=1e-6)
    done = 1 - (1 - closed.HALF**3) ** 2
    assert done == pytest.approx(0.5)


@pytest.mark.parametrize("start", [(0.3, 0.2, 0.5), (-0.3, 0.2, 0.5), (0.1, 0.1, 0.1)])
def test_escape_is_an_elliptic_integral_of_the_start(start):
    """dv/dt = k q and so on: v^2 - k^2 and v^2 - q^2 are kept. Against the integral over the smallest of the three."""
    small, *others = sorted(start, key=abs)
    offsets = [other**2 - small**2 for other in others]
    sign = math.copysign(1, math.prod(start))

    def speed(s):
        return 1 / math.sqrt((s**2 + offsets[0]) * (s**2 + offsets[1]))

    wanted = quad(speed, abs(small), np.inf)[0]
    if sign < 0:
        wanted += 2 * quad(speed, 0, abs(small))[0]
    found = closed.escape_time(*(np.array([each]) for each in start))[0]
    assert found == pytest.approx(wanted, rel=1e-6)


def test_drops_of_balanced_heads_come_at_the_eigenvalue_to_minus_two_and_as_in_the_flow():
    along = 0.02 * np.eye(4)
    found = closed.separate_drops(np.full(4, 0.02), along, along, EIGENVALUES, PAIRS)
    levels = closed.levels(EIGENVALUES, PAIRS)
    times = np.linspace(0, 1.3 * found[-1], 4001)
    states = solve(flows.separate, regression(), flows.Separate(np.full((1, 4), 0.02), along[None], along[None]), times)
    loss = losses(regression(), states, flows.Separate)
    for drop, time in enumerate(found):
        half = (levels[drop] + levels[drop + 1]) / 2
        assert times[np.argmax(loss <= half)] == pytest.approx(time, rel=6e-3), "the grid is that coarse"
    power = np.polyfit(np.log(EIGENVALUES), np.log(found), 1)[0]
    assert power == pytest.approx(-2, abs=0.05)


def test_a_sum_instead_of_a_mean_runs_faster_and_stops_smaller():
    """gain g: separate heads in a time g^(2/3) times as fast from starts g^(1/3) times as large."""
    rng = np.random.default_rng(3)
    parts = rng.normal(size=4) * 0.01, rng.normal(size=(4, 4)) * 0.01, rng.normal(size=(4, 4)) * 0.01
    root = 31 ** (1 / 3)
    plain = closed.separate_drops(*(root * each for each in parts), EIGENVALUES, PAIRS)
    summed = closed.separate_drops(*parts, EIGENVALUES, PAIRS, gain=31)
    np.testing.assert_allclose(summed * root**2, plain)
