"""The next head in its plane: closed forms, what no orbit changes, and where orbits end."""

import jax
import numpy as np
import pytest
from tests.report.made_portrait import closed_form

from headway.laboratory.portrait import field_at, on_plane, portrait, problem_of, starts_of, to_plane, window
from headway.records import Cell, Trajectory
from headway.settings import PortraitSettings, SettingsError
from headway.theory import State, next_head
from headway.theory.two_scale import lyapunov

TWICE = PortraitSettings(columns=4, rows=2, points=12, last=300.0)
ONCE = PortraitSettings(projections=1, columns=4, rows=2, points=12, last=300.0)
M = 1.7


@pytest.fixture(scope="module", params=[TWICE, ONCE], ids=["Pi twice", "Pi once"])
def case(request) -> tuple[PortraitSettings, Trajectory]:
    return request.param, portrait(Cell(request.param, (0, 3)))


@pytest.mark.parametrize("known", [1, 2])
@pytest.mark.parametrize("settings", [TWICE, ONCE], ids=["Pi twice", "Pi once"])
def test_the_flow_of_the_next_head_never_leaves_the_plane(settings, known):
    problem = problem_of(settings)
    points = np.random.default_rng(1).uniform([-2, 0], [4, 1], (20, 2))
    with jax.enable_x64(True):
        state = on_plane(problem, known, points)
        moved = jax.vmap(lambda V, s: next_head(known)(problem, State(V, s)))(*state)
    beside = [k for k in range(3) if k != known]
    np.testing.assert_allclose(np.asarray(moved.values)[:, beside], 0, atol=1e-14)
    others = [k for k in beside if k != 0]
    np.testing.assert_allclose(np.asarray(moved.attention)[:, others], 0, atol=1e-14)
    np.testing.assert_allclose(np.asarray(moved.attention).sum(axis=-1), 0, atol=1e-14)
    strength = settings.ratio ** (2 - known)
    np.testing.assert_allclose(to_plane(moved, known), closed_form(points, strength, settings.projections), atol=1e-12)


def test_what_is_kept_of_the_field_is_the_closed_form(case):
    settings, found = case
    places, field = found.facts["places"][0], found.facts["field"][0]
    np.testing.assert_allclose(field, closed_form(places.astype(float), M, settings.projections), atol=1e-5)


def test_nothing_moves_on_the_curve_and_phi_is_zero_on_the_border(case):
    settings, found = case
    problem = problem_of(settings)
    rest, border = (found.facts[name][0].astype(float) for name in ("rest", "border"))
    np.testing.assert_allclose(field_at(problem, 1, rest), 0, atol=1e-5)
    with jax.enable_x64(True):
        phi = [float(lyapunov(1, problem, State(*(part[0] for part in on_plane(problem, 1, p[None]))))) for p in border]
    np.testing.assert_allclose(phi, 0, atol=1e-5)


def test_no_orbit_changes_the_conserved_quantity(case):
    settings, found = case
    x, y = np.moveaxis(found["orbits"].astype(float), -1, 0)
    if settings.projections == 2:
        kept = x**2 - np.log(y / (1 - y)) - 1 / (1 - y)
    else:
        kept = x**2 + 2 * np.log(1 - y)
    np.testing.assert_allclose(kept, kept[:, :1] * np.ones_like(kept), rtol=2e-4, atol=2e-4)


def test_orbits_end_on_the_curve_but_for_those_that_one_projection_loses(case):
    """With Pi once, from left of the curve and below it y falls to 0 and the head never learns."""
    settings, found = case
    start, end = found["orbits"][:, 0], found["orbits"][:, -1]
    doomed = (start[..., 0] < 0) & (start[..., 1] < 1 - np.exp(-(start[..., 0] ** 2) / 2))
    assert doomed.any() and not doomed.all()
    lost = doomed if settings.projections == 1 else np.zeros_like(doomed)
    np.testing.assert_allclose(end[..., 0][~lost] * end[..., 1][~lost], M, rtol=1e-3)
    np.testing.assert_allclose(end[..., 1][lost], 0, atol=1e-5)
    assert ("lost" in found.facts) == (settings.projections == 1)


def test_starts_fill_the_picture_and_a_seed_does_not_depend_on_its_neighbours(case):
    settings, found = case
    left, right = window(settings)
    start = found["orbits"][:, 0]
    assert (start[..., 0] >= left).all() and (start[..., 0] <= right).all()
    column = np.floor((start[..., 0] - left) / (right - left) * settings.columns)
    np.testing.assert_array_equal(np.sort(column), np.repeat(np.arange(4.0), 2) * np.ones((2, 1)))
    np.testing.assert_allclose(start[1], starts_of(settings, 3), rtol=1e-6)
    assert not np.allclose(start[0], start[1])


def test_a_head_after_the_last_feature_is_refused():
    with pytest.raises(SettingsError, match=r"3 of 3 features are known.*Use known < 3"):
        PortraitSettings(known=3)
