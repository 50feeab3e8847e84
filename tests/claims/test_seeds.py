"""From seeds to a verdict: the rule, seeds that diverged, intervals, and numbers that are none."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.claims.made import FIGURE_2, bottoming_at, heads_on, made_settings, made_trajectory

from headway.claims import (
    compete_then_cooperate,
    meets_ngrams_in_order,
    meets_rungs_in_order,
    newest_is_spared,
    published_pictures,
    same_in_kind,
)
from headway.records import Finding, Trajectory

SETTINGS = made_settings(references=(2, 4, 6))
SPARED = heads_on(FIGURE_2, SETTINGS)
SPARED[..., 0] *= 0.9  # lag 1 a little below its mate
CLAIMS: dict[str, Callable[[Trajectory], Finding]] = {
    "A1": lambda trajectory: meets_rungs_in_order(SETTINGS, trajectory),
    "A2": lambda trajectory: meets_ngrams_in_order(SETTINGS, trajectory),
    "A3": lambda trajectory: published_pictures(SETTINGS, trajectory),
    "A4": lambda trajectory: compete_then_cooperate(SETTINGS, trajectory),
    "A5": lambda trajectory: newest_is_spared(SETTINGS, trajectory),
    "A6": lambda trajectory: same_in_kind((SETTINGS, trajectory), (SETTINGS, trajectory)),
}
each_claim = pytest.mark.parametrize("claim", CLAIMS)


def exemplary(seeds: int = 3, **changes) -> Trajectory:
    """Seeds that show every claim."""
    curves = [bottoming_at(10, 60, 300)] * seeds
    return made_trajectory(kl=curves, against_ngrams=curves, attention=[SPARED] * seeds, **changes)


@given(st.lists(st.booleans(), max_size=9))
def test_a_claim_holds_in_all_seeds_partly_in_half_and_fails_in_fewer(holds):
    verdict = Finding("A", "", "", "", tuple(range(len(holds))), (0.0,) * len(holds), tuple(holds)).verdict
    wanted = "holds" if all(holds) else "partly" if 2 * sum(holds) >= len(holds) else "fails"
    assert verdict == (wanted if holds else "not run")


@each_claim
def test_exemplary_seeds_show_every_claim_and_the_finding_says_what_was_measured(claim):
    found = CLAIMS[claim](exemplary())
    assert found.claim == claim
    assert found.verdict == "holds"
    assert found.seeds == (0, 1, 2)
    assert len(found.values) == 3
    assert found.interval == pytest.approx((found.values[0], found.values[0])), "equal seeds leave no doubt"
    assert found.statement and found.definition and found.quantity


@each_claim
def test_a_seed_that_diverged_shows_nothing_however_good_it_looks(claim):
    found = CLAIMS[claim](exemplary(diverged={1: 40}))
    assert found.verdict == "partly"
    assert found.holds == (True, False, True)
    assert [math.isnan(value) for value in found.values] == [False, True, False]
    assert found.detail.endswith("1 of 3 seeds diverged.")
    assert set(found.parts.values()) <= {2}


@each_claim
def test_when_every_seed_diverged_the_claim_fails_and_has_no_interval(claim):
    found = CLAIMS[claim](exemplary(diverged={0: 40, 1: 40, 2: 40}))
    assert (found.verdict, found.interval) == ("fails", None)
    assert set(found.parts.values()) <= {0}


@each_claim
def test_numbers_that_are_none_show_nothing_and_stop_nobody(claim):
    trajectory = exemplary()
    for values in trajectory.arrays.values():
        values[1] = np.nan
    assert CLAIMS[claim](trajectory).holds == (True, False, True)
    for values in trajectory.arrays.values():
        values[:] = np.nan
    assert CLAIMS[claim](trajectory).verdict == "fails"


@each_claim
def test_one_seed_does_not_tell_how_much_seeds_differ(claim):
    found = CLAIMS[claim](exemplary(seeds=1))
    assert (found.verdict, found.interval) == ("holds", None)


def test_the_interval_lies_among_the_seeds_values_and_holds_their_median():
    seconds = (20, 40, 60, 100, 160)
    trajectory = made_trajectory(kl=[bottoming_at(10, second, 2000) for second in seconds])
    found = meets_rungs_in_order(SETTINGS, trajectory)
    assert found.interval is not None
    low, high = found.interval
    assert min(found.values) <= low <= np.median(found.values) <= high <= max(found.values)
    assert low < high


def test_a_run_that_says_nothing_about_divergence_did_not_diverge():
    trajectory = exemplary()
    silent = Trajectory(trajectory.seeds, trajectory.clocks, trajectory.arrays, trajectory.clock_of)
    assert meets_rungs_in_order(SETTINGS, silent).verdict == "holds"
