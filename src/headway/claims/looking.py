"""A3, A4 and A5: where the heads look."""

from __future__ import annotations

import numpy as np

from headway.analysis import (
    competition,
    distance_from_uniform,
    mass_per_block,
    over_seeds,
    rises_then_falls,
    uniform_by_lag,
)
from headway.claims.seeds import finding, not_run
from headway.presets import PUBLISHED_SNAPSHOTS
from headway.records import Finding, Trajectory
from headway.settings import Settings

NEAR_UNIFORM = 0.1
"""Total variation up to which attention counts as uniform."""
MOSTLY = 0.5
"""Share of a head's attention that counts as mostly."""
HUMP = 0.1
"""By how much competition must rise and fall; it is a chance between 0 and 1."""


def masses(settings: Settings, trajectory: Trajectory) -> np.ndarray:
    """Mass per head and block in the last layer, (seed, evaluation, head, block)."""
    return mass_per_block(trajectory["attention_by_lag"][:, :, -1], settings.task.blocks)


def compete_then_cooperate(settings: Settings, trajectory: Trajectory, claim: str = "A4") -> Finding:
    """The chance that two heads look at the same block rises and then falls."""
    statement = "Competitive, then cooperative: the overlap of the heads rises and then falls."
    definition = (
        f"The competition index (docs/measures.md) exceeds both its first and its last value by more than {HUMP:g}."
    )
    quantity = "fall of the competition index from its peak to the end"
    if settings.model.heads < 2:
        return not_run(claim, statement, definition, quantity, "One head has nobody to compete with.")
    if len(settings.task.blocks) < 2:
        return not_run(claim, statement, definition, quantity, "The chain has one block, which cannot be shared out.")
    times = trajectory.times("attention_by_lag")
    humps = [rises_then_falls(times, competition(seed), HUMP) for seed in masses(settings, trajectory)]
    favourites = np.argmax(masses(settings, trajectory), axis=-1)
    peak = over_seeds([hump.peak for hump in humps]).median
    when = over_seeds([hump.peak_time for hump in humps]).median
    return finding(
        claim,
        statement,
        definition,
        quantity,
        trajectory,
        [hump.peak - hump.last for hump in humps],
        [bool(hump) for hump in humps],
        f"The index peaks at {peak:.2f} at step {when:.0f} (medians over seeds). "
        f"At the end the heads' favourite blocks all differ in {_all_differ(favourites[:, -1])} of {len(humps)} seeds.",
        parts={"rises": [hump.rises for hump in humps], "falls": [hump.falls for hump in humps]},
    )


def _all_differ(favourites: np.ndarray) -> int:
    """Number of seeds in which no two heads favour the same block: (seed, head)."""
    return sum(len(set(row)) == len(row) for row in favourites.tolist())


def published_pictures(settings: Settings, trajectory: Trajectory, claim: str = "A3") -> Finding:
    """What Figure 2 shows at four steps, as four tests on the masses per block."""
    first, second, third, last = PUBLISHED_SNAPSHOTS
    statement = (
        f"Attention is uniform at step {first}; at {second} every head is mostly on I(1), one with a little on I(2); "
        f"at {third} one head is on I(2) and two on I(1); at {last} there is one head a block."
    )
    definition = (
        f"At step {first} every head is within {NEAR_UNIFORM:g} of uniform (total variation); at {second} every "
        f"head has at least {MOSTLY:g} of its attention on I(1) and one has more on I(2) than uniform attention; at "
        f"{third} the blocks with most of each head's attention are I(1) twice and I(2) once; at {last} they all "
        "differ. A shorter run is looked at when it ends instead. All four must hold."
    )
    quantity = "how many of the four pictures are as published"
    if len(settings.task.blocks) != 3 or settings.model.heads != 3:
        why = (
            f"The claim is about 3 heads and 3 blocks; here are {settings.model.heads} and {len(settings.task.blocks)}."
        )
        return not_run(claim, statement, definition, quantity, why)
    times = trajectory.times("attention_by_lag")
    at = [int(np.abs(times - min(step, times[-1])).argmin()) for step in PUBLISHED_SNAPSHOTS]
    pictures = _pictures(settings, trajectory)
    shown = {f"step {times[i]}: {words}": seen[:, i] for i, (words, seen) in zip(at, pictures.items(), strict=True)}
    table = np.stack(list(shown.values()), axis=1)
    own = sum(_in_this_order([seen[row] for seen in pictures.values()]) for row in range(len(table)))
    detail = f"At steps of its own, all four appear in this order in {own} of {len(table)} seeds."
    return finding(
        claim,
        statement,
        definition,
        quantity,
        trajectory,
        table.sum(axis=1),
        table.all(axis=1),
        detail,
        shown,
    )


def _pictures(settings: Settings, trajectory: Trajectory) -> dict[str, np.ndarray]:
    """When each of the four pictures is to be seen, (seed, evaluation)."""
    mass = masses(settings, trajectory)
    favourite = np.sort(np.argmax(mass, axis=-1), axis=-1)
    by_lag = trajectory["attention_by_lag"][:, :, -1]
    spread = distance_from_uniform(by_lag, settings.task.start, settings.task.horizon)
    on_first, on_second = mass[..., 0], mass[..., 1]
    uniform = mass_per_block(uniform_by_lag(settings.task.start, settings.task.horizon), settings.task.blocks)[1]
    return {
        "uniform": np.all(spread <= NEAR_UNIFORM, axis=-1),
        "all on I(1), one a little on I(2)": np.all(on_first >= MOSTLY, axis=-1) & np.any(on_second > uniform, axis=-1),
        "two on I(1), one on I(2)": np.all(favourite == (0, 0, 1), axis=-1),
        "one head a block": np.all(favourite == (0, 1, 2), axis=-1),
    }


def _in_this_order(seen: list[np.ndarray]) -> bool:
    """Whether there are times t_1 < t_2 < .. at which the first, the second, .. is seen."""
    time = -1
    for when in seen:
        later = np.flatnonzero(when[time + 1 :])
        if len(later) == 0:
            return False
        time += 1 + int(later[0])
    return True


def newest_is_spared(
    settings: Settings,
    trajectory: Trajectory,
    claim: str = "A5",
    without_residual: tuple[Settings, Trajectory] | None = None,
) -> Finding:
    """At the end lag 1 gets less attention than the other lags of its block, summed over heads."""
    statement = (
        "In the full model the newest position gets less attention than its block mates "
        "(the paper's reason, that the residual path carries it, is not tested)."
    )
    definition = (
        "At the last evaluation, attention to lag 1, summed over the heads, is less than the mean over the other lags "
        "of its block. The same ratio without a residual path stands beside it."
    )
    quantity = "attention to lag 1 relative to the mean of its block mates"
    block = next((block for block in settings.task.blocks if 1 in block and len(block) > 1), None)
    if block is None:
        return not_run(claim, statement, definition, quantity, "Lag 1 has no block mates in this chain.")
    ratios = _newest_ratio(trajectory, block)
    detail = ""
    if without_residual is not None:
        other_settings, other = without_residual
        other_block = next((b for b in other_settings.task.blocks if 1 in b and len(b) > 1), None)
        if other_block is not None and not other_settings.model.residual:
            control = _newest_ratio(other, other_block)
            detail = (
                f"Without a residual path, in the minimal model, the ratio is {np.median(control):.2f} (median over "
                f"seeds) and below 1 in {np.sum(control < 1)} of {len(control)} seeds: that path is not all of it."
            )
    return finding(claim, statement, definition, quantity, trajectory, ratios, ratios < 1, detail)


def _newest_ratio(trajectory: Trajectory, block: tuple[int, ...]) -> np.ndarray:
    by_lag = trajectory["attention_by_lag"][:, -1, -1].sum(axis=1)
    mates = [lag - 1 for lag in block if lag != 1]
    with np.errstate(divide="ignore", invalid="ignore"):  # Mates without any attention: infinite, or not a number.
        return by_lag[:, 0] / by_lag[:, mates].mean(axis=1)
