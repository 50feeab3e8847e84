"""A reason stands only beside a verdict that needs one, and only for grids that exist."""

from dataclasses import replace

import numpy as np
import pytest
from tests.claims.made import bottoming_at, made_run, made_settings

from headway.claims.claim import Claim
from headway.experiments import NAMES, find

RUN = made_run(made_settings(), (0, 1), kl=bottoming_at(10, 60, 300))
CLAIM = Claim("X1", "Says.", "Defined.", "measured", reasons={"as-run": "\nThe heads\nwait.", "printed": "Slow."})


def reason(*holds: bool, grid: str = "as-run", claim: Claim = CLAIM) -> str:
    judge = (
        (lambda claim, results: (np.arange(2.0), np.array(holds)))
        if holds
        else (lambda claim, results: claim.not_run("None."))
    )
    return replace(claim, judge=judge).held_against({"run": RUN}, grid).reason


@pytest.mark.parametrize("holds", [(True, False), (False, False)], ids=["partly", "fails"])
def test_a_claim_that_does_not_hold_in_every_seed_gets_its_reason(holds):
    assert reason(*holds) == "The heads wait."
    assert reason(*holds, grid="printed") == "Slow."


def test_a_claim_that_cannot_be_judged_gets_its_reason_too():
    claim = replace(CLAIM, judge=lambda claim, results: (np.full(2, np.nan), np.full(2, False)))
    assert claim.held_against({"run": RUN}, "as-run").reason == "The heads wait."


@pytest.mark.parametrize("holds", [(True, True), ()], ids=["holds", "not run"])
def test_a_claim_that_holds_or_was_not_run_needs_none(holds):
    assert reason(*holds) == ""


def test_a_small_run_is_not_explained_by_what_happens_at_paper_scale():
    assert reason(False, False, grid="quick") == ""


def test_a_reason_that_belongs_to_no_grid_belongs_to_all():
    assert reason(False, False, grid="quick", claim=replace(CLAIM, reasons={"": "Noise."})) == "Noise."


@pytest.mark.parametrize("name", NAMES)
def test_every_reason_belongs_to_a_grid_at_paper_scale(name):
    experiment = find(name)
    assert {grid for claim in experiment.claims for grid in claim.reasons} <= experiment.grids.keys() - {"quick"}
