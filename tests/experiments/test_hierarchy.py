"""A8: two stages without a hierarchy, three with one, the clearer the stronger it is."""

from itertools import permutations

import numpy as np
import pytest
from tests.claims.exemplary import EXAMPLES, other, related
from tests.claims.made import OFTEN, climbing

from headway.experiments.hierarchy import A8, A8_PLATEAUS, humps_follow_the_hierarchy, stages_follow_the_hierarchy

PARTS = ["m = 1: 2 plateaus", "m = 1.3: 3 plateaus", "m = 1.5: 3 plateaus", "m = 1.3 less clear than 1.5"]
FLAT = {"loss": np.ones(len(OFTEN))}


def judged(*runs):
    return stages_follow_the_hierarchy(A8_PLATEAUS, *runs)


def test_the_made_staircases_have_two_three_and_three_steps():
    found = judged(*EXAMPLES["A8 plateaus"].runs(seeds=(0, 1)))
    assert found.values == (4, 4)
    assert found.parts == dict.fromkeys(PARTS, 2)
    assert found.detail == "Plateaus of the loss, seed by seed: m = 1: 2 2; m = 1.3: 3 3; m = 1.5: 3 3."


@pytest.mark.parametrize(
    "changed, missing",
    [
        (other("A8 plateaus", 0, **climbing(20, 150, 900)), PARTS[:1]),
        (other("A8 plateaus", 0, **climbing(20)), PARTS[:1]),
        (other("A8 plateaus", 1, loss=climbing(20, 300, blur=0.2)["loss"]), PARTS[1:2]),
        (other("A8 plateaus", 2, **FLAT), PARTS[2:]),
        (other("A8 plateaus", 1, **climbing(20, 150, 900, blur=0.05)), PARTS[3:]),
        (other("A8 plateaus", 1, **climbing(20, 150, 900)), PARTS[3:]),
        (other("A8 plateaus", 1, kl=climbing(20, 150, 900)["kl"][:, [1, 0, 2]]), PARTS[3:]),
    ],
    ids=[
        "three without",
        "one without",
        "two with 1.3",
        "none with 1.5",
        "1.3 clearer",
        "as clear",
        "1.3 out of order",
    ],
)
def test_each_of_the_four_parts_can_fail_alone_or_takes_clarity_with_it(changed, missing):
    found = judged(*changed)
    assert found.verdict == "fails"
    assert [part for part, count in found.parts.items() if count == 0] == missing
    assert found.values == (4 - len(missing),)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_ratio_tells_the_runs_apart_and_not_their_place(order):
    runs = EXAMPLES["A8 plateaus"].runs(seeds=(0,))
    assert judged(*(runs[place] for place in order)) == judged(*runs)


def test_other_ratios_do_not_serve():
    found = judged(*other("A8 plateaus", 1, settings=related(1.4)))
    assert (found.verdict, found.detail) == ("not run", "It needs the ratios 1, 1.3, 1.5.")


def test_runs_that_were_evaluated_too_seldom_cannot_be_judged():
    """They were made, so that "not run" would be wrong; and nothing was seen that refutes the claim."""
    found = humps_follow_the_hierarchy(A8, *EXAMPLES["A8 plateaus"].runs(seeds=(0, 1)))
    assert (found.verdict, found.holds) == ("cannot be judged", (None, None))
    assert "too seldom" in found.detail
