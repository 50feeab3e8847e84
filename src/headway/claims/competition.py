"""The heads compete, then cooperate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headway.analysis import Hump, competition, mass_per_block, over_seeds, rises_then_falls
from headway.claims.claim import Claim, Run, judged
from headway.records import Finding

HUMP = 0.1
"""By how much competition must rise and fall; it is a chance between 0 and 1."""


@judged
def compete_then_cooperate(claim: Claim, run: Run) -> Finding:
    """The chance that two heads look at the same block rises and then falls."""
    why = nobody_to_compete(run)
    if why:
        return claim.not_run(why)
    humps = overlap_humps(run)
    favourites = np.argmax(masses(run)[:, -1], axis=-1)
    differ = sum(len(set(row)) == len(row) for row in favourites.tolist())
    peak = over_seeds([hump.peak for hump in humps]).median
    when = over_seeds([hump.peak_time for hump in humps]).median
    return claim.all_of(
        [run],
        {"rises": [hump.rises for hump in humps], "falls": [hump.falls for hump in humps]},
        f"The index peaks at {peak:.2f} at step {when:.0f} (medians over seeds). At the end the heads attend most "
        f"to different blocks in {differ} of {len(humps)} seeds.",
        [hump.peak - hump.last for hump in humps],
    )


def masses(run: Run, layer: int = -1) -> np.ndarray:
    """Mass per head and block in a layer, the last if not given: (seed, evaluation, head, block)."""
    settings, trajectory = run
    return mass_per_block(trajectory["attention_by_lag"][:, :, layer], settings.task.blocks)


def densities(run: Run) -> np.ndarray:
    """The same for the mean attention to a lag of each block, as shares that add up to 1.

    Where blocks differ in size their masses do so from the start: of uniform attention, a block of eight lags has a
    third and one of two a twelfth.
    """
    dense = masses(run) / np.array([len(block) for block in run[0].task.blocks])
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(dense / dense.sum(axis=-1, keepdims=True))


def nobody_to_compete(*runs: Run) -> str:
    """Why the claim cannot be asked of one of these runs, or nothing."""
    for settings, _ in runs:
        if settings.model.heads < 2:
            return "Competition needs two heads or more."
        if len(settings.task.blocks) < 2:
            return "The chain has one block; competition needs two or more."
    return ""


def overlap_humps(run: Run, shares: Callable[[Run], np.ndarray] = masses) -> list[Hump]:
    """The competition index of every seed in its last layer, made of these shares per head and block."""
    times = run[1].times("attention_by_lag")
    return [rises_then_falls(times, competition(seed), HUMP) for seed in shares(run)]
