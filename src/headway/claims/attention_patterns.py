"""Where the heads look, at chosen steps and at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from headway.analysis import distance_from_uniform, mass_per_block, uniform_by_lag
from headway.claims.claim import Claim, Run, judged, steps_in_words
from headway.claims.competition import masses
from headway.claims.ladder import in_order
from headway.presets import PUBLISHED_SNAPSHOTS
from headway.records import Finding, Trajectory

NEAR_UNIFORM = 0.1
"""Total variation up to which attention counts as uniform."""
MOSTLY = 0.5
"""Share of a head's attention that counts as mostly."""


@judged
def pictures_in_order(claim: Claim, run: Run, *, near_uniform: float, mostly: float) -> Finding:
    """What Figure 2 shows, at four steps of each seed's own: how many of the pictures appear, one after the other."""
    why = _not_three(run)
    if why:
        return claim.not_run(why)
    times = run[1].times("attention_by_lag")
    pictures = _pictures(run, near_uniform, mostly)
    seen = [_appearances(each) for each in zip(*pictures.values(), strict=True)]
    counts = np.array([len(each) for each in seen])
    steps = np.array([[*times[each], *[np.nan] * (4 - len(each))] for each in seen], float)
    detail = f"First seen, in order, at steps {steps_in_words(steps)} (medians over seeds)."
    parts = {words: counts > place for place, words in enumerate(pictures)}
    return claim.all_of([run], parts, detail)


def _not_three(run: Run) -> str:
    """Why the pictures cannot be looked for, or nothing."""
    heads, blocks = run[0].model.heads, len(run[0].task.blocks)
    if (heads, blocks) == (3, 3):
        return ""
    return f"The claim is about 3 heads and 3 blocks; this run has {heads} and {blocks}."


@judged
def published_pictures(claim: Claim, run: Run, *, near_uniform: float, mostly: float) -> Finding:
    """What Figure 2 shows at four steps, as four tests on the masses per block.

    Up to `near_uniform` (total variation) attention counts as uniform, from the share `mostly` on as mostly there.
    """
    why = _not_three(run)
    if why:
        return claim.not_run(why)
    pictures = _pictures(run, near_uniform, mostly)
    shown = at_published_steps(run, near_uniform, mostly)
    own = [len(_appearances(seen)) == len(pictures) for seen in zip(*pictures.values(), strict=True)]
    detail = f"At any steps, all four appear in this order in {sum(own)} of {len(own)} seeds."
    return claim.all_of([run], shown, detail)


def at_published_steps(run: Run, near_uniform: float = NEAR_UNIFORM, mostly: float = MOSTLY) -> dict[str, np.ndarray]:
    """Whether each of the four pictures is to be seen at the evaluation nearest to its published step: (seed,)."""
    times = run[1].times("attention_by_lag")
    at = [int(np.abs(times - min(step, times[-1])).argmin()) for step in PUBLISHED_SNAPSHOTS]
    pictures = _pictures(run, near_uniform, mostly)
    return {f"step {times[i]}: {words}": seen[:, i] for i, (words, seen) in zip(at, pictures.items(), strict=True)}


def _pictures(run: Run, near_uniform: float, mostly: float) -> dict[str, np.ndarray]:
    """When each of the four pictures is to be seen, (seed, evaluation)."""
    settings, trajectory = run
    mass = masses(run)
    favourite = np.sort(np.argmax(mass, axis=-1), axis=-1)
    by_lag = trajectory["attention_by_lag"][:, :, -1]
    spread = distance_from_uniform(by_lag, settings.task.start, settings.task.horizon)
    on_first, on_second = mass[..., 0], mass[..., 1]
    uniform = mass_per_block(uniform_by_lag(settings.task.start, settings.task.horizon), settings.task.blocks)[1]
    return {
        "uniform": np.all(spread <= near_uniform, axis=-1),
        "all on block 1, one a little on block 2": (
            np.all(on_first >= mostly, axis=-1) & np.any(on_second > uniform, axis=-1)
        ),
        "two on block 1, one on block 2": np.all(favourite == (0, 0, 1), axis=-1),
        "one head per block": np.all(favourite == (0, 1, 2), axis=-1),
    }


def _appearances(seen: Sequence[np.ndarray]) -> list[int]:
    """Evaluations t_1 < t_2 < .. at which the first, the second, .. is seen, as far as there are such."""
    found: list[int] = []
    for when in seen:
        later = np.flatnonzero(when[found[-1] + 1 if found else 0 :])
        if len(later) == 0:
            break
        found.append((found[-1] + 1 if found else 0) + int(later[0]))
    return found


NO_MATES = "Lag 1 is the only lag of its block in this chain."


@judged
def newest_is_spared(claim: Claim, run: Run, minimal: Run | None = None) -> Finding:
    """At the end lag 1 gets less attention than the other lags of its block, summed over heads."""
    ratios = newest_ratio(run)
    if ratios is None:
        return claim.not_run(NO_MATES)
    control = None if minimal is None or minimal[0].model.residual else newest_ratio(minimal)
    detail = ""
    if control is not None:
        detail = (
            "In the minimal model, which lacks the residual path and other components, the ratio is "
            f"{np.median(control):.2f} (median over seeds) and below 1 in {np.sum(control < 1)} of {len(control)} "
            "seeds."
        )
    return claim.finding([run], ratios, ratios < 1, detail)


@judged
def spared_less_without_residual(
    claim: Claim, run: Run, without: Run, others: Mapping[str, Run] | None = None
) -> Finding:
    """|1 - r'| < |1 - r|: r is lag 1's attention over its mates', r' the same without the residual path.

    Both are read at the last evaluation of the shorter run. Beside them, the ratio closest to 1 that removing any of
    the other components alone gives.
    """
    last = min(int(trajectory.times("attention_by_lag")[-1]) for _, trajectory in (run, without))
    ratios, control = newest_ratio(run, last), newest_ratio(without, last)
    if ratios is None or control is None:
        return claim.not_run(NO_MATES)
    detail = (
        f"Lag 1 gets {_median_and_range(ratios)} of the attention to its block mates with the residual path, and "
        f"{_median_and_range(control)} without it (medians and ranges over seeds, step {last})."
    )
    found = {name: newest_ratio(other, last) for name, other in (others or {}).items()}
    medians = {name: float(np.median(each)) for name, each in found.items() if each is not None}
    known = {name: value for name, value in medians.items() if np.isfinite(value)}
    if known:
        nearest = min(known, key=lambda name: abs(1 - known[name]))
        detail += f" Of all other components removed alone, the ratio closest to 1 is {known[nearest]:.2f} ({nearest})."
    gone = 1 - np.abs(1 - control) / np.abs(1 - ratios)
    return claim.finding([run, without], gone, gone > 0, detail)


def _median_and_range(values: np.ndarray) -> str:
    return f"{np.median(values):.2f} ({values.min():.2f} to {values.max():.2f})"


def newest_ratio(run: Run, time: int | None = None) -> np.ndarray | None:
    """Attention to lag 1 over the mean of the other lags of its block, at the evaluation nearest to this time or at the
    last: (seed,); None where lag 1 has no block mates.
    """
    settings, trajectory = run
    block = next((block for block in settings.task.blocks if 1 in block and len(block) > 1), None)
    if block is None:
        return None
    at = -1 if time is None else int(np.abs(trajectory.times("attention_by_lag") - time).argmin())
    return _share(trajectory, [1], [lag for lag in block if lag != 1], at)


def _share(trajectory: Trajectory, lags: list[int], others: list[int], at: int = -1) -> np.ndarray:
    """Mean attention to some lags over that to others at an evaluation, summed over the heads of the last layer:
    (seed,).
    """
    by_lag = trajectory["attention_by_lag"][:, at, -1].sum(axis=1)
    places, other_places = [lag - 1 for lag in lags], [lag - 1 for lag in others]
    with np.errstate(divide="ignore", invalid="ignore"):  # Others without any attention: infinite, or not a number.
        return by_lag[:, places].mean(axis=1) / by_lag[:, other_places].mean(axis=1)


@judged
def checkered(claim: Claim, run: Run) -> Finding:
    """In every block the lag of largest weight gets more attention than that of the smallest."""
    settings, trajectory = run
    pairs = [
        (block[int(np.argmax(row))], block[int(np.argmin(row))])
        for block, row in zip(settings.task.blocks, settings.task.weights, strict=False)
        if max(row) > min(row)
    ]
    if len(pairs) < len(settings.task.blocks):
        return claim.not_run("The weights within a block are equal.")
    ratios = np.stack([_share(trajectory, [more], [less]) for more, less in pairs], axis=1)
    words = ", ".join(f"{ratio:.2f}" for ratio in np.median(ratios, axis=0))
    parts = {"minima in order": in_order(trajectory), "more on the larger weight": np.all(ratios > 1, axis=1)}
    return claim.all_of([run], parts, f"Block by block the ratio is {words} (medians over seeds).", ratios.min(axis=1))
