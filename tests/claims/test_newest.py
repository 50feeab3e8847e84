"""A5: the newest position gets less attention than its block mates."""

from dataclasses import replace

import numpy as np
import pytest
from tests.claims.made import TIMES, made_settings, made_trajectory

from headway.claims.attention_patterns import newest_is_spared
from headway.experiments.attention import A5

BLOCKS = ((1, 2, 3, 4), (5, 6, 7, 8), (9, 10, 11, 12))
SETTINGS = made_settings(blocks=BLOCKS)


def at_the_end(*profile: float) -> np.ndarray:
    """Every head has this attention to lags 1, 2, .. at the last evaluation, and all on lag 1 before."""
    by_lag = np.zeros((len(TIMES), 3, SETTINGS.task.length))
    by_lag[:, :, 0] = 1
    by_lag[-1, :, 0] = 0
    by_lag[-1, :, : len(profile)] = profile
    return by_lag


def test_the_measure_is_attention_to_lag_1_relative_to_its_mates_when_training_ends():
    trajectory = made_trajectory(attention=[at_the_end(0.1, 0.1, 0.2, 0.3), at_the_end(0.4, 0.2, 0.2, 0.2)])
    found = newest_is_spared(A5, (SETTINGS, trajectory))
    assert found.values == pytest.approx((0.5, 2.0))
    assert found.holds == (True, False)


def test_equal_attention_is_not_less():
    trajectory = made_trajectory(attention=[at_the_end(0.2, 0.2, 0.2, 0.2)])
    assert newest_is_spared(A5, (SETTINGS, trajectory)).verdict == "fails"


def test_the_heads_are_looked_at_together():
    """One head on lag 1 alone, two on its mates: the sum counts."""
    by_lag = at_the_end(0, 1 / 3, 1 / 3, 1 / 3)
    by_lag[-1, 0, :4] = (1, 0, 0, 0)
    found = newest_is_spared(A5, (SETTINGS, made_trajectory(attention=[by_lag])))
    assert found.values == pytest.approx((1 / (2 / 3),))


def test_the_newest_lag_is_found_in_whichever_block_it_lies():
    reversed_blocks = made_settings(blocks=((9, 10, 11, 12), (5, 6, 7, 8), (1, 2, 3, 4)))
    trajectory = made_trajectory(attention=[at_the_end(0.1, 0.3, 0.3, 0.3)])
    assert newest_is_spared(A5, (reversed_blocks, trajectory)).values == pytest.approx((1 / 3,))


def test_without_block_mates_there_is_nothing_to_compare_with():
    found = newest_is_spared(A5, (made_settings(blocks=((1,), (2, 3))), made_trajectory(attention=[at_the_end(1)])))
    assert (found.verdict, found.detail) == ("not run", "Lag 1 is the only lag of its block in this chain.")


@pytest.mark.parametrize("newest, verdict", [(0.0, "cannot be judged"), (1.0, "fails")])
def test_mates_that_nobody_looks_at_are_not_favoured(newest, verdict):
    """Where nobody looks at the newest lag either, there is no ratio."""
    assert newest_is_spared(A5, (SETTINGS, made_trajectory(attention=[at_the_end(newest)]))).verdict == verdict


def test_a_model_without_a_residual_path_stands_beside_it_and_changes_no_verdict():
    spared = made_trajectory(attention=[at_the_end(0.1, 0.2, 0.2, 0.2)])
    control = made_trajectory(attention=[at_the_end(0.3, 0.4, 0.4, 0.4), at_the_end(0.5, 0.4, 0.4, 0.4)])
    alone = newest_is_spared(A5, (SETTINGS, spared))
    beside = newest_is_spared(A5, (SETTINGS, spared), without_residual=(SETTINGS, control))
    assert (beside.holds, beside.values) == (alone.holds, alone.values)
    assert alone.detail == ""
    assert "the ratio is 1.00 (median over seeds) and below 1 in 1 of 2 seeds" in beside.detail


def test_a_model_with_a_residual_path_is_no_control():
    run = (replace(SETTINGS, model=replace(SETTINGS.model, residual=True)), made_trajectory(attention=[at_the_end(1)]))
    assert newest_is_spared(A5, run, without_residual=run).detail == ""
