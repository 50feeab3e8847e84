"""A line through cells: one more run falls inside its interval as often as promised, near by and far away."""

from itertools import pairwise

import numpy as np
import pytest

from headway.analysis.calibration import calibrate

DESIGN = np.array([[1.0, x, z] for x in (0.0, 1.0, 2.0) for z in (0.0, 1.0, 2.0, 3.0)])
LINE = np.array([1.0, 0.8, -0.5])


def drawn(rng: np.random.Generator, design: np.ndarray, seeds: int, miss: float, noise: float) -> np.ndarray:
    """What a line gives that every cell misses by `miss` and every seed by `noise`: (cell, seed)."""
    cell = rng.normal(0, miss, (len(design), 1))
    return (design @ LINE)[:, None] + cell + rng.normal(0, noise, (len(design), seeds))


@pytest.mark.parametrize("miss, noise", [(0.0, 0.1), (0.1, 0.0), (0.1, 0.1)])
@pytest.mark.parametrize("row", [[1.0, 1.0, 1.5], [1.0, 5.0, -3.0]], ids=["inside", "far outside"])
def test_one_more_run_is_inside_as_often_as_promised(miss, noise, row):
    rng, row, inside = np.random.default_rng(0), np.array(row), []
    for _ in range(600):
        law = calibrate(DESIGN, drawn(rng, DESIGN, 4, miss, noise))
        assert law is not None
        _, low, high = law.interval(row)
        inside.append(low <= drawn(rng, row[None], 1, miss, noise)[0, 0] <= high)
    # Four standard errors; the noise alone is covered a little more often, as its degrees of freedom are not counted.
    assert abs(np.mean(inside) - 0.95) <= 0.036


def bent(rng: np.random.Generator, design: np.ndarray, by: np.ndarray) -> np.ndarray:
    """The same line with squares and a product, by other factors each time."""
    x, z = design[:, 1] - 1, design[:, 2] - 1.5
    return drawn(rng, design, 4, 0.03, 0.03) + (by[0] * x**2 + by[1] * z**2 + by[2] * x * z)[:, None]


@pytest.mark.parametrize("row", [[1.0, 1.0, 1.5], [1.0, 6.0, 8.0]], ids=["inside", "far outside"])
def test_a_law_that_is_not_straight_is_still_inside_where_it_is_known_that_it_may_bend(row):
    """Far outside a line misses by what it bends; an interval that counts on a straight one holds next to nothing."""
    rng, row, straight, bending = np.random.default_rng(5), np.array(row), [], []
    for _ in range(300):
        by = rng.normal(0, 0.05, 3)
        logs, new = bent(rng, DESIGN, by), bent(rng, row[None], by)[0, 0]
        for law, inside in ((calibrate(DESIGN, logs), straight), (calibrate(DESIGN, logs, bends=True), bending)):
            _, low, high = law.interval(row)
            inside.append(low <= new <= high)
    assert np.mean(bending) >= 0.9
    assert row[1] < 2 or np.mean(straight) < 0.75


def test_two_values_of_a_factor_show_no_bend():
    design = np.array([[1.0, x] for x in (0.0, 1.0)] * 3)
    law = calibrate(design, np.random.default_rng(6).normal(size=(6, 3)), bends=True)
    assert law is not None and law.bends is not None and law.bends.size == 0


def test_more_seeds_do_not_make_up_for_what_cells_miss():
    logs = drawn(np.random.default_rng(1), DESIGN, 1, 0.1, 0.0)
    one, many = calibrate(DESIGN, logs), calibrate(DESIGN, np.repeat(logs, 50, axis=1))
    assert one is not None and many is not None
    assert many.interval(DESIGN[0]) == pytest.approx(one.interval(DESIGN[0]))


def test_the_interval_widens_with_the_distance_from_the_cells():
    law = calibrate(DESIGN, drawn(np.random.default_rng(2), DESIGN, 3, 0.1, 0.1))
    assert law is not None
    widths = [high - low for _, low, high in (law.interval(np.array([1.0, x, 1.5])) for x in (1.0, 2.0, 4.0, 8.0))]
    assert all(a < b for a, b in pairwise(widths))
    assert law.furthest == pytest.approx(max(map(law.leverage, DESIGN)))


def test_seeds_without_a_value_are_left_out():
    logs = drawn(np.random.default_rng(3), DESIGN, 3, 0.0, 0.0)
    logs[0, 1:] = np.nan
    logs[5] = np.nan
    law = calibrate(DESIGN, logs)
    assert law is not None and law.degrees == len(DESIGN) - 1 - 3
    assert law.coefficients == pytest.approx(LINE)


@pytest.mark.parametrize("rows", [slice(0, 3), slice(0, 4)], ids=["as many as numbers", "one factor does not change"])
def test_cells_that_do_not_tell_are_no_law(rows):
    assert calibrate(DESIGN[rows], drawn(np.random.default_rng(4), DESIGN[rows], 3, 0.1, 0.1)) is None
