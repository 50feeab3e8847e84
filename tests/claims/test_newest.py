"""A5: the newest position gets less attention than its block mates, and less so without the residual path."""

from dataclasses import replace

import numpy as np
import pytest
from tests.claims.made import TIMES, made_settings, made_trajectory

from headway.claims.attention_patterns import newest_is_spared, spared_less_without_residual
from headway.experiments.ablations import A5_RESIDUAL
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


def test_the_minimal_model_stands_beside_it_and_changes_no_verdict():
    spared = made_trajectory(attention=[at_the_end(0.1, 0.2, 0.2, 0.2)])
    control = made_trajectory(attention=[at_the_end(0.3, 0.4, 0.4, 0.4), at_the_end(0.5, 0.4, 0.4, 0.4)])
    alone = newest_is_spared(A5, (SETTINGS, spared))
    beside = newest_is_spared(A5, (SETTINGS, spared), minimal=(SETTINGS, control))
    assert (beside.holds, beside.values) == (alone.holds, alone.values)
    assert alone.detail == ""
    assert "the ratio is 1.00 (median over seeds) and below 1 in 1 of 2 seeds" in beside.detail


def test_a_model_with_a_residual_path_is_no_control():
    run = (replace(SETTINGS, model=replace(SETTINGS.model, residual=True)), made_trajectory(attention=[at_the_end(1)]))
    assert newest_is_spared(A5, run, minimal=run).detail == ""


def compared(with_path: list[float], without: list[float]):
    """One seed: attention to lags 1 to 4 with and without the residual path."""
    runs = [(SETTINGS, made_trajectory(attention=[at_the_end(*profile)])) for profile in (with_path, without)]
    return spared_less_without_residual(A5_RESIDUAL, *runs)


@pytest.mark.parametrize(
    "newest, holds, gone",
    [(0.2, True, 1.0), (0.18, True, 0.8), (0.22, True, 0.8), (0.1, False, 0.0), (0.05, False, -0.5), (0.3, False, 0.0)],
    ids=["equal", "nearly", "a little more", "no change", "even less", "as far above"],
)
def test_without_the_residual_path_the_ratio_has_to_be_closer_to_1_than_with_it(newest, holds, gone):
    found = compared([0.1, 0.2, 0.2, 0.2], [newest, 0.2, 0.2, 0.2])
    assert found.holds == (holds,) and found.values == pytest.approx((gone,))


def test_both_models_are_read_at_the_last_step_of_the_shorter_run():
    """The longer run spares lag 1 at first, and no longer at its end."""
    short = 6
    by_lag = at_the_end(0.2, 0.2, 0.2, 0.2)
    by_lag[short, :, :4] = (0.1, 0.2, 0.2, 0.2)
    longer = made_trajectory(attention=[by_lag])
    shorter = made_trajectory(times=TIMES[: short + 1], attention=[at_the_end(0.16, 0.2, 0.2, 0.2)[-short - 1 :]])
    found = spared_less_without_residual(A5_RESIDUAL, (SETTINGS, longer), (SETTINGS, shorter))
    assert found.values == pytest.approx((0.6,))
    assert f"step {TIMES[short]}" in found.detail


def test_what_another_component_does_is_reported_and_changes_no_verdict():
    run, without, other, none = (
        (SETTINGS, made_trajectory(attention=[at_the_end(newest, 0.2, 0.2, 0.2)])) for newest in (0.1, 0.18, 0.2, 0.05)
    )
    others = {"without norm": none, "without MLP": other}
    alone = spared_less_without_residual(A5_RESIDUAL, run, without)
    beside = spared_less_without_residual(A5_RESIDUAL, run, without, others=others)
    assert (beside.holds, beside.values) == (alone.holds, alone.values) == ((True,), pytest.approx((0.8,)))
    assert beside.detail == f"{alone.detail} Of all other components removed alone, the ratio closest to 1 is 1.00 " + (
        "(without MLP)."
    )


def test_without_block_mates_nothing_is_closer():
    run = (made_settings(blocks=((1,), (2, 3))), made_trajectory(attention=[at_the_end(1)]))
    assert spared_less_without_residual(A5_RESIDUAL, run, run).verdict == "not run"
