"""A9 and A10: how much data there is decides how many rungs are met, and where to stop."""

import math
from itertools import permutations

import numpy as np
import pytest
from tests.claims.exemplary import EXAMPLES, halves, lowest_at, other, sized
from tests.claims.made import OFTEN, TIMES, climbing, made_run

from headway.claims.data import (
    best_steps,
    choosing_the_length_pays,
    critical_sizes,
    early_stopping_picks_the_rung,
    fewer_samples_fewer_stages,
)
from headway.experiments.dataset_size import A9, A10, A10_ADAPTIVE

FALLS, SMALLER = "never falls", "smaller for the smallest"
STAIRS = ((20,), (20, 60), (20, 60, 300))
"""One rung, two rungs, three."""


def sizes(*rungs: int):
    """A seed that meets so many rungs with 100, 200, .. samples, the last time with fresh data."""
    settings = [*(sized(100 * number) for number in range(1, len(rungs))), sized(None)]
    runs = [made_run(chosen, **climbing(*STAIRS[count - 1])) for chosen, count in zip(settings, rungs, strict=True)]
    return fewer_samples_fewer_stages(A9, *runs)


def stopped(*steps: int):
    """A seed that goes up at 20, 60 and 300 and whose loss is lowest at a step, sizes as in `sizes`."""
    settings = [*(sized(100 * number) for number in range(1, len(steps))), sized(None)]
    seeds = [climbing(20, 60, 300) | {"loss": lowest_at(step, OFTEN)} for step in steps]
    runs = [made_run(chosen, **seed) for chosen, seed in zip(settings, seeds, strict=True)]
    return early_stopping_picks_the_rung(A10, *runs)


def test_more_samples_more_rungs_and_the_measure_is_how_many_more():
    found = sizes(1, 1, 2, 3)
    assert (found.verdict, found.values) == ("holds", (2,))
    assert found.detail.startswith("Medians over seeds, size by size: 100: 1, 200: 1, 300: 2, fresh: 3.")


@pytest.mark.parametrize(
    "rungs, parts",
    [((1, 2, 1, 3), (0, 1)), ((3, 3, 3), (1, 0)), ((2, 3, 2), (0, 0)), ((3, 2, 1), (0, 0))],
    ids=["a dip", "all the same", "up and down", "the other way round"],
)
def test_a_number_of_rungs_that_falls_or_never_rises_is_not_the_claim(rungs, parts):
    found = sizes(*rungs)
    assert found.verdict == "fails"
    assert found.parts == dict(zip((FALLS, SMALLER), parts, strict=True))


@pytest.mark.parametrize("claim", ["A9", "A10"])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_runs_may_come_in_any_order_and_fresh_data_is_the_largest_set(claim, order):
    runs = EXAMPLES[claim].runs(seeds=(0,))
    found = EXAMPLES[claim].judge(*(runs[place] for place in order))
    assert (found.holds, found.values) == ((True,), (2,))
    assert "100: 1, 1000: 2, fresh: 3" in found.detail


def test_the_critical_size_is_the_smallest_from_which_on_a_stage_always_occurs():
    """Three seeds: from 200 on; a lucky one at 100 does not count; never."""
    counts = np.array([[1, 2, 1], [2, 1, 1], [2, 2, 1], [3, 2, 1]])
    found = critical_sizes([100, 200, 400, math.inf], counts, 2)
    np.testing.assert_array_equal(found, [200, 400, np.inf])
    np.testing.assert_array_equal(critical_sizes([100, 200, 400, 900], counts, 3), [900, np.inf, np.inf])


def test_the_critical_sizes_are_told():
    detail = sizes(1, 2, 2, 3).detail
    assert "2 stages from 200 samples on" in detail
    assert "3 rungs" not in detail, "no finite set is large enough"
    assert "3 stages from 300 samples on" in sizes(1, 2, 3, 3).detail


def test_the_best_step_is_the_first_of_the_lowest_loss_and_one_that_is_a_number():
    loss = np.array([[3, 1, 2, 1, 0.5], [np.nan, 2, 1, 3, 4], [4, 3, np.inf, 2, 2]])
    times = np.array([0, 10, 20, 30, 40])
    _, trajectory = made_run(sized(100), (0, 1, 2), times=times, loss=loss[0])
    trajectory["excess_loss"][:] = loss
    np.testing.assert_array_equal(best_steps(trajectory), [40, 20, 30])


def test_stopping_early_picks_the_rung_on_which_the_best_step_lies():
    found = stopped(40, 40, 150, 900)
    assert (found.verdict, found.values) == ("holds", (2,))
    assert found.detail == "Medians over seeds, size by size: 100: 1, 200: 1, 300: 2, fresh: 3."


@pytest.mark.parametrize(
    "steps, parts",
    [((150, 40, 900), (0, 1)), ((150, 150, 200), (1, 0)), ((900, 40, 40), (0, 0))],
    ids=["a dip", "all on one rung", "the other way round"],
)
def test_a_best_step_on_a_lower_rung_with_more_samples_is_not_the_claim(steps, parts):
    found = stopped(*steps)
    assert found.verdict == "fails"
    assert found.parts == dict(zip((FALLS, SMALLER), parts, strict=True))


@pytest.mark.parametrize("claim", ["A9", "A10"])
def test_one_size_is_nothing_to_compare(claim):
    found = EXAMPLES[claim].judge(EXAMPLES[claim].runs()[0])
    assert (found.verdict, found.detail) == ("not run", "It needs two sizes or more.")


def choice(*runs):
    return choosing_the_length_pays(A10_ADAPTIVE, *runs)


def small(samples: int, whole: float, windows: dict[int, tuple[float, float]]) -> list:
    """A set of this size: a model that sees everything, and n-gram models with their losses on the two halves."""
    return [
        made_run(sized(samples), halves=halves(whole, whole)),
        *(made_run(sized(samples, context), halves=halves(*losses)) for context, losses in windows.items()),
    ]


def test_the_length_is_chosen_by_the_even_half_and_judged_by_the_odd_one():
    """Two contexts: on the even sequences 2 looks better, on the odd ones it is worse than 4, and than no choice."""
    found = choice(*small(100, 0.5, {2: (0.1, 0.8), 4: (0.2, 0.3)}))
    assert found.verdict == "fails"
    assert found.values == pytest.approx((0.5 - 0.8,))
    assert found.detail == "Chosen length and gain, medians over seeds, size by size: 100: 2 (-0.300)."
    turned = choice(*small(100, 0.5, {2: (0.8, 0.1), 4: (0.3, 0.2)}))
    assert (turned.verdict, turned.values) == ("holds", pytest.approx((0.5 - 0.2,)))
    assert "100: 4 (+0.300)" in turned.detail


@pytest.mark.parametrize("whole", [True, False], ids=["the model that sees everything", "an n-gram model"])
def test_a_model_is_stopped_at_its_best_step_by_the_even_half(whole):
    """Even half: lowest at step 60. Odd half: 0.4 there, though it is lowest, 0, at step 300."""
    curve = np.stack([lowest_at(60), np.where(TIMES == 60, 0.4, np.where(TIMES == 300, 0, 1))], axis=1)
    runs = small(100, 0.6, {2: (0.1, 0.1), 4: (0.9, 0.9)})
    runs[0 if whole else 1] = made_run(sized(100, None if whole else 2), halves=curve)
    assert choice(*runs).values == pytest.approx((0.4 - 0.1 if whole else 0.6 - 0.4,))


def test_choosing_may_win_and_lose_from_seed_to_seed():
    runs = [made_run(sized(100, context), (3, 4), halves=halves(0.5, 0.5)) for context in (None, 2, 4)]
    runs[1][1]["excess_halves"][0] -= 0.2
    runs[0][1]["excess_halves"][1] -= 0.1
    found = choice(*runs)
    assert (found.seeds, found.holds) == ((3, 4), (True, False))
    assert found.values == pytest.approx((0.2, -0.1), abs=1e-6)


def test_an_equal_loss_is_no_gain():
    assert choice(*small(100, 0.5, {2: (0.5, 0.5), 4: (0.5, 0.5)})).verdict == "fails"


def test_the_mean_over_the_small_sizes_decides_and_sizes_above_the_batch_do_not_count():
    """Batches of 500: 100 gains 0.3, 500 loses 0.1; 600 would lose everything, fresh data, too."""
    gains, loses = small(100, 0.5, {2: (0.2, 0.2), 4: (0.9, 0.9)}), small(500, 0.5, {2: (0.6, 0.6), 4: (0.9, 0.9)})
    larger = small(600, 0.1, {2: (9, 9), 4: (9, 9)})
    fresh = made_run(sized(None), halves=halves(0, 0))
    found = choice(*larger, *loses, fresh, *gains)
    assert (found.verdict, found.values) == ("holds", pytest.approx((0.1,)))
    assert found.detail.endswith("100: 2 (+0.300), 500: 2 (-0.100).")


@pytest.mark.parametrize(
    "runs",
    [
        small(100, 0.5, {}),
        small(100, 0.5, {2: (0.2, 0.2)}),
        small(100, 0.5, {2: (0.2, 0.2), 4: (0.3, 0.3)})[1:],
        small(600, 0.5, {2: (0.2, 0.2), 4: (0.3, 0.3)}),
    ],
    ids=["no n-gram model", "no choice", "nothing to compare with", "large sets only"],
)
def test_without_several_lengths_beside_a_small_set_there_is_nothing_to_choose(runs):
    found = choice(*runs)
    assert (found.verdict, found.detail) == ("not run", "No n-gram models were trained with the small sets.")


def test_a_seed_that_diverged_in_a_large_set_does_not_count_either():
    runs = other("A10 adaptive")
    found = choice(*runs, made_run(sized(600), diverged={0: 7}, halves=halves(1, 1)))
    assert found.holds == (False,)
