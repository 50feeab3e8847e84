"""What was tested of the other papers' numbers that lie outside of our seeds, in words with the records' numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from headway.analysis import nearest_rung
from headway.analysis.crossings import first_at_most
from headway.claims import loss_plateau
from headway.claims.claim import AnyRun

Runs = Mapping[tuple[str, str], AnyRun]
Cause = Callable[[Runs, np.ndarray], str]
"""From all runs at paper scale, by experiment and name, and from what each seed shows; empty if it was not found."""
UNIGRAM, BIGRAM = 1, 2
SLOWER = (1.673, 1.663, 1.687)
"""Loss at step 115 of trigrams of 32 tokens at a rate of 0.001: median and range of ten seeds; not stored."""
OURS, PAPERS = 4096, 16_384
"""Sequences of a test set of sub-n-grams."""
MEAN, DEVIATION = 1.4995, 0.247
"""Of the bigram's loss, over sequences."""
OTHER_SETS = (1.493, 1.507, 7, 40)
"""The bigram's loss on other test sets: lowest, highest, at most 1.4955 in so many of so many; not stored."""


def not_found(runs: Runs, ours: np.ndarray) -> str:
    return ""


def of_the_test_set(runs: Runs, ours: np.ndarray) -> str:
    """Induction's plateau: it follows the unigram's KL on the sequences that a seed is tested on."""
    settings, trajectory = runs["induction", "3 states"]
    own = np.asarray(trajectory.facts["rung_loss"], float)[:, UNIGRAM]
    middle = _half_way(trajectory.times("loss"), trajectory["loss"], nearest_rung(trajectory["kl_rungs"]) == UNIGRAM)
    return (
        f"The level goes with the sequences that a seed is tested on, {settings.training.test_samples} of ours: the "
        f"unigram itself has {_span(own)} on them (correlation with the plateau "
        f"{np.corrcoef(own, ours)[0, 1]:.2f}). It also depends on the reading: half-way through the plateau, instead "
        f"of the median over it, ours is {_span(middle)}, which includes it. On the authors' own sequences it was not "
        "tested."
    )


def _half_way(times: np.ndarray, losses: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The loss in the middle of the time at which a rung is the nearest: (seed,)."""
    found = []
    for loss, own in zip(losses, there, strict=True):
        ends = times[own][[0, -1]] if own.any() else np.full(2, np.nan)
        found.append(np.interp(ends.mean(), times, loss) if own.any() else np.nan)
    return np.array(found)


def of_the_bigram(run: str) -> Cause:
    """Sub-n-grams' plateau: as high as the bigram's loss on the sequences that were drawn."""

    def cause(runs: Runs, ours: np.ndarray) -> str:
        own = np.asarray(runs["sub-n-grams", run][1].facts["rung_loss"], float)[:, BIGRAM]
        off, (low, high, few, sets) = ours - own, OTHER_SETS
        return (
            f"The level is that of the sequences that were drawn for the test. The bigram itself has {_span(own)} on "
            f"those of our seeds, and the plateau lies {off.min():+.3f} to {off.max():+.3f} from it. With nothing "
            f"changed but the draw, the bigram has {low:.3f} to {high:.3f} on {sets} other sets of {OURS} sequences, "
            f"and at most 1.4955 on {few} of them (not stored). Such sets vary by {DEVIATION / np.sqrt(OURS):.3f} "
            f"(standard deviation) around {MEAN:.4f}; sets of {PAPERS}, as the paper has them, by "
            f"{DEVIATION / np.sqrt(PAPERS):.3f}, so that 1.495 would be a low draw there."
        )

    return cause


def of_the_rate(runs: Runs, ours: np.ndarray) -> str:
    """Sub-n-grams at step 115: at a tenth of the rate it is as published."""
    trajectory = runs["sub-n-grams", "trigrams, 32 tokens"][1]
    passed = first_at_most(trajectory.times("loss"), trajectory["loss"], 1.668)
    median, low, high = SLOWER
    return (
        f"Tested: the learning rate. At 0.001, that of the authors' code today, and nothing else changed, it is "
        f"{median:.3f} ({low:.3f} to {high:.3f}): inside (ten seeds on a CPU up to this step, not stored). At 0.01, "
        f"the rate when the figures were made, ours passes 1.668 at steps {np.nanmin(passed):.0f} to "
        f"{np.nanmax(passed):.0f}. Layer 2 with scores of rank 5, as an earlier version of that code has them, does "
        "not suffice: 1.648 (1.626 to 1.663) at 0.01."
    )


def of_the_step(runs: Runs, ours: np.ndarray) -> str:
    """The cosine: 0.95 at the step for which the account states repetition."""
    trajectory = runs["loss-plateau", "usual"][1]
    then = trajectory["cosine"][:, np.argmin(np.abs(trajectory.times("cosine") - 50))]
    return (
        f"A matter of reading. At step 50, for which the same account states repetition, the cosine is "
        f"{_span(then, '.2f')}, which includes it; the largest comes later in every seed."
    )


def of_the_peak(runs: Runs, ours: np.ndarray) -> str:
    """Repetition: its largest value, and the same with softmax attention."""
    most = loss_plateau.peak(runs["loss-plateau", "usual"], "repetition")
    words = (
        f"Cause not found. Seeds differ widely. The largest share on the plateau, at whatever step, is "
        f"{_span(most, '.2f')}, so that 0.8 (0.75 to 0.85) is reached by {np.sum(most >= 0.75)} of {len(most)} seeds, "
        "and by none at step 50."
    )
    if ("loss-plateau", "softmax") in runs:
        softer = loss_plateau.peak(runs["loss-plateau", "softmax"], "repetition")
        words += f" With softmax attention, and nothing else changed, the largest share is {_span(softer, '.2f')}."
    return f"{words} The source is a third party's account."


def _span(ours: np.ndarray, digits: str = ".3f") -> str:
    """Median and range over seeds."""
    known = ours[np.isfinite(ours)]
    return f"{np.median(known):{digits}} ({known.min():{digits}} to {known.max():{digits}})"
