"""Plateaus of made staircases, whose steps are known."""

import numpy as np
import pytest

from headway.analysis import stages_after_settling, stages_from_loss
from headway.analysis.staircases import (
    accuracy,
    escape,
    evaluation_times,
    made_staircase,
    random_staircase,
    relaxation,
    sigmoid,
    smooth_decays,
)

PAPER = {"drops": (2.4, 0.53, 0.25), "at": (12.0, 330.0, 575.0), "floor": 0.09}
"""Drops and boundaries of the size and at the times that paper A shows for a small initialisation."""


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("shape", [sigmoid, escape, relaxation])
def test_three_drops_are_three_stages_with_two_boundaries_half_way_down(rng, shape):
    made = made_staircase(rng, **PAPER, blur=0.05, noise=0.003, shape=shape)
    found = stages_from_loss(made.times, made.loss)
    assert found.rungs == (1, 2, 3)
    assert found.reached == 3
    np.testing.assert_allclose(found.boundaries, made.boundaries, rtol=0.03)
    np.testing.assert_allclose(found.levels, made.levels, atol=0.03)
    assert found.start == pytest.approx(12, rel=0.05)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.5])
@pytest.mark.parametrize("shape", [sigmoid, escape, relaxation])
def test_two_to_six_drops_of_unequal_size_are_as_many_stages(rng, count, ratio, shape):
    """With a ratio of 2.5 the last of six is 0.6 % of the whole descent."""
    drops, at = ratio ** -np.arange(count), np.geomspace(4, 1000, count)
    made = made_staircase(rng, drops=tuple(drops), at=tuple(at), blur=0.05, noise=0.01 * drops[-1], shape=shape)
    found = stages_from_loss(made.times, made.loss)
    assert found.count == count
    np.testing.assert_allclose(found.boundaries, made.boundaries, rtol=0.05)


def test_a_plateau_is_left_when_a_tenth_of_the_next_drop_is_done(rng):
    """A sigmoid of width b in log-time is at a tenth b log(9) before its middle."""
    made = made_staircase(rng, drops=(2.0, 0.5), at=(10.0, 300.0), blur=0.1)
    found = stages_from_loss(made.times, made.loss)
    assert found.leavings == pytest.approx([300 * 9**-0.1], rel=0.01)
    quarter = stages_from_loss(made.times, made.loss, leaving=0.25)
    assert quarter.leavings == pytest.approx([300 * 3**-0.1], rel=0.01)


def test_a_curve_that_falls_once_has_one_stage_and_no_boundary(rng):
    made = made_staircase(rng, drops=(2.4,), at=(12.0,), noise=0.01, floor=0.87)
    found = stages_from_loss(made.times, made.loss)
    assert (found.count, found.boundaries) == (1, ())
    assert found.levels == pytest.approx([0.87], abs=0.02)


def test_curves_without_a_second_stage_get_none(rng):
    """Flat, rising, exponential, power law, logarithm: no boundary, and no stage where nothing falls."""
    for noise in (0.0, 0.003, 0.03, 0.3):
        for _ in range(5):
            for name, curve in smooth_decays(rng, noise).items():
                found = stages_from_loss(evaluation_times(), curve)
                assert found.boundaries == (), (name, noise)
                assert found.count == 0 or name not in ("flat", "rising"), (name, noise)


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.05])
@pytest.mark.parametrize("blur", [0.02, 0.05, 0.1])
def test_random_staircases_are_counted_right_where_noise_and_blur_are_moderate(noise, blur):
    """Noise in units of the smallest drop, blur of the smallest gap: see the table in docs/measures.md."""
    share, error = accuracy(noise, blur, curves=20)
    assert share >= 0.95
    assert error < 0.02


def test_what_cannot_be_seen_is_missed_and_not_invented():
    """Under heavy noise and blur the detector finds fewer stages than there are, and never more."""
    rng = np.random.default_rng(3)
    for noise, blur in ((0.2, 0.1), (0.1, 0.2), (0.4, 0.05)):
        for _ in range(15):
            made = random_staircase(rng, noise=noise, blur=blur)
            assert stages_from_loss(made.times, made.loss).count <= made.count


@pytest.mark.parametrize(
    "trouble",
    [{"drift": 0.1}, {"overfitting": 0.05}, {"overfitting": 1.0}, {"drift": 0.1, "overfitting": 0.05}],
)
def test_slow_drift_and_overfitting_add_no_stage(rng, trouble):
    for _ in range(10):
        made = random_staircase(rng, noise=0.03, blur=0.08, **trouble)
        found = stages_from_loss(made.times, made.loss)
        assert found.count == made.count
        np.testing.assert_allclose(found.boundaries, made.boundaries, rtol=0.15)


def test_values_at_every_step_and_at_few_steps_give_the_same_boundaries(rng):
    for times in (np.arange(1.0, 2001.0), evaluation_times(points=60)):
        made = made_staircase(rng, **PAPER, noise=0.01, times=times)
        found = stages_from_loss(made.times, made.loss)
        assert found.count == 3
        np.testing.assert_allclose(found.boundaries, made.boundaries, rtol=0.05)


def test_a_noise_that_is_known_helps_where_values_are_few(rng):
    made = made_staircase(rng, drops=(2.4, 0.5), at=(12.0, 330.0), blur=0.3, times=evaluation_times(points=20))
    assert stages_from_loss(made.times, made.loss).count == 1
    assert stages_from_loss(made.times, made.loss, noise=1e-4).count == 2


def test_units_of_time_and_of_loss_do_not_matter(rng):
    made = made_staircase(rng, **PAPER, noise=0.003)
    plain = stages_from_loss(made.times, made.loss)
    scaled = stages_from_loss(made.times / 1000, made.loss * 50 - 7)
    np.testing.assert_allclose(np.array(scaled.boundaries) * 1000, plain.boundaries)
    np.testing.assert_allclose(np.array(scaled.levels), np.array(plain.levels) * 50 - 7)


def test_a_missing_tail_an_explosion_and_spikes_leave_the_stages_before_them_alone(rng):
    made = made_staircase(rng, **PAPER, noise=0.003)
    plain = stages_from_loss(made.times, made.loss)
    loss = made.loss.copy()
    loss[[30, 50, 77]] += 1.0
    loss[-12:-6] = 10.0 ** np.arange(6)
    loss[-6:] = np.nan
    found = stages_from_loss(made.times, loss)
    assert found.count == 3
    np.testing.assert_allclose(found.boundaries, plain.boundaries, rtol=0.02)


def test_one_low_value_is_no_drop(rng):
    """Four times the noise is no wonder among a hundred values, though nothing later is as low."""
    loss = 1 + 0.01 * rng.normal(size=len(evaluation_times()))
    loss[60] = 0.96
    assert stages_from_loss(evaluation_times(), loss).count == 0


def test_a_drop_that_the_record_cuts_off_is_unfinished_and_no_stage(rng):
    made = made_staircase(rng, drops=(2.4, 0.5), at=(12.0, 1900.0), blur=0.1, noise=0.001)
    found = stages_from_loss(made.times, made.loss)
    assert (found.count, found.unfinished) == (1, True)


def test_the_smallest_drop_that_counts_is_a_share_of_the_descent(rng):
    made = made_staircase(rng, drops=(2.0, 0.03), at=(10.0, 300.0))
    assert stages_from_loss(made.times, made.loss).count == 1
    assert stages_from_loss(made.times, made.loss, smallest_drop=0.01).count == 2


def test_flatness_decides_about_drops_that_almost_merge(rng):
    """At a blur of 0.15 gaps two equal sigmoids leave about a quarter of their peak rate between them."""
    made = made_staircase(rng, drops=(1.0, 1.0), at=(300.0, 500.0), blur=0.15 * np.log(5 / 3))
    assert stages_from_loss(made.times, made.loss, flatness=0.35).count == 2
    assert stages_from_loss(made.times, made.loss, flatness=0.15).count == 1


def test_a_fast_and_a_slow_exponential_do_not_wait_and_are_one_stage():
    """It waits for 0.1 slow times and then falls for 2.2 of them: a plateau in log-time only."""
    times = evaluation_times()
    loss = np.exp(-times / 2) + np.exp(-times / 400)
    assert stages_from_loss(times, loss).count == 1
    assert stages_from_loss(times, loss, shortest_wait=0.0).count == 2


@pytest.mark.parametrize("points", range(6))
def test_a_handful_of_values_does_not_crash_and_shows_no_boundary(points):
    times = np.geomspace(1, 2000, points) if points else np.zeros(0)
    assert stages_from_loss(times, np.linspace(3, 1, points)).boundaries == ()
    assert stages_from_loss(times, np.full(points, np.nan)).count == 0


def test_whatever_the_curve_is_the_stages_are_consistent(rng):
    """Random walks, coarse levels, heavy tails, holes, extreme units: n - 1 boundaries, in order, each left first."""
    for _ in range(30):
        times = np.unique(rng.integers(0, rng.integers(2, 3000), rng.integers(1, 80))).astype(float)
        n = len(times)
        walk, levels, tails = rng.normal(size=n).cumsum(), rng.integers(0, 3, n), rng.standard_cauchy(n)
        holes = np.where(rng.random(n) < 0.3, np.nan, rng.exponential(size=n))
        for loss in (walk, levels.astype(float), -np.abs(tails).cumsum() * 1e-20, holes * 1e15, np.zeros(n)):
            found = stages_from_loss(times, loss)
            assert len(found.boundaries) == len(found.leavings) == max(found.count - 1, 0)
            assert len(found.levels) == found.count
            assert np.all(np.diff(found.boundaries) > 0)
            assert np.all(np.array(found.leavings) <= np.array(found.boundaries))
            assert np.all(np.diff(found.levels) < 0)


def test_change_points_alone_cut_a_smooth_decay_into_levels_and_this_detector_does_not(rng):
    """Why no change-point search: with the usual penalty it needs many levels for one exponential."""
    import ruptures  # late: it takes two seconds

    times = evaluation_times()
    loss = 3 * np.exp(-times / 100) + 0.01 * rng.normal(size=len(times))
    search = ruptures.Pelt(model="l2", min_size=2, jump=1).fit(loss)
    levels = len(search.predict(pen=3 * np.log(len(loss)) * 0.01**2))
    assert levels > 5
    assert stages_from_loss(times, loss).count == 1


@pytest.mark.parametrize(
    ("times", "loss", "words"),
    [
        (np.arange(3.0), np.zeros((2, 3)), "one seed at a time"),
        (np.arange(3.0), np.zeros((3, 2)), "one seed at a time"),
        (np.array([0.0, 2.0, 1.0]), np.zeros(3), "increase strictly"),
        (np.array([-1.0, 2.0, 3.0]), np.zeros(3), "0 or more"),
    ],
)
def test_arrays_that_do_not_fit_say_what_to_do(times, loss, words):
    with pytest.raises(ValueError, match=words):
        stages_from_loss(times, loss)


def settling_start(noise: float = 0.01) -> tuple[np.ndarray, np.ndarray]:
    """A random start that costs 50, a plateau a little above 0.5, and one drop at step 1500."""
    times = 50.0 * np.arange(41)
    wobble = noise * np.random.default_rng(0).normal(size=len(times))
    loss = 0.04 + 0.5 / (1 + np.exp((times - 1500) / 60)) + wobble
    loss[0] = 50.0
    return times, loss


def test_what_a_random_start_loses_until_it_costs_no_more_than_silence_is_no_stage():
    times, loss = settling_start()
    assert stages_from_loss(times, loss).start < 50  # the start hides everything else
    found = stages_after_settling(times, loss, 0.5)
    assert found.count == 1 and found.start == pytest.approx(1500, rel=0.03) and not found.unfinished


def test_a_loss_that_never_comes_below_silence_has_no_stage_and_one_that_starts_there_its_usual_ones():
    times, loss = settling_start()
    assert stages_after_settling(times, loss, 0.01).count == 0
    for level in (50.0, np.inf):
        assert stages_after_settling(times, loss, level) == stages_from_loss(times, loss)
