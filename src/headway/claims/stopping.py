"""Early stopping that does not know the truth, over sizes of the training set: what it loses, and how long it trains.

The held-out loss is that of the even test sequences; what a step is worth is the excess loss on the odd ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from headway.analysis import competition, over_seeds
from headway.analysis.stopping import Stopped, stop_by_patience, stop_by_stages
from headway.claims.claim import Claim, Run, judged
from headway.records import Finding, Trajectory

PATIENCES = tuple(range(10, 2001, 10))
"""Steps among which a fixed patience is chosen."""
FEWEST, TOO_FEW = 3, "It needs three sizes."
"""Sizes of the training set that the claims need."""


class Stops(NamedTuple):
    """Of every size and seed: (size, seed)."""

    trained: np.ndarray
    """Steps until training ended."""
    lost: np.ndarray
    """Excess loss of the step that is kept minus that of the best step in hindsight, in nats."""
    kept: np.ndarray
    """Excess loss of the step that is kept."""


Rule = Callable[[Trajectory, int], Stopped]


def by_stages(trajectory: Trajectory, seed: int) -> Stopped:
    """The held-out loss and how far heads attend to the same lags; blocks are not known to it."""
    times = trajectory.times("excess_halves")
    lags = np.asarray(trajectory["attention_by_lag"][seed, :, -1], float)
    return stop_by_stages(times, trajectory["excess_halves"][seed, :, 0], competition(lags))


def by_patience(patience: float) -> Rule:
    return lambda trajectory, seed: stop_by_patience(
        trajectory.times("excess_halves"), trajectory["excess_halves"][seed, :, 0], patience
    )


def stops(runs: Sequence[Run], rule: Rule) -> Stops:
    """The rule on every seed of every run."""
    tables: list[list[tuple[float, float, float]]] = []
    for _, trajectory in runs:
        times = trajectory.times("excess_halves")
        rows = []
        for seed, odd in enumerate(np.asarray(trajectory["excess_halves"][:, :, 1], float)):
            if not np.isfinite(trajectory["excess_halves"][seed]).any():
                rows.append((np.nan, np.nan, np.nan))
                continue
            stopped = rule(trajectory, seed)
            kept = odd[int(np.searchsorted(times, stopped.best))]
            rows.append((stopped.time, kept - np.nanmin(odd), kept))
        tables.append(rows)
    return Stops(*np.moveaxis(np.array(tables, float), -1, 0))


def by_size(runs: Sequence[Run]) -> list[Run]:
    """The smallest training set first."""
    return sorted(runs, key=lambda run: run[0].training.size)


@judged
def stops_near_the_best_step(claim: Claim, *runs: Run, within: float) -> Finding:
    """The loss over the best step in hindsight, mean over sizes, seed by seed."""
    ordered = by_size(runs)
    if len(ordered) < FEWEST:
        return claim.not_run(TOO_FEW)
    own = stops(ordered, by_stages)
    mean = own.lost.mean(axis=0)
    share = over_seeds(own.trained.sum(axis=0) / sum(run[0].training.steps for run in ordered))
    detail = (
        f"Medians by size, lost: {_by_size(ordered, own.lost, '.3f')}; steps: {_by_size(ordered, own.trained, '.0f')}"
    )
    detail += f", {share.median:.0%} of all." if share.seeds else "."
    return claim.finding(ordered, mean, mean <= within, detail)


@judged
def trains_less_than_patience(claim: Claim, *runs: Run, tolerance: float) -> Finding:
    """Steps of the shortest fixed patience that loses no more, over steps of the rule: seed by seed, all sizes."""
    ordered = by_size(runs)
    if len(ordered) < FEWEST:
        return claim.not_run(TOO_FEW)
    own = stops(ordered, by_stages)
    patience, other = equal_patience(ordered, own, tolerance)
    ratio = other.trained.sum(axis=0) / own.trained.sum(axis=0)
    lost = ", ".join(f"{over_seeds(each.lost.mean(axis=0)).median:.4f}" for each in (own, other))
    detail = f"That patience: {patience} steps. Lost, mean over sizes, median seed, by the rule and by it: {lost} nats."
    return claim.finding(ordered, ratio, ratio > 1, detail)


def equal_patience(runs: Sequence[Run], own: Stops, tolerance: float) -> tuple[int, Stops]:
    """The shortest patience, one for all sizes and seeds, that loses as little as the rule in the mean over both."""
    known = np.isfinite(own.lost)
    for patience in PATIENCES:
        other = stops(runs, by_patience(patience))
        if not known.any() or np.mean(other.lost[known]) <= np.mean(own.lost[known]) + tolerance:
            break
    return patience, other


def _by_size(runs: Sequence[Run], table: np.ndarray, form: str) -> str:
    said = []
    for (settings, _), row in zip(runs, table, strict=True):
        over, size = over_seeds(row), settings.training.size
        said.append(f"{f'{size:g}' if np.isfinite(size) else 'fresh'}: {over.median:{form}}" if over.seeds else "-")
    return ", ".join(said)
