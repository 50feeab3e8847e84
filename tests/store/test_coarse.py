"""Fewer bits for shares: how near they stay, and what a share that is none becomes."""

import numpy as np
import pytest

from headway.store.coarse import narrow, widen


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_steps_are_a_byte_each_and_err_by_half_a_step_at_most(dtype):
    shares = np.linspace(0, 1, 1001).astype(dtype)
    small, how = narrow(shares, "steps")
    assert small.dtype == np.uint8
    back = widen(small, how)
    assert back.dtype == dtype
    assert np.abs(back - shares).max() <= 0.5 / 254 + 1e-7


def test_nothing_and_all_are_kept_exactly():
    small, how = narrow(np.array([0.0, 1.0]), "steps")
    np.testing.assert_array_equal(widen(small, how), [0.0, 1.0])


@pytest.mark.parametrize("broken", [np.nan, np.inf])
@pytest.mark.parametrize("to", ["steps", "float16"])
def test_a_share_of_a_diverged_seed_stays_no_number(broken, to):
    small, how = narrow(np.array([0.5, broken], np.float32), to)
    np.testing.assert_array_equal(np.isfinite(widen(small, how)), [True, False])


@pytest.mark.parametrize("to", ["steps", "float16"])
def test_doing_it_again_changes_nothing(to):
    shares = np.random.default_rng(0).random(100).astype(np.float32)
    small, how = narrow(shares, to)
    again, _ = narrow(widen(small, how), to)
    np.testing.assert_array_equal(again, small)
