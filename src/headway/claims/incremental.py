"""Learning stays incremental: with blocks that overlap, other encodings, more depth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from headway.analysis import arrival_order, over_seeds
from headway.claims.claim import Claim, Run, judged, steps_in_words
from headway.claims.ladder import NEARER, distance_ratios, in_order, lowest_at
from headway.records import Finding, Trajectory

SURVIVES = """KL to the rungs reaches its minima in order (A1), and each lower rung is approached more closely than by
confidence alone (A1 nearer)"""

NEAREST_ORDER = "The order of the blocks whose partial predictors the model comes nearest to, at whatever step"
"""Before the outcome of `arrival_order`, which knows distances and no times."""


@judged
def minima_in_order(claim: Claim, *runs: Run, names: tuple[str, ...] = ("",)) -> Finding:
    """KL to the rungs reaches its minima in order (A1) in every run of the same seed; n-gram models stand beside."""
    if any(len(settings.task.blocks) < 2 for settings, _ in runs):
        return claim.not_run("The chain has one block, so there is only one rung.")
    if len(runs) > 1:
        parts = {name: in_order(trajectory) for name, (_, trajectory) in zip(names, runs, strict=True)}
        return claim.all_of(runs, parts)
    ((settings, trajectory),) = runs
    steps = lowest_at(trajectory)
    last = float(trajectory.times("kl_rungs")[-1])
    detail = f"Minima at steps {steps_in_words(steps, last)} (medians over seeds)."
    if "kl_references" in trajectory and len(settings.task.references) > 1:
        times = trajectory.times("kl_references")
        order = np.argsort(settings.task.references)
        lowest = times[np.argmin(trajectory["kl_references"][:, :, order], axis=1)]
        same = np.all(np.diff(lowest, axis=1) > 0, axis=1)
        detail += f" Those of KL to the n-gram models are in order in {np.sum(same)} of {len(same)} seeds."
    ratios = np.min(np.maximum(steps[:, 1:], 1) / np.maximum(steps[:, :-1], 1), axis=1)
    return claim.finding(runs, ratios, in_order(trajectory), detail)


@judged
def still_incremental(claim: Claim, run: Run) -> Finding:
    """Some partial predictor is approached before the truth, nearer than confidence alone comes to its rung."""
    settings, trajectory = run
    count = len(settings.task.blocks)
    if "kl_subsets" not in trajectory or count < 2:
        return claim.not_run("It needs the distances to every combination of two blocks or more.")
    if "kl_stageless_subsets" not in trajectory.facts:
        return claim.not_run(
            "How near confidence alone comes to each combination was not measured when this run was made."
        )
    partial = list(range(1, 2**count - 1))
    kl, times = trajectory["kl_subsets"], trajectory.times("kl_subsets")
    lowest = np.argmin(kl, axis=1)
    truth = times[lowest[:, -1]]
    reachable = np.asarray(trajectory.facts["kl_stageless_subsets"])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = (kl.min(axis=1) / reachable)[:, partial]
    ratios = np.where(times[lowest[:, partial]] < truth[:, None], ratios, np.inf)
    best = ratios.min(axis=1)
    ordered = in_order(trajectory)
    detail = f"{NEAREST_ORDER}: {orders_in_words(trajectory)}. "
    detail += f"KL to the rungs reaches its minima in order (A1) in {np.sum(ordered)} of {len(ordered)} seeds."
    return claim.finding([run], best, best < NEARER, detail)


@judged
def staircase_survives(
    claim: Claim, *runs: Run, names: tuple[str, ...], beside: dict[str, Run] | None = None
) -> Finding:
    """In order and nearer than confidence alone in every run; runs `beside` are reported and do not count."""
    if len(runs[0][0].task.blocks) < 2:
        return claim.not_run("The chain has one block, so there is only one stage.")
    trajectories = {name: trajectory for name, (_, trajectory) in zip(names, runs, strict=True)}
    told = [
        f"For comparison, not counted: with {name} both hold in {np.sum(survives(trajectory))} of "
        f"{len(trajectory.seeds)} seeds."
        for name, (_, trajectory) in (beside or {}).items()
    ]
    detail = " ".join([_orders_by_run(trajectories), _distances_by_run(trajectories), *told])
    if len(runs) == 1:  # a part for each of the two, as a part for the run would repeat the verdict
        ((_, trajectory),) = runs
        return claim.all_of(runs, _traits(trajectory), detail, survives(trajectory))
    return claim.all_of(runs, {name: survives(trajectory) for name, trajectory in trajectories.items()}, detail)


def _traits(trajectory: Trajectory) -> dict[str, np.ndarray]:
    return {
        "minima in order": in_order(trajectory),
        "nearer than by confidence alone": np.all(distance_ratios(trajectory) < NEARER, axis=1),
    }


def survives(trajectory: Trajectory) -> np.ndarray:
    """In order, and every lower rung approached nearer than by confidence alone."""
    return np.all(list(_traits(trajectory).values()), axis=0)


def _distances_by_run(trajectories: Mapping[str, Trajectory]) -> str:
    """For every lower rung how near each run comes, beside confidence alone, and in how many seeds it is nearer."""
    said = []
    for name, trajectory in trajectories.items():
        ratios = distance_ratios(trajectory)
        nearer = np.sum(ratios < NEARER, axis=0)
        rungs = (f"{over_seeds(column).median:.2f} ({count})" for column, count in zip(ratios.T, nearer, strict=True))
        said.append(f"{name} {', '.join(rungs)}" if len(trajectories) > 1 else ", ".join(rungs))
    return (
        "Smallest distance to each lower rung, relative to that by confidence alone (medians; in brackets the seeds "
        f"below {NEARER:g}): {'; '.join(said)}."
    )


def _orders_by_run(trajectories: Mapping[str, Trajectory]) -> str:
    """The order of the blocks that fits the distances best; runs with the same order share a sentence."""
    alike: dict[str, list[str]] = {}
    for name, trajectory in trajectories.items():
        alike.setdefault(orders_in_words(trajectory), []).append(name)
    if len(alike) == 1:
        return f"{NEAREST_ORDER}: {next(iter(alike))}{', in each of these runs' * (len(trajectories) > 1)}."
    said = [f"ith {', '.join(names)}: {words}." for words, names in alike.items()]
    return f"{NEAREST_ORDER}, w{' W'.join(said)}"


def orders_in_words(trajectory: Trajectory) -> str:
    """ "1 2 3 (9 seeds), 2 1 3 (1)": the orders whose partial predictors are nearest, the most frequent first.

    Confidence alone comes nearest to those of some order, too. Where it is the same, the detail states it: the order
    then shows nothing.
    """
    if "kl_subsets" not in trajectory:
        return "(not measured)"
    found = [arrival_order(seed) for seed in trajectory["kl_subsets"]]
    named = [(" ".join(map(str, order)) or "unknown", count) for order, count in Counter(found).most_common()]
    told = ", ".join(f"{order} ({count}{' seeds' if place == 0 else ''})" for place, (order, count) in enumerate(named))
    if "kl_stageless_subsets" not in trajectory.facts:
        return told
    stageless = [arrival_order(seed[None]) for seed in np.asarray(trajectory.facts["kl_stageless_subsets"])]
    same = sum(one == other for one, other in zip(found, stageless, strict=True))
    return f"{told}; growing confidence alone would give the same order in {same} of them" if same else told
