"""A16: with unequal weights inside the blocks, more attention on the position with the larger weight."""

import numpy as np
import pytest
from tests.claims.exemplary import IN_ORDER, UNEVEN
from tests.claims.made import TIMES, bottoming_at, made_run, made_settings

from headway.claims.attention_patterns import checkered
from headway.experiments.nonuniform import A16


def at_the_end(*profile: float, before: float = 0.5) -> np.ndarray:
    """All heads have this attention to lags 1 to 6 at the last evaluation, and the same to all of them before."""
    by_lag = np.zeros((len(TIMES), 3, UNEVEN.task.length))
    by_lag[:, :, :6] = before
    by_lag[-1, :, :6] = profile
    return by_lag


def looked(*profile: float, kl=IN_ORDER, settings=UNEVEN):
    return checkered(A16, made_run(settings, kl=kl, attention=at_the_end(*profile)))


def test_the_lag_of_larger_weight_gets_more_in_every_block_whether_it_is_the_newer_or_the_older():
    """Weights 0.7 and 0.3, then 0.3 and 0.7, then 0.7 and 0.3."""
    found = looked(0.3, 0.1, 0.1, 0.2, 0.3, 0.2)
    assert found.verdict == "holds"
    assert found.values == pytest.approx((1.5,)), "the smallest ratio over the blocks"
    assert found.detail == "Block by block the ratio is 3.00, 2.00, 1.50 (medians over seeds)."


@pytest.mark.parametrize(
    "profile, smallest",
    [
        ((0.1, 0.3, 0.1, 0.2, 0.3, 0.2), 1 / 3),
        ((0.3, 0.1, 0.2, 0.1, 0.3, 0.2), 1 / 2),
        ((0.3, 0.1, 0.1, 0.2, 0.2, 0.3), 2 / 3),
        ((0.3, 0.1, 0.1, 0.2, 0.2, 0.2), 1),
    ],
    ids=["first", "second", "third", "equal"],
)
def test_one_block_that_is_not_so_is_enough_to_fail(profile, smallest):
    found = looked(*profile)
    assert found.verdict == "fails"
    assert found.values == pytest.approx((smallest,))
    assert found.parts == {"minima in order": 1, "more on the larger weight": 0}


def test_checkered_attention_without_the_order_of_the_rungs_is_not_the_claim():
    found = looked(0.3, 0.1, 0.1, 0.2, 0.3, 0.2, kl=bottoming_at(60, 10, 300))
    assert found.verdict == "fails"
    assert found.parts == {"minima in order": 0, "more on the larger weight": 1}


def test_the_heads_are_looked_at_together():
    """One head has it the wrong way round, and the sum of all three the right way."""
    by_lag = at_the_end(0.3, 0.1, 0.1, 0.3, 0.3, 0.1)
    by_lag[-1, 0, :6] = (0.1, 0.3, 0.3, 0.1, 0.1, 0.3)
    found = checkered(A16, made_run(UNEVEN, kl=IN_ORDER, attention=by_lag))
    assert found.values == pytest.approx((0.7 / 0.5,))


@pytest.mark.parametrize(
    "settings",
    [made_settings(), UNEVEN.changed(task={"weights": ((0.7, 0.3), (0.5, 0.5), (0.7, 0.3))})],
    ids=["all equal", "equal in one block"],
)
def test_equal_weights_have_no_larger_one(settings):
    found = looked(0.3, 0.1, 0.1, 0.2, 0.3, 0.2, settings=settings)
    assert (found.verdict, found.detail) == ("not run", "The weights within a block are equal.")
