"""Competition, cooperation, and who took which block."""

import numpy as np
import pytest

from headway.analysis import Owner, competition, cooperation, held_since, owners, rises_then_falls

ONE_EACH = np.eye(3)
ALL_ON_FIRST = np.tile([1.0, 0.0, 0.0], (3, 1))


def test_heads_on_one_block_compete_and_heads_on_their_own_cooperate():
    assert competition(ALL_ON_FIRST) == pytest.approx(1)
    assert competition(ONE_EACH) == pytest.approx(0)
    assert cooperation(ALL_ON_FIRST) == pytest.approx(1 / 3)
    assert cooperation(ONE_EACH) == pytest.approx(1)


def test_competition_is_the_chance_that_two_heads_pick_the_same_block():
    """Two of three pairs share the first block with chance 0.8 x 0.5; the draws agree."""
    mass = np.array([[0.8, 0.1], [0.5, 0.3], [0.0, 0.0]])
    assert competition(mass) == pytest.approx((0.8 * 0.5 + 0.1 * 0.3) / 3)
    rng = np.random.default_rng(0)
    first = rng.choice(3, p=[0.8, 0.1, 0.1], size=100_000)
    second = rng.choice(3, p=[0.5, 0.3, 0.2], size=100_000)
    met = np.mean((first == second) & (first < 2))
    assert competition(mass[:2]) == pytest.approx(met, abs=0.01)


def test_the_indices_work_along_any_leading_axes():
    stack = np.stack([ALL_ON_FIRST, ONE_EACH])[None]
    np.testing.assert_allclose(competition(stack), [[1, 0]])
    np.testing.assert_allclose(cooperation(stack), [[1 / 3, 1]])


def test_one_head_has_nobody_to_compete_with():
    assert np.isnan(competition(np.ones((5, 1, 3)))).all()
    np.testing.assert_allclose(cooperation(np.array([[1.0, 0.0]])), 0.5)


def test_overlapping_blocks_can_push_competition_above_one():
    """Two heads on a lag that belongs to both blocks meet in both."""
    assert competition(np.ones((2, 2))) == pytest.approx(2)


TIMES = np.array([0.0, 10.0, 20.0, 30.0, 40.0])


def test_a_block_is_taken_when_a_head_keeps_it_to_the_end():
    """Head 0 touches block 0 early but loses it, and takes it at 20; head 1 takes block 1 at the end."""
    mass = np.zeros((5, 2, 3))
    mass[:, 0, 0] = [0.6, 0.2, 0.5, 0.7, 0.9]
    mass[:, 1, 1] = [0.0, 0.9, 0.9, 0.4, 0.8]
    np.testing.assert_array_equal(held_since(mass, TIMES), [[20, np.nan, np.nan], [np.nan, 40, np.nan]])
    assert owners(mass, TIMES) == (Owner(head=0, time=20.0), Owner(head=1, time=40.0), None)
    assert owners(mass, TIMES, threshold=0.85) == (Owner(head=0, time=40.0), None, None)


def test_a_shared_block_belongs_to_the_first_taker_then_to_the_stronger_one():
    mass = np.zeros((5, 3, 1))
    mass[:, 0, 0] = [0, 0, 0.9, 0.9, 0.9]
    mass[:, 1, 0] = [0, 0.6, 0.6, 0.6, 0.6]
    mass[:, 2, 0] = [0, 0.6, 0.6, 0.6, 0.7]
    assert owners(mass, TIMES) == (Owner(head=2, time=10.0),)


def test_a_block_held_from_the_start_is_held_since_the_first_time():
    assert owners(np.ones((5, 1, 1)), TIMES) == (Owner(head=0, time=0.0),)


def test_a_missing_mass_ends_a_hold():
    mass = np.ones((5, 1, 1))
    mass[2] = np.nan
    assert held_since(mass, TIMES) == 30.0
    mass[-1] = np.nan
    assert owners(mass, TIMES) == (None,)


def test_several_layers_at_once_are_refused_with_a_remedy():
    with pytest.raises(ValueError, match="one layer at a time"):
        owners(np.ones((5, 2, 3, 3)), TIMES)


def test_a_hump_rises_and_falls_by_more_than_the_margin():
    found = rises_then_falls(TIMES, np.array([0.1, 0.5, 0.9, 0.4, 0.2]))
    assert found
    assert (found.first, found.peak, found.last, found.peak_time) == (0.1, 0.9, 0.2, 20.0)
    assert not rises_then_falls(TIMES, np.array([0.1, 0.5, 0.9, 0.4, 0.2]), margin=0.75)


@pytest.mark.parametrize(
    ("values", "rises", "falls"),
    [
        ([0.1, 0.2, 0.5, 0.8, 0.9], True, False),
        ([0.9, 0.8, 0.5, 0.2, 0.1], False, True),
        ([0.5] * 5, False, False),
    ],
)
def test_a_curve_that_only_rises_or_only_falls_or_stays_is_no_hump(values, rises, falls):
    found = rises_then_falls(TIMES, np.array(values))
    assert (found.rises, found.falls, bool(found)) == (rises, falls, False)


def test_missing_values_of_a_hump_are_left_out():
    assert rises_then_falls(TIMES, np.array([np.nan, 0.1, 0.9, 0.1, np.nan]))
    assert not rises_then_falls(TIMES, np.full(5, np.nan))
