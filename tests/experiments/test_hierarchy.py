"""A8: two stages without a hierarchy, three with one, the clearer the stronger it is."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from tests.claims.exemplary import EXAMPLES, other, related
from tests.claims.made import OFTEN, climbing, made_trajectory

from headway.experiments.hierarchy import (
    A8,
    A8_PLATEAUS,
    A8_SMALL_START,
    EXPERIMENT,
    RATIOS,
    SMALL_START,
    humps_follow_the_hierarchy,
    stages_follow_the_hierarchy,
)
from headway.presets import SADDLE

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


def falling(*steps: float, width: float = 20.0):
    """A seed whose loss, evaluated every 5 steps, falls around each of these."""
    times = np.arange(0, 705, 5)
    loss = sum(1 / (1 + np.exp((times - step) / width)) for step in steps)
    return made_trajectory(times=times, loss=[loss + 0.01])


def runs_of(names: dict[str, float], *curves) -> dict:
    return {name: (related(m), curve) for (name, m), curve in zip(names.items(), curves, strict=True)}


def test_a_small_start_is_judged_as_a8_is_and_by_its_own_runs():
    three = falling(60, 300, 550), falling(60, 300, 420), falling(60, 300, 550)
    shown, merged = (falling(60, 300), *three[1:]), (falling(60, 300), falling(60, 300, 320), three[2])
    usual, small = runs_of(RATIOS, *merged), runs_of(SMALL_START, *shown)
    assert A8_SMALL_START.held_against(usual | small).holds == (True,)
    found = A8_SMALL_START.held_against(runs_of(RATIOS, *shown) | runs_of(SMALL_START, *merged))
    assert found.holds == (False,) and found.parts == A8.held_against(usual).parts
    assert found.detail == "Humps of the speed of the loss, seed by seed: m = 1: 2; m = 1.3: 2; m = 1.5: 3."


@pytest.mark.parametrize("usual, small", list(zip(RATIOS, SMALL_START, strict=True)))
def test_a_small_start_differs_in_nothing_else_that_is_learnt_from(usual, small):
    """It is shorter, and kept without comparisons; evaluations are as dense."""
    runs = EXPERIMENT.grids["as-run"]
    shorter = runs[usual].changed(training={"steps": runs[small].training.steps})
    assert runs[small].changed(evaluation=shorter.evaluation) == shorter.changed(model=SADDLE)
    assert replace(runs[small].evaluation, comparisons=True) == shorter.evaluation
