"""Attention by lag and by block, on matrices small enough to read."""

import numpy as np
import pytest

from headway.analysis import by_lag, distance_from_uniform, mass_per_block, uniform_by_lag

START, HORIZON = 3, 4
KEYS = START + HORIZON - 1


def causal(rng: np.random.Generator, *leading: int) -> np.ndarray:
    """Random attention of the predicted positions, zero on the future, rows summing to 1."""
    attention = rng.uniform(size=(*leading, HORIZON, KEYS))
    attention *= np.arange(KEYS)[None, :] <= START - 1 + np.arange(HORIZON)[:, None]
    return attention / attention.sum(axis=-1, keepdims=True)


def test_a_matrix_read_by_hand():
    """start 2, T = 3: the lags of key 0 are 2, 3, 4, so lag 2 takes from (0, 0), (1, 1) and (2, 2)."""
    attention = np.array([[0.25, 0.75, 0, 0], [0.5, 0.25, 0.25, 0], [0.125, 0.25, 0.5, 0.125]])
    wanted = np.array([0.75 + 0.25 + 0.125, 0.25 + 0.25 + 0.5, 0.5 + 0.25, 0.125]) / 3
    np.testing.assert_allclose(by_lag(attention, start=2), wanted)


def test_by_lag_follows_the_definition_entry_by_entry():
    attention = causal(np.random.default_rng(0), 2, 3)
    wanted = np.zeros((2, 3, KEYS))
    for q in range(HORIZON):
        for key in range(START + q):
            wanted[..., START + q - key - 1] += attention[..., q, key] / HORIZON
    np.testing.assert_allclose(by_lag(attention, START), wanted)
    np.testing.assert_allclose(by_lag(attention, START).sum(axis=-1), 1)


def test_a_head_that_copies_one_lag_has_all_its_mass_there():
    attention = np.eye(HORIZON, KEYS, k=START - 2)
    np.testing.assert_array_equal(by_lag(attention, START), np.eye(KEYS)[1])


def test_uniform_attention_by_lag_is_what_a_uniform_matrix_gives():
    mask = np.arange(KEYS)[None, :] <= START - 1 + np.arange(HORIZON)[:, None]
    uniform = mask / mask.sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(uniform_by_lag(START, HORIZON), by_lag(uniform, START))
    assert distance_from_uniform(by_lag(uniform, START), START, HORIZON) == pytest.approx(0)


def test_the_distance_from_uniform_is_the_mass_that_would_have_to_move():
    uniform = uniform_by_lag(START, HORIZON)
    moved = uniform.copy()
    moved[0] += 0.1
    moved[2] -= 0.1
    only_first = np.eye(KEYS)[0]
    found = distance_from_uniform(np.stack([moved, only_first]), START, HORIZON)
    np.testing.assert_allclose(found, [0.1, 1 - uniform[0]])


def test_masses_sum_over_the_lags_of_each_block_in_the_order_of_the_blocks():
    attention = np.array([[0.1, 0.2, 0.3, 0.4, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0, 0.25, 0.25]])
    np.testing.assert_allclose(mass_per_block(attention, ((3, 4), (1,))), [[0.7, 0.1], [0.0, 0.0]])


def test_a_lag_of_two_overlapping_blocks_counts_in_both():
    attention = np.array([[0.1, 0.2, 0.3, 0.4, 0.0, 0.0]])
    np.testing.assert_allclose(mass_per_block(attention, ((1, 2, 3), (3, 4))), [[0.6, 0.7]])


def test_what_does_not_fit_says_what_to_do():
    with pytest.raises(ValueError, match="3 queries has 4 keys"):
        by_lag(np.zeros((3, 5)), start=2)
    with pytest.raises(ValueError, match="lags 1 to 6"):
        mass_per_block(np.zeros((2, 6)), ((1, 2), (0,)))
    with pytest.raises(ValueError, match="have 6"):
        distance_from_uniform(np.zeros(5), START, HORIZON)
