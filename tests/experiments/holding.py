"""Claims of an experiment held against made runs."""

from collections.abc import Callable
from typing import Any

from headway.claims.claim import AnyRun, Claim
from headway.experiments.experiment import Experiment
from headway.records import Finding, Trajectory


def made_paper(experiment: Experiment, make: Callable[[Any], Trajectory]) -> dict[str, AnyRun]:
    """Every run of the grid at paper scale, made from its settings."""
    return {name: (settings, make(settings)) for name, settings in experiment.grids["paper"].items()}


def held(experiment: Experiment, claim: str, results: dict[str, AnyRun]) -> Finding:
    """What one claim says of them."""
    return claim_of(experiment, claim).held_against(results, "paper")


def claim_of(experiment: Experiment, name: str) -> Claim:
    (claim,) = [claim for claim in experiment.claims if claim.name == name]
    return claim


def missing(found: Finding) -> set[str]:
    """The parts that no seed shows."""
    return {part for part, count in found.parts.items() if count == 0}
