"""A reason stands only beside a verdict that needs one, and only for claims that exist."""

from itertools import product

import pytest

from headway.claims.reasons import REASONS, reason_for
from headway.experiments import NAMES, find
from headway.records import Finding


def finding(claim: str, *holds: bool) -> Finding:
    seeds = tuple(range(len(holds)))
    return Finding(claim, "says", "defined", "measured", seeds, tuple(map(float, seeds)), holds)


@pytest.mark.parametrize("holds", [(True, False), (False, False)], ids=["partly", "fails"])
def test_a_claim_that_does_not_hold_in_every_seed_gets_its_reason(holds):
    assert reason_for(finding("A8", *holds), "as-run").startswith("Stages are counted from the loss curve alone. With")


@pytest.mark.parametrize("holds", [(True, True), ()], ids=["holds", "not run"])
def test_a_claim_that_holds_or_was_not_run_needs_none(holds):
    assert reason_for(finding("A8", *holds), "as-run") == ""


def test_a_claim_without_a_known_reason_gets_none():
    assert reason_for(finding("A20", False), "as-run") == ""


def test_a_small_run_is_not_explained_by_what_happens_at_paper_scale():
    assert reason_for(finding("A8", False), "quick") == ""


def test_every_reason_belongs_to_a_claim_and_a_grid():
    claims = {
        found.claim for name, grid in product(NAMES, ("printed", "as-run", "paper")) for found in _claims(name, grid)
    }
    assert REASONS.keys() <= claims
    assert {grid for grids in REASONS.values() for grid in grids} <= {"printed", "as-run", "paper"}


def _claims(name: str, grid: str) -> list[Finding]:
    experiment = find(name)
    return experiment.read({}) if grid in experiment.grids else []
