"""How much data there is decides how many rungs are climbed, and where to stop."""

from __future__ import annotations

import math

import numpy as np

from headway.analysis import over_seeds
from headway.analysis.seed_stages import ladder_stages, rungs_met
from headway.claims.claim import Claim, Run, judged
from headway.records import Finding, Trajectory


def by_size(runs: tuple[Run, ...]) -> tuple[list[float], list[Trajectory]]:
    ordered = sorted(runs, key=lambda run: run[0].training.size)
    return [settings.training.size for settings, _ in ordered], [trajectory for _, trajectory in ordered]


def best_steps(trajectory: Trajectory) -> np.ndarray:
    """The first step of the lowest validation loss of each seed: (seed,)."""
    return trajectory.times("excess_loss")[_lowest(trajectory["excess_loss"])]


def _lowest(losses: np.ndarray) -> np.ndarray:
    """Where each row reaches its minimum; what is not a number is never."""
    return np.argmin(np.where(np.isfinite(losses), losses, np.inf), axis=1)


def rungs_at_best(trajectory: Trajectory) -> np.ndarray:
    """The rung of each seed at its best step."""
    return np.array(
        [stages.at(float(step)) for stages, step in zip(ladder_stages(trajectory), best_steps(trajectory), strict=True)]
    )


def critical_sizes(sizes: list[float], counts: np.ndarray, rungs: int) -> np.ndarray:
    """From which size on there are at least so many stages, or infinity: counts (size, seed) -> (seed,)."""
    enough = np.logical_and.accumulate((counts >= rungs)[::-1], axis=0)[::-1]
    return np.where(enough.any(axis=0), np.asarray(sizes)[np.argmax(enough, axis=0)], np.inf)


@judged
def fewer_samples_fewer_stages(claim: Claim, *runs: Run) -> Finding:
    """n(S) never falls with S, and rises somewhere."""
    return _grows(claim, runs, rungs_met, critical=True)


@judged
def early_stopping_picks_the_rung(claim: Claim, *runs: Run) -> Finding:
    """The rung at the best step never falls with S, and rises somewhere."""
    return _grows(claim, runs, rungs_at_best, critical=False)


def _grows(claim: Claim, runs: tuple[Run, ...], count, critical: bool) -> Finding:
    if len(runs) < 2:
        return claim.not_run("It needs two sizes or more.")
    if len(runs[0][0].task.blocks) < 2:
        return claim.not_run("The chain has one block, so there is only one stage.")
    sizes, trajectories = by_size(runs)
    counts = np.stack([count(trajectory) for trajectory in trajectories])
    medians = ", ".join(f"{size:g}: {np.median(row):g}" for size, row in zip(sizes, counts, strict=True))
    detail = f"Medians over seeds, size by size: {medians}.".replace("inf", "fresh")
    if critical:
        blocks = len(runs[0][0].task.blocks)
        found = {rungs: over_seeds(critical_sizes(sizes, counts, rungs)) for rungs in range(2, blocks + 1)}
        for rungs, over in found.items():
            if over.seeds:
                interval = f" [{over.low:g}, {over.high:g}]" if math.isfinite(over.low) else ""  # one seed has none
                never = f" ({over.missing} seeds at none of the sizes tried)" if over.missing else ""
                detail += f" {rungs} stages from {over.median:g} samples on{interval}{never}."
    parts = {
        "never falls": np.all(np.diff(counts, axis=0) >= 0, axis=0),
        "smaller for the smallest": counts[-1] > counts[0],
    }
    return claim.all_of(runs, parts, detail, counts[-1] - counts[0])


@judged
def choosing_the_length_pays(claim: Claim, *runs: Run) -> Finding:
    """Runs that see everything and their n-gram models, in any order; sizes larger than the batch are left aside."""
    small = [run for run in runs if run[0].training.size <= run[0].training.batch]
    sizes = sorted({settings.training.size for settings, _ in small})
    gains, chosen = [], []
    for size in sizes:
        here = [run for run in small if run[0].training.size == size]
        whole = [run for run in here if run[0].task.context is None]
        windows = [run for run in here if run[0].task.context is not None]
        if len(whole) == 1 and len(windows) > 1:
            stopped = np.stack([_stopped(run[1]) for run in windows])  # (length, seed, half)
            picked = np.argmin(stopped[:, :, 0], axis=0)
            gains.append(_stopped(whole[0][1])[:, 1] - np.take_along_axis(stopped[:, :, 1], picked[None], axis=0)[0])
            lengths = np.array([run[0].task.context for run in windows])[picked]
            chosen.append(f"{size:g}: {np.median(lengths):g} ({np.median(gains[-1]):+.3f})")
    if not gains:
        return claim.not_run("No n-gram models were trained with the small sets.")
    mean = np.mean(gains, axis=0)
    return claim.finding(
        runs, mean, mean > 0, f"Chosen length and gain, medians over seeds, size by size: {', '.join(chosen)}."
    )


def _stopped(trajectory: Trajectory) -> np.ndarray:
    """Excess loss on both halves of the test sequences at the best step by the first half: (seed, 2)."""
    halves = trajectory["excess_halves"]
    best = _lowest(halves[:, :, 0])
    return halves[np.arange(len(halves)), best]
