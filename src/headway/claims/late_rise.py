"""Recall with repetition as paper B's appendix trains it: how much sooner, what overfits, and the late rise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.analysis import over_seeds
from headway.analysis.crossings import at_end, first_at_least
from headway.claims.claim import AnyRun, Claim, judged
from headway.claims.plateau_laws import LONGEST, censored, lasting
from headway.claims.recall import GAP
from headway.records import Finding, Trajectory

TRAINED = 0.9
"""Accuracy on sequences with the repetition of the training at which they count as learnt."""
DEEP = 0.5
"""Gap by which a run overfits deeply: where it is smaller, the accuracy without repetition may only lag behind."""
LATE = 0.1
"""Accuracy without repetition that a late rise gains."""
ABOUT = 1.5
"""A published factor counts as found within this factor of it."""
HALF = 0.5
"""Accuracy with repetition to which it is compared how soon it comes."""
ALIKE = 0.5
"""A head attends as the strongest of its layer does where it has this share of its attention."""


@judged
def sooner_by(claim: Claim, none: AnyRun, *some: AnyRun, published: float) -> Finding:
    """t(none) / min t(some): whether the best amount of repetition ends the plateau sooner by the published factor."""
    runs = (none, *some)
    lasted = lasting(runs)
    factor = lasted[:, 0] / np.min(lasted[:, 1:], axis=1)
    factor = np.where(np.isfinite(factor), factor, np.nan)
    within = np.abs(np.log(factor / published)) <= np.log(ABOUT)
    return claim.finding(runs, factor, within, censored(runs, LONGEST))


@judged
def overfits_then_rises(claim: Claim, *runs: AnyRun, late: bool, gap_of: float = GAP) -> Finding:
    """Accuracy with repetition, when it is learnt, less that without; and what the latter gains from there to the end.

    A run overfits where the first is `gap_of` or more. Where `late`, the gain is asked for, else the gap.
    """
    gaps, gains = zip(*(_then(run[1]) for run in runs), strict=True)
    gap, gain = np.stack(gaps, axis=1), np.stack(gains, axis=1)
    over = np.where(np.isnan(gap), -np.inf, gap) >= gap_of
    largest = np.max(np.where(np.isnan(gap), -np.inf, gap), axis=1)
    rise = np.max(np.where(over & np.isfinite(gain), gain, -np.inf), axis=1)
    number = rise if late else largest  # -inf where nothing overfits, or nothing is learnt: that could have been seen
    words = [f"{int(over.sum())} of {over.size} runs and seeds overfit."]
    if late and over.any():
        each = [
            f"{_repetition(settings)} {np.median(gain[own, place]):.2f}"
            for place, (settings, _) in enumerate(runs)
            if (own := over[:, place]).any()
        ]
        words.append(f"Gain after that, run by run: {', '.join(each)} (medians).")
    return claim.finding(runs, number, number >= (LATE if late else gap_of), " ".join(words))


def _repetition(settings: Any) -> str:
    task = settings.task
    return f"B = {task.copies:g}" if task.copies > 1 else f"p = {task.favoured:g}"


def _then(trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Gap when the repeated sequences are learnt, and what the others gain afterwards; NaN where they never are."""
    times, repeated, plain = trajectory.times("accuracy"), trajectory["accuracy_repeated"], trajectory["accuracy"]
    at = first_at_least(times, repeated, TRAINED)
    place = np.searchsorted(times, np.nan_to_num(at))
    seeds = np.arange(len(at))
    there = np.isfinite(at)
    gap = repeated[seeds, place] - plain[seeds, place]
    return np.where(there, gap, np.nan), np.where(there, at_end(plain) - plain[seeds, place], np.nan)


@judged
def helps_in_training(claim: Claim, none: AnyRun, *some: AnyRun, copied: int) -> Finding:
    """t(accuracy_repeated) never grows with B, nor with p; the first `copied` of `some` have copies."""
    runs = (none, *some)
    times = [first_at_least(run.times("accuracy"), run["accuracy_repeated"], HALF) for _, run in runs]
    lasted = np.stack([np.where(np.isnan(each), np.inf, each) for each in times], axis=1)
    rows = {"B": [0, *range(1, 1 + copied)], "p": [0, *range(1 + copied, len(runs))]}
    parts = {
        f"with {name}": np.all(lasted[:, row][:, 1:] <= lasted[:, row][:, :-1], axis=1) for name, row in rows.items()
    }
    ratio = lasted[:, 0] / np.min(lasted[:, 1:], axis=1)
    value = np.where(np.isfinite(ratio), ratio, np.nan)
    holds = np.all(list(parts.values()), axis=0) & np.isfinite(value)
    return claim.finding(runs, value, holds, censored(runs, LONGEST), parts)


@judged
def last_layers(claim: Claim, *runs: AnyRun) -> Finding:
    """Values attend to their keys in the last layer but one, the query to its value in the last, in all heads alike."""
    shown, least = [], []
    for _, trajectory in runs:
        if "attention_previous" not in trajectory:
            return claim.not_run("A model of one layer cannot show it.")
        ends = [at_end(trajectory[f"attention_{name}"]) for name in ("previous", "relevant")]
        found, alike = zip(*(_in_last_layer(end) for end in ends), strict=True)
        shown.append(np.all(found, axis=0))
        least.append(np.min(alike, axis=0))
    every, share = np.stack(shown, axis=1), np.stack(least, axis=1)
    parts = {"last layers": every.all(axis=1), "all heads": np.all(share >= ALIKE, axis=1)}
    value = over_rows(share)
    words = f"Of {every.size} runs and seeds, {int(every.sum())} have both in the last layers."
    return claim.finding(runs, value, np.all(list(parts.values()), axis=0), words, parts)


def _in_last_layer(heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether the last layer's mean over heads is the largest; and its weakest head, relative to its strongest."""
    mean = heads.mean(axis=2)
    last = heads[:, -1]
    return np.argmax(np.nan_to_num(mean), axis=1) == mean.shape[1] - 1, last.min(axis=1) / last.max(axis=1)


def over_rows(values: np.ndarray) -> np.ndarray:
    """The median of each row's numbers; NaN where there is none."""
    return np.array([found.median if (found := over_seeds(row)).seeds else np.nan for row in values])


def by_repetition(runs: Sequence[AnyRun]) -> tuple[list[AnyRun], list[AnyRun], list[AnyRun]]:
    """Runs without any, with copies, with favourite queries; the least of it first."""
    copied = sorted((run for run in runs if run[0].task.copies > 1), key=lambda run: run[0].task.copies)
    favoured = sorted((run for run in runs if run[0].task.favoured > 0), key=lambda run: run[0].task.favoured)
    return [run for run in runs if run[0].task.copies == 1 and run[0].task.favoured == 0], copied, favoured
