"""Stages over seeds."""

import math

import pytest

from headway.analysis import Stages, stage_summary


def test_boundaries_are_medians_over_the_seeds_that_have_them():
    seeds = [Stages(rungs=(1, 2, 3), boundaries=(330.0 + k, 575.0 + 2 * k)) for k in range(7)]
    seeds += [Stages(rungs=(1, 2), boundaries=(400.0,)), Stages(rungs=(1, 3), boundaries=(500.0,)), Stages()]
    summary = stage_summary(seeds)
    assert summary.median_count == 3
    assert summary.counts == (3,) * 7 + (2, 2, 0)
    assert list(summary.boundaries) == [(1, 2), (1, 3), (2, 3)]
    first, jump, second = summary.boundaries.values()
    assert (first.median, first.seeds, first.missing) == (333.5, 8, 2)
    assert 330 <= first.low < 333.5 < first.high <= 400
    assert (jump.median, jump.seeds, jump.missing) == (500, 1, 9)
    assert (second.median, second.seeds, second.missing) == (581, 7, 3)


def test_one_seed_has_times_but_no_interval():
    (only,) = stage_summary([Stages(rungs=(1, 2), boundaries=(65.0,))]).boundaries.values()
    assert (only.median, only.seeds) == (65.0, 1)
    assert math.isnan(only.low) and math.isnan(only.high)


def test_a_seed_that_crosses_twice_counts_with_the_first_time():
    summary = stage_summary([Stages(rungs=(1, 2, 1, 2), boundaries=(10.0, 20.0, 30.0))])
    assert summary.boundaries[1, 2].median == 10.0
    assert summary.boundaries[2, 1].median == 20.0


def test_no_seeds_have_no_stages():
    assert math.isnan(stage_summary([]).median_count)
    assert stage_summary([Stages(), Stages()]).boundaries == {}
    assert stage_summary([Stages(), Stages()]).median_count == pytest.approx(0)
