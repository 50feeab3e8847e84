"""A20: the excess loss of the hand-made solution falls to nothing as its scores grow."""

import numpy as np
import pytest
from tests.claims.made import made_run

from headway.experiments.construction import A20, reaches_the_entropy
from headway.tasks.construction import ConstructionSettings


def shown(*excess: float):
    sharpness = tuple(range(len(excess)))
    run = made_run(ConstructionSettings(sharpness=sharpness), times=np.array(sharpness), loss=np.array(excess))
    return reaches_the_entropy(A20, run)


def test_a_loss_that_falls_to_nothing_reaches_the_entropy():
    found = shown(3.0, 1.0, 0.1, 5e-4)
    assert found.verdict == "holds"
    assert found.values == pytest.approx((5e-4,))


def test_where_it_is_as_good_as_nothing_it_need_not_fall_any_more():
    assert shown(3.0, 1e-4, 2e-4, -1e-4, -3e-4).verdict == "holds"


@pytest.mark.parametrize(
    "excess, falls, near",
    [
        ((3.0, 1.0, 0.1, 2e-3), 1, 0),
        ((3.0, 1.0, 0.1, -2e-3), 1, 0),
        ((3.0, 0.5, 1.0, 1e-4), 0, 1),
        ((3.0, 3.0, 1e-4), 0, 1),
        ((3.0, 1e-4, 0.5, 1e-4), 0, 1),
        ((3.0, 1.0, 2.0), 0, 0),
    ],
    ids=["stops short", "below the entropy", "rises on its way", "stands still", "comes and goes", "rises at the end"],
)
def test_anything_else_does_not(excess, falls, near):
    found = shown(*excess)
    assert found.verdict == "fails"
    assert found.parts == {"falls": falls, "reaches 0": near}
