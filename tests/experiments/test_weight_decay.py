"""A13: with and without weight decay the boundaries and the lowest loss are almost the same."""

import numpy as np
import pytest
from tests.claims.exemplary import other
from tests.claims.made import climbing

from headway.experiments.weight_decay import A13, decay_hardly_matters

USUAL = climbing(20, 60, 300)
LOWEST = 0.01
"""Of the usual loss."""


def judged(runs):
    return decay_hardly_matters(A13, *runs)


@pytest.mark.parametrize("factor, holds", [(1.0, True), (1.09, True), (1.11, False), (0.92, True), (0.9, False)])
@pytest.mark.parametrize("number", [0, 1])
def test_the_lowest_losses_may_differ_by_less_than_a_tenth_whichever_is_lower(number, factor, holds):
    found = judged(other("A13", number, loss=USUAL["loss"] * factor))
    assert found.holds == (holds,)
    assert found.values == pytest.approx((max(factor, 1 / factor) - 1,), rel=1e-3, abs=1e-6)
    assert found.parts == {"boundaries": 1, "lowest excess loss": int(holds)}


def test_a_loss_that_is_lowest_at_another_step_is_the_same_lowest_loss():
    overfitted = np.concatenate([USUAL["loss"][:1], USUAL["loss"][:0:-1]])
    assert judged(other("A13", 1, loss=overfitted)).values == pytest.approx((0,), abs=1e-6)


@pytest.mark.parametrize(
    "steps, apart, holds",
    [
        ((20, 65, 300), 65 / 60, True),
        ((20, 70, 300), 70 / 60, False),
        ((20, 60, 320), 320 / 300, True),
        ((20, 60, 340), 340 / 300, False),
    ],
)
@pytest.mark.parametrize("number", [0, 1])
def test_a_boundary_may_move_by_less_than_a_tenth(number, steps, apart, holds):
    """The second and the third climb are boundaries."""
    found = judged(other("A13", number, kl=climbing(*steps)["kl"]))
    assert found.holds == (holds,)
    assert found.values == pytest.approx((apart - 1,), abs=0.01)
    assert found.parts == {"boundaries": int(holds), "lowest excess loss": 1}


@pytest.mark.parametrize("number", [0, 1])
def test_a_stage_that_only_one_of_them_has_is_a_difference(number):
    found = judged(other("A13", number, kl=climbing(20, 60)["kl"]))
    assert (found.verdict, found.parts) == ("fails", {"boundaries": 0, "lowest excess loss": 1})


def test_stages_that_neither_has_are_no_difference():
    without, _ = other("A13", 0, kl=climbing(20)["kl"])
    assert judged([without, without]).verdict == "holds"


def test_a_lowest_loss_that_is_not_a_number_is_not_the_same():
    """Though the boundaries are."""
    found = judged(other("A13", 1, loss=np.full_like(USUAL["loss"], np.nan)))
    assert (found.verdict, found.parts) == ("fails", {"boundaries": 1, "lowest excess loss": 0})


@pytest.mark.parametrize("number", [0, 1])
def test_losses_on_both_sides_of_the_truth_are_not_the_same(number):
    """On finitely many test sequences a model may be a little better than the truth."""
    found = judged(other("A13", number, loss=USUAL["loss"] - 2 * LOWEST))
    assert found.parts == {"boundaries": 1, "lowest excess loss": 0}
