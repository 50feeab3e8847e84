"""B3 and B5 to B7 on transformers that learn single-location regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.analysis import over_seeds
from headway.analysis.crossings import at_end, first_at_most, for_good
from headway.claims.claim import AnyRun, Claim, judged
from headway.claims.plateau_laws import (
    NEAR,
    WITHIN,
    PublishedLaw,
    censored,
    ending_at,
    judge_constant,
    judge_exponent,
    judge_growth,
    plateau,
    plateaus,
)
from headway.records import Finding

SILENCE = 0.5
"""Loss of answering 0."""
EARLY = 0.9
"""Share of that loss at which a plateau begins to end."""
MOVED = 0.1
"""Share of its way after which a quantity has moved."""
LEVELS = (0.4, 0.2)
"""Losses above the threshold at which the power of B is told, too."""
ACROSS = 0.4
"""Loss at which a plateau ends where cross-sample repetition is compared."""
LAW = PublishedLaw(0.76, {"dimension": 1.29, "length": 0.80, "copies": -0.80})
"""0.76 d^1.29 T^0.80 B^-0.80."""

ONE_COPY = PublishedLaw(0.76, {"dimension": 1.29, "length": 0.80})
"""The same where B is 1 in all runs."""
LENGTH_ALONE = PublishedLaw(1.0, {"length": 0.80})
"""And d is the same."""

_STATEMENT = "A transformer's plateau on single-location regression lasts 0.76 d^1.29 T^0.80 B^-0.80 steps"
_FIT = (
    "Least squares on the logarithms of all plateaus that ended, seed by seed, in d, T and B (runs with copies are "
    "tested with as many): "
)

B3 = Claim(
    "B3",
    f"{_STATEMENT}: the power of d.",
    f"{_FIT}that of d is within {NEAR} of 1.29. The models' start, variance 1 / fan-in, was chosen when two sizes of "
    "it and of Xavier's start had been seen.",
    "exponent of d",
)
B3_LENGTH = Claim(
    "B3 length", f"{_STATEMENT}: the power of T.", f"{_FIT}that of T is within {NEAR} of 0.80.", "exponent of T"
)
B3_COPIES = Claim(
    "B3 copies", f"{_STATEMENT}: the power of B.", f"{_FIT}that of B is within {NEAR} of -0.80.", "exponent of B"
)
B3_CONSTANT = Claim(
    "B3 constant",
    f"{_STATEMENT}: the constant.",
    f"With the published exponents, the constant that fits a seed's plateaus best is within a factor of {WITHIN:g} "
    "of 0.76.",
    "constant, in steps",
)
_XAVIER = "The same law with Xavier's start and an orthogonal embedding"
B3_XAVIER = Claim(
    "B3 Xavier",
    f"{_XAVIER}: the power of d. (Not in the slides.)",
    f"As B3, from the runs that start so, which have no copies: within {NEAR} of 1.29.",
    "exponent of d",
)
B3_XAVIER_LENGTH = Claim(
    "B3 Xavier length",
    f"{_XAVIER}: the power of T. (Not in the slides.)",
    f"As B3 length, from the runs that start so, which have no copies: within {NEAR} of 0.80.",
    "exponent of T",
)
B5_TRANSFORMER = Claim(
    "B5 transformer",
    "In a transformer, too, the transition is sharp, and what it makes of the relevant vector is learnt before "
    "attention is.",
    f"In every run without repetition the loss falls from {EARLY:.0%} of 1/2, which answering 0 costs, to the "
    f"threshold in less time than it took to get to {EARLY:.0%}; and E<y, y*>, where every position holds the relevant "
    f"vector, is above {MOVED:g} for good before the head that attends to the relevant position most in the end has "
    f"come {MOVED:.0%} of the way from uniform attention to 1 for good.",
    "time of the fall, relative to the time before it; the longest of all runs",
)
B6_TRANSFORMER = Claim(
    "B6 transformer",
    "A transformer's plateau grows with T and d.",
    "Without repetition, the plateau is strictly longer for every next larger T at the same d, and for every next "
    "larger d at the same T.",
    "longest plateau, relative to the shortest",
)
B7_TRANSFORMER = Claim(
    "B7 transformer",
    "Repetition shortens a transformer's plateau, and repeating in the context is more efficient than across samples.",
    "At the same T and d the plateau, tested with the copies of the training, is strictly shorter for every next "
    "larger B; the time to a loss of "
    f"{ACROSS:g}, without repetition in the test, is strictly shorter for every next larger p, 0 included; and a "
    "doubling of B shortens the one by a larger factor than a doubling of p the other, on average from the smallest B "
    "to the largest and from the smallest p above 0 to the largest.",
    "by what factor a doubling of B shortens the plateau, relative to one of p",
)


@judged
def law_exponent(claim: Claim, *runs: AnyRun, factor: str, law: PublishedLaw = LAW) -> Finding:
    """One power of B3, from the runs without cross-sample repetition."""
    found = judge_exponent(claim, law, in_context(runs), factor)
    if not found.holds or factor == "dimension":
        return found
    more = length_by_dimension(runs) if factor == "length" else copies_by_level(in_context(runs))
    return replace(found, detail=f"{found.detail} {more}".strip())


@judged
def law_constant(claim: Claim, *runs: AnyRun) -> Finding:
    """What stands before the powers of B3."""
    return judge_constant(claim, LAW, in_context(runs))


@judged
def sharp_and_in_order(claim: Claim, *runs: AnyRun) -> Finding:
    """t(threshold) - t(early) < t(early), and the gain moves before attention, in every run without repetition."""
    plain = without_repetition(runs)
    if not plain:
        return claim.not_run("It needs a run without repetition.")
    falls, ordered = [], []
    for settings, trajectory in plain:
        times = trajectory.times("loss")
        early = first_at_most(times, trajectory["loss"], EARLY * SILENCE)
        with np.errstate(divide="ignore", invalid="ignore"):
            falls.append((plateau((settings, trajectory)) - early) / early)
        curve, uniform = best_head(trajectory["attention_relevant"]), 1 / settings.length
        moved = for_good(times, curve, uniform + MOVED * (1 - uniform))
        ordered.append(for_good(times, trajectory["gain"], MOVED) < moved)
    fall, order = np.stack(falls, axis=1), np.stack(ordered, axis=1)
    sharp, first = np.all(fall < 1, axis=1), np.all(order, axis=1)
    detail = f"Of {len(plain)} runs with {len(fall)} seeds, {np.sum(fall < 1)} are sharp and {np.sum(order)} in order."
    return claim.finding(plain, fall.max(axis=1), sharp & first, detail, {"sharp": sharp, "attention later": first})


@judged
def grows_with_length_and_dimension(claim: Claim, *runs: AnyRun) -> Finding:
    """Strictly, along both axes."""
    lacking = "It needs two lengths of one dimension and two dimensions of one length."
    return judge_growth(claim, without_repetition(runs), {"length": "T", "dimension": "d"}, lacking)


@judged
def repetition_shortens(claim: Claim, *runs: AnyRun) -> Finding:
    """B and p make the plateau shorter, and B does so faster; at the one size at which both change."""
    copied = sorted((run for run in runs if run[0].task.copies > 1), key=lambda run: run[0].task.copies)
    shared = sorted((run for run in runs if run[0].task.repeated > 0), key=lambda run: run[0].task.repeated)
    sizes = {(run[0].task.length, run[0].task.dimension) for run in shared}
    copied = [run for run in copied if (run[0].task.length, run[0].task.dimension) in sizes]
    base = [run for run in without_repetition(runs) if (run[0].task.length, run[0].task.dimension) in sizes]
    if len(sizes) != 1 or len(base) != 1 or not copied or len(shared) < 2:
        return claim.not_run("It needs one size with a run without repetition, one with copies and two with shares.")
    by_copies = plateaus(base + copied)
    to_level = [first_at_most(run[1].times("loss"), run[1]["loss"], ACROSS) for run in base + shared]
    by_share = np.stack(to_level, axis=1)
    fewer, rarer = (np.all(np.diff(times, axis=1) < 0, axis=1) for times in (by_copies, by_share))
    shares = [run[0].task.repeated for run in shared]
    with np.errstate(divide="ignore", invalid="ignore"):
        per_copies = np.log(by_copies[:, 0] / by_copies[:, -1]) / np.log2(copied[-1][0].task.copies)
        per_share = np.log(by_share[:, 1] / by_share[:, -1]) / np.log2(shares[-1] / shares[0])
    faster = per_copies > per_share
    used = base + copied + shared
    parts = {"shorter with B": fewer, "shorter with p": rarer, "B more efficient": faster}
    return claim.finding(used, np.exp(per_copies - per_share), fewer & rarer & faster, censored(base + copied), parts)


def length_by_dimension(runs: Sequence[AnyRun]) -> str:
    """The power of T at each d by itself, where it has two lengths: the median over seeds."""
    said = []
    for dimension in sorted({run[0].task.dimension for run in runs}):
        own = [run for run in without_repetition(runs) if run[0].task.dimension == dimension]
        if len({run[0].task.length for run in own}) > 1:
            powers = LENGTH_ALONE.fit(own).exponents[:, 0]
            said.append(f"{over_seeds(powers).median:.2f} at d = {dimension}")
    return f"The power of T is {', '.join(said)}." if said else ""


def copies_by_level(runs: Sequence[AnyRun]) -> str:
    """The power of B where the plateau is taken to end at a higher loss: the median over seeds."""
    place = list(LAW.exponents).index("copies")
    said = []
    for level in LEVELS:
        powers = LAW.fit(ending_at(runs, level)).exponents[:, place]
        said.append(f"{over_seeds(powers).median:.2f} to a loss of {level:g}")
    return f"The power of B is {', '.join(said)}."


def in_context(runs: Sequence[AnyRun]) -> list[AnyRun]:
    """Those without cross-sample repetition."""
    return [run for run in runs if run[0].task.repeated == 0]


def without_repetition(runs: Sequence[AnyRun]) -> list[AnyRun]:
    """Those with one copy, and no cross-sample repetition."""
    return [run for run in in_context(runs) if run[0].task.copies == 1]


def best_head(attention: np.ndarray) -> np.ndarray:
    """The curve of the head that looks most where it should at the end: (seed, time) of (seed, time, layer, head)."""
    flat = attention.reshape(*attention.shape[:2], -1)
    best = np.argmax(np.nan_to_num(at_end(flat)), axis=1)
    return flat[np.arange(len(flat)), :, best]
