"""How clearly the loss waits on its plateaus, beside another run."""

from __future__ import annotations

import numpy as np

from headway.analysis import clarity, over_seeds
from headway.claims.claim import Claim, Run, judged, where_known
from headway.claims.competition import densities, nobody_to_compete
from headway.claims.kind import behaviour
from headway.claims.ladder import in_order
from headway.records import Finding, Trajectory

CLARITY = """A plateau's clarity is 1 if the loss stands still between two drops and 0 if it falls without a pause
(1 - slowest rate between the drops / peak rate of the slower drop, over log-time)."""


@judged
def first_stage_less_marked(claim: Claim, two: Run, one: Run) -> Finding:
    """In order, and less clarity of plateau 1 than the run with one layer."""
    if len(two[0].task.blocks) < 2:
        return claim.not_run("The chain has one block, so there is only one stage.")
    here, there = plateau_clarity(two[1])[:, 0], plateau_clarity(one[1])[:, 0]
    parts = {"minima in order": in_order(two[1]), "less clear": where_known(here < there, here - there)}
    return claim.all_of([two, one], parts, clarity_in_words(here, there), here - there)


@judged
def same_and_clearer(claim: Claim, run: Run, usual: Run) -> Finding:
    """Both traits, by the density of attention in each block, and a clearer least clear plateau than usual."""
    why = nobody_to_compete(run, usual)
    if why:
        return claim.not_run(why)
    here, there = least_clear(run[1]), least_clear(usual[1])
    parts = {**behaviour(run, densities), "clearer": where_known(here > there, here - there)}
    return claim.all_of([run, usual], parts, clarity_in_words(here, there), here - there)


def plateau_clarity(trajectory: Trajectory) -> np.ndarray:
    """How clearly each seed's loss waits on each plateau: (seed, h - 1)."""
    times = trajectory.times("excess_loss")
    return np.stack(
        [clarity(times, loss, kl) for loss, kl in zip(trajectory["excess_loss"], trajectory["kl_rungs"], strict=True)]
    )


def clarity_in_words(here: np.ndarray, there: np.ndarray) -> str:
    """Both medians over seeds, and over how many where a plateau cannot be read in some."""
    ours, theirs = over_seeds(here), over_seeds(there)
    if not (ours.seeds and theirs.seeds):
        return "No seed has all plateaus in both runs."
    still = np.sum(here == 0)
    of = "those " if ours.missing else ""
    none = f" It is 0, no pause at all, in {still} of {of}{ours.seeds} seeds." if still else ""
    if not (ours.missing or theirs.missing):
        return f"Clarity {ours.median:.2f} against {theirs.median:.2f} (medians over seeds).{none}"
    both = int(np.sum(np.isfinite(here) & np.isfinite(there)))
    return (
        f"Clarity {ours.median:.2f} (median of the {ours.seeds} seeds in which it can be read) against "
        f"{theirs.median:.2f} (of {theirs.seeds}); the difference is measured in {both} of {len(here)} seeds.{none}"
    )


def least_clear(trajectory: Trajectory) -> np.ndarray:
    """The clarity of each seed's least clear plateau; NaN if one is not known."""
    found = plateau_clarity(trajectory)
    return found.min(axis=1) if found.shape[1] else np.full(len(found), np.nan)
