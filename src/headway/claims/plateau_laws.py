"""How long plateaus last and how they end: the slides' laws, and predicates for the toy, transformers and recall.

A run's plateau is its fact `plateau`. A published exponent counts as found within 0.05 for the toy: over the eight-fold
range of d and the sixteen-fold one of T that moves a plateau by 10 to 15 %, as much as two digits and the choice of a
grid leave open. Its constant counts as found within a factor of 1.25, because it makes up for what exponents miss: 0.02
in that of T are a factor of 1.15. For transformers it is 0.2, which over the eight-fold range of a size moves a plateau
by half, and a factor of 2, because a constant depends on how models start, which the slides do not say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from headway.analysis import over_seeds
from headway.analysis.crossings import at_end, ending_at, first_at_most, for_good
from headway.analysis.power_laws import PowerLaws, fit_power_laws, in_words
from headway.claims.claim import AnyRun, Claim, judged
from headway.records import Finding, Trajectory

SILENCE = 0.5
"""Loss of answering 0 where y* is to be predicted."""
EARLY = 0.9
"""Share of the first loss at which a plateau begins to end."""
MOVED = 0.1
"""Share of its way after which a quantity has moved."""
LONGEST = "count as longer than all others"
"""What is done with plateaus that never ended where lengths are compared."""
OWN_CLOCK = "escape"
"""Counts closed forms of a toy's plateau."""
ACROSS_SIZE = "(sqrt(d) T / sqrt(p^2 d + (1-p)^2))"
FACTORS: Mapping[str, Callable[[Any], float]] = {
    "d": lambda task: task.dimension,
    "T": lambda task: task.length,
    "B": lambda task: task.copies,
    "(T/B)": lambda task: task.length / task.copies,
    ACROSS_SIZE: lambda task: math.sqrt(task.dimension) * task.length / _repetition(task.dimension, task.repeated),
    "N_tokens": lambda task: task.vocab,
    "N_pairs": lambda task: task.pairs,
}
"""Symbol -> the size of a task."""


def _repetition(dimension: float, share: float) -> float:
    return math.sqrt(share * share * dimension + (1 - share) * (1 - share))


@dataclass(frozen=True)
class PublishedLaw:
    """plateau = constant x_1^{a_1} x_2^{a_2} .., in steps."""

    constant: float
    powers: Mapping[str, float]
    """Symbol of a factor -> its power."""
    near: float = 0.2
    """How far an exponent may be from the published one."""
    within: float = 2.0
    """By which factor a constant may differ from the published one."""
    ends_at: str = "a loss"
    """Of what a level ends its plateaus."""

    @property
    def words(self) -> str:
        """0.76 d^1.29 T^0.80 B^-0.80."""
        return in_words(self.constant, list(self.powers.values()), list(self.powers))

    def predict(self, every: Sequence[Any]) -> np.ndarray:
        """Steps, from settings: (settings,)."""
        return self.constant * np.prod(sizes(self.powers, every) ** np.array(list(self.powers.values())), axis=1)

    def steps(self, run: AnyRun) -> float:
        """Of one run."""
        return float(self.predict([run[0]])[0])

    def beside_fit(self, runs: Sequence[AnyRun]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What was measured and what the fitted laws say of it, (seed, run), and what this one says, (run,)."""
        every = [settings for settings, _ in runs]
        return plateaus(runs), fit(self.powers, runs).predict(sizes(self.powers, every)), self.predict(every)

    def constants(self, runs: Sequence[AnyRun]) -> np.ndarray:
        """The best constant with the published exponents: (seed,), NaN for a seed of which no plateau ended."""
        lasted = plateaus(runs)
        known = lasted > 0
        off = np.log(np.where(known, lasted, 1) / self.predict([settings for settings, _ in runs]))
        counted = known.sum(axis=1)
        total = np.sum(np.where(known, off, 0), axis=1)
        return self.constant * np.exp(np.where(counted > 0, total / np.maximum(counted, 1), np.nan))


CONTEXT = PublishedLaw(1.51, {"d": 0.49, "(T/B)": 0.99}, near=0.05, within=1.25)
"""The toy, with copies in the context."""
ACROSS = PublishedLaw(2.15, {ACROSS_SIZE: 1.02}, near=0.05, within=1.25)
"""The toy, with a vector that is repeated across samples."""
LOCATION = PublishedLaw(0.76, {"d": 1.29, "T": 0.80, "B": -0.80})
"""Transformers on the toy's task."""
RECALL = PublishedLaw(0.55, {"N_tokens": 0.79, "N_pairs": 2.25}, ends_at="an accuracy")
"""Transformers on associative recall."""


def task_of(settings: Any) -> Any:
    """What has the sizes: the task of a training, or the toy, which is nothing but one."""
    return getattr(settings, "task", settings)


def sizes(factors: Collection[str], every: Sequence[Any]) -> np.ndarray:
    """The factors of every settings: (settings, factor)."""
    return np.array([[float(FACTORS[name](task_of(settings))) for name in factors] for settings in every])


def plateau(run: AnyRun) -> np.ndarray:
    """How many steps the plateau of every seed lasted, or flow time; NaN where it never ended: (seed,)."""
    settings, trajectory = run
    lasted = np.asarray(trajectory.facts["plateau"], float)
    if OWN_CLOCK in trajectory.clocks and hasattr(settings, "training"):
        # Older records of the toy tell time, which is steps times their length.
        lasted = lasted / settings.training.learning_rate
    return np.where(np.isfinite(lasted), lasted, np.nan)


def unit_of(trajectory: Trajectory) -> np.ndarray | float:
    """What the clock of a run counts: steps; or, of flows of the toy and in older records, closed forms: (seed,)."""
    return trajectory.facts["closed_form"] if trajectory.clock_of["loss"] == OWN_CLOCK else 1.0


def plateaus(runs: Sequence[AnyRun]) -> np.ndarray:
    """Of every seed and run, NaN where they never ended: (seed, run)."""
    return np.stack([plateau(run) for run in runs], axis=1)


def lasting(runs: Sequence[AnyRun]) -> np.ndarray:
    """The same where lengths are compared: those that never ended are longer than all others."""
    lasted = plateaus(runs)
    return np.where(np.isnan(lasted), np.inf, lasted)


def ending(runs: Sequence[AnyRun], level: float) -> list[AnyRun]:
    """The same runs with plateaus that end at another loss or accuracy."""
    return [(settings, ending_at(trajectory, level)) for settings, trajectory in runs]


def powers_by_end(runs: Sequence[AnyRun], law: PublishedLaw, factor: str, levels: Sequence[float]) -> list[str]:
    """The exponent of a factor where plateaus end otherwise, in words; nothing of those at which none ends."""
    place = list(law.powers).index(factor)
    found = ((level, over_seeds(fit(law.powers, ending(runs, level)).exponents[:, place])) for level in levels)
    end = f"for plateaus that end at {law.ends_at} of"
    return [f"{over.median:.2f} {end} {level:g}" for level, over in found if over.seeds]


def fit(factors: Collection[str], runs: Sequence[AnyRun]) -> PowerLaws:
    """The law of plateaus in these factors, seed by seed."""
    return fit_power_laws(sizes(factors, [settings for settings, _ in runs]), plateaus(runs))


def lasts(found: PowerLaws, factors: Collection[str]) -> str:
    """A fitted law as a sentence; nothing where no seed has one."""
    words = found.in_words(list(factors))
    return f"The plateau is {words} (medians over seeds)." if words else ""


def censored(runs: Sequence[AnyRun], counted: str = "are left out") -> str:
    """How many plateaus never ended, and what was done with them."""
    lasted = plateaus(runs)
    lost = int(np.sum(~np.isfinite(lasted)))
    return f"{lost} of {lasted.size} plateaus never ended and {counted}." if lost else ""


@judged
def law_exponent(claim: Claim, *runs: AnyRun, law: PublishedLaw, factor: str) -> Finding:
    """Whether the exponent of one factor is the published one."""
    place = list(law.powers).index(factor)
    if len(np.unique(sizes(law.powers, [settings for settings, _ in runs])[:, place])) < 2:
        return claim.not_run("It needs runs with two values of this factor.")
    found = fit(law.powers, runs)
    near = np.abs(found.exponents[:, place] - law.powers[factor]) <= law.near
    words = f"{lasts(found, law.powers)} {censored(runs)}".strip()
    return claim.finding(runs, found.exponents[:, place], near, words)


@judged
def law_constant(claim: Claim, *runs: AnyRun, law: PublishedLaw, fitted: bool = False) -> Finding:
    """Whether the constant is the published one: with the published exponents, or with those that are `fitted`."""
    found = fit(law.powers, runs).constants if fitted else law.constants(runs)
    with np.errstate(invalid="ignore"):
        within = np.abs(np.log(found / law.constant)) <= np.log(law.within)
    return claim.finding(runs, found, within, censored(runs))


@judged
def grows(claim: Claim, *runs: AnyRun, factors: tuple[str, str]) -> Finding:
    """Whether plateaus are strictly longer at the next larger value of each of two factors, where the other agrees."""
    parts = {}
    for along, beside in (factors, factors[::-1]):
        found = _rises(runs, along, beside)
        if found is None:
            return claim.not_run(f"It needs two values of {along} at one {beside}, and two of {beside} at one {along}.")
        parts[f"grows with {along}"] = found
    lasted = plateaus(runs)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = lasted.max(axis=1) / lasted.min(axis=1)
    value, holds = np.where(np.isfinite(ratio), ratio, np.nan), np.all(list(parts.values()), axis=0)
    return claim.finding(runs, value, holds, censored(runs, LONGEST), parts)


def _rises(runs: Sequence[AnyRun], along: str, beside: str) -> np.ndarray | None:
    """In which seeds they do; a plateau that never ended is longer than all that did. None without two to compare."""
    lasted = lasting(runs)
    numbers = sizes((along, beside), [settings for settings, _ in runs])
    steps = []
    for other in np.unique(numbers[:, 1]):
        row = [place for place in np.argsort(numbers[:, 0]) if numbers[place, 1] == other]
        steps += [lasted[:, after] > lasted[:, before] for before, after in pairwise(row)]
    return np.all(steps, axis=0) if steps else None


@judged
def repetition_shortens(claim: Claim, *runs: AnyRun, copied: int, end: float | None = None) -> Finding:
    """B and p make the plateau shorter, at every T and d, and B does so faster.

    B changes in the first `copied` runs, p in the others, in which a plateau may `end` at another loss; those with one
    copy, or without repetition, are among them.
    """
    shared = runs[copied:] if end is None else ending(runs[copied:], end)
    by_copies, by_share = _by_size(runs[:copied], "copies"), _by_size(shared, "repeated")
    above_none = {size: [run for run in own if task_of(run[0]).repeated > 0] for size, own in by_share.items()}
    numbers = {size: {task_of(run[0]).copies for run in own} for size, own in by_copies.items()}
    shares = {size: {task_of(run[0]).repeated for run in own} for size, own in above_none.items()}
    if numbers.keys() != shares.keys() or min(map(len, (*numbers.values(), *shares.values()))) < 2:
        return claim.not_run("It needs two numbers of copies, and two shares above 0, at the same sizes.")
    fewer, rarer = (
        np.all([np.all(np.diff(plateaus(own), axis=1) < 0, axis=1) for own in each.values()], axis=0)
        for each in (by_copies, by_share)
    )
    of_copies = np.stack([_per_doubling(own, "copies") for own in by_copies.values()], axis=1)
    of_share = np.stack([_per_doubling(above_none[size], "repeated") for size in by_copies], axis=1)
    parts = {
        "shorter with B": fewer,
        "shorter with p": rarer,
        "B more efficient": np.all(of_copies > of_share, axis=1),
    }
    value, holds = np.exp(np.mean(of_copies, axis=1) - np.mean(of_share, axis=1)), np.all(list(parts.values()), axis=0)
    typical = [over_seeds(each.ravel()) for each in (of_copies, of_share)]
    words = ""
    if all(each.seeds for each in typical):
        copies, share = (f"{math.exp(each.median):.2f}-fold" for each in typical)
        words = f"Doubling B shortens the plateau {copies}, doubling p {share} (medians over sizes and seeds)."
    return claim.finding(runs, value, holds, f"{words} {censored([*runs[:copied], *shared])}".strip(), parts)


def _by_size(runs: Sequence[AnyRun], along: str) -> dict[tuple[int, int], list[AnyRun]]:
    """T and d -> the runs of this size, from the least repetition to the most."""
    found: dict[tuple[int, int], list[AnyRun]] = {}
    for run in sorted(runs, key=lambda run: getattr(task_of(run[0]), along)):
        task = task_of(run[0])
        found.setdefault((task.length, task.dimension), []).append(run)
    return found


def _per_doubling(runs: Sequence[AnyRun], along: str) -> np.ndarray:
    """log of the factor by which one doubling shortens the plateau, on average from the first run to the last."""
    first, last = (getattr(task_of(run[0]), along) for run in (runs[0], runs[-1]))
    with np.errstate(divide="ignore", invalid="ignore"):  # a plateau that was over at the first look
        return np.log(plateau(runs[0]) / plateau(runs[-1])) / np.log2(last / first)


@judged
def sharp_and_in_order(claim: Claim, *runs: AnyRun, smooth: bool = False) -> Finding:
    """t(threshold) - t(early) < t(early), and the gain moves for good before attention does, in every run.

    Curves that are `smooth` start at the loss of silence, up to rounding, and are known between their points.
    """
    if any(len(trajectory.times("loss")) < 2 for _, trajectory in runs):
        return claim.not_run("No curves were kept.")
    falls, ordered = [], []
    for settings, trajectory in runs:
        times, loss, attention = trajectory.times("loss"), trajectory["loss"], best_head(trajectory)
        level = EARLY * loss[:, :1].astype(float) if smooth else EARLY * SILENCE
        early = first_at_most(times, loss, level, between=smooth)
        end = plateau((settings, trajectory)) / unit_of(trajectory)
        with np.errstate(divide="ignore", invalid="ignore"):
            falls.append((end - early) / early)
        task = task_of(settings)
        # A transformer also reads where it answers; the toy in coordinates reads nothing.
        uniform = task.copies / (getattr(task, "reads", 0) or task.length)
        moved = for_good(times, attention, uniform + MOVED * (1 - uniform), between=smooth)
        ordered.append(for_good(times, trajectory["gain"], MOVED, between=smooth) < moved)
    fall, order = np.stack(falls, axis=1), np.stack(ordered, axis=1)
    parts = {"sharp": np.all(fall < 1, axis=1), "attention later": np.all(order, axis=1)}
    value = np.where(np.isfinite(fall).all(axis=1), fall.max(axis=1), np.nan)
    made = f"{len(runs)} run{'s' if len(runs) > 1 else ''} with {len(fall)} seeds{' each' if len(runs) > 1 else ''}"
    words = f"{np.sum(fall < 1)} of {fall.size} curves are sharp and {np.sum(order)} in order ({made})."
    return claim.finding(runs, value, np.all(list(parts.values()), axis=0), words, parts)


def best_head(trajectory: Any, name: str = "attention_relevant") -> np.ndarray:
    """The curve of the head that attends most to where it should at the end: (seed, time)."""
    attention = trajectory[name]
    flat = attention.reshape(*attention.shape[:2], -1)
    best = np.argmax(np.nan_to_num(at_end(flat)), axis=1)
    return flat[np.arange(len(flat)), :, best]
