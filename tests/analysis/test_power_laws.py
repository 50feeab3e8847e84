"""Power laws of several factors, seed by seed, and what is censored."""

import numpy as np
import pytest

from headway.analysis.power_laws import fit_power_laws

FACTORS = np.array([[d, t] for d in (2.0, 4.0, 8.0) for t in (10.0, 30.0, 90.0, 200.0)])
EXACT = np.stack([c * FACTORS[:, 0] ** a * FACTORS[:, 1] ** b for c, a, b in ((1.5, 0.5, 1.0), (2.0, -0.3, 0.8))])


def test_an_exact_law_is_found_seed_by_seed():
    law = fit_power_laws(FACTORS, EXACT)
    assert law.constants == pytest.approx([1.5, 2.0])
    assert law.exponents == pytest.approx(np.array([[0.5, 1.0], [-0.3, 0.8]]))
    assert law.errors == pytest.approx([0, 0], abs=1e-12)
    assert law.predict(FACTORS) == pytest.approx(EXACT)
    assert law.in_words("dT") == "1.75 d^0.10 T^0.90", "medians of two seeds"


def test_noise_is_what_least_squares_on_logarithms_leaves():
    draws = np.random.default_rng(0).normal(0, 0.1, (200, len(FACTORS)))
    law = fit_power_laws(FACTORS, EXACT[0] * np.exp(draws))
    assert law.exponents.mean(axis=0) == pytest.approx([0.5, 1.0], abs=0.01)
    free = (len(FACTORS) - 3) / len(FACTORS)
    assert np.mean(law.errors**2) == pytest.approx(0.01 * free, rel=0.1)


def test_runs_that_never_ended_are_left_out_and_counted():
    values = EXACT.copy()
    values[0, [1, 5]] = np.inf
    values[1, 2] = np.nan
    law = fit_power_laws(FACTORS, values)
    assert law.censored.tolist() == [2, 1]
    assert law.constants == pytest.approx([1.5, 2.0])


def test_what_is_left_must_determine_the_law():
    values = EXACT.copy()
    values[0, FACTORS[:, 0] > 2] = np.inf
    law = fit_power_laws(FACTORS, values)
    assert np.isnan(law.constants[0]) and np.isnan(law.exponents[0]).all()
    assert law.constants[1] == pytest.approx(2.0)
    assert fit_power_laws(FACTORS, np.full_like(EXACT, np.inf)).in_words("dT") == ""


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"Give \(point, factor\) and \(seed, point\)"):
        fit_power_laws(FACTORS[:, 0], EXACT)
