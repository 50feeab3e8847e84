"""How long the plateaus of several runs last: one law a seed, beside a published one.

An exponent counts as found within 0.2 of the published one: over the eight-fold range of a size that moves a plateau
by half. A constant, with the published exponents held, counts as found within a factor of 2: it depends on how models
start, which the slides do not say.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from headway.analysis.crossings import learnt_at
from headway.analysis.power_laws import PowerLaws, fit_power_laws
from headway.claims.claim import AnyRun, Claim
from headway.records import Finding

NEAR = 0.2
"""How far an exponent may be from a published one."""
WITHIN = 2.0
"""By which factor a constant may differ from a published one."""


@dataclass(frozen=True)
class PublishedLaw:
    """plateau = constant x_1^{a_1} x_2^{a_2} .., in steps."""

    constant: float
    exponents: dict[str, float]
    """Name of a factor, a field of the task's settings -> its power."""

    def factors(self, runs: Sequence[tuple[Any, Any]]) -> np.ndarray:
        """x of every run, whatever it measured: (run, factor)."""
        return np.array([[float(getattr(settings.task, name)) for name in self.exponents] for settings, _ in runs])

    def predict(self, runs: Sequence[tuple[Any, Any]]) -> np.ndarray:
        """Steps, (run,), whatever the runs measured."""
        return self.constant * np.prod(self.factors(runs) ** np.array(list(self.exponents.values())), axis=1)

    def fit(self, runs: Sequence[AnyRun]) -> PowerLaws:
        """The law of the same form, seed by seed."""
        return fit_power_laws(self.factors(runs), plateaus(runs))

    def beside_fit(self, runs: Sequence[AnyRun]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What was measured and what the fitted laws say of it, (seed, run), and what this one says, (run,)."""
        return plateaus(runs), self.fit(runs).predict(self.factors(runs)), self.predict(runs)

    def constants(self, runs: Sequence[AnyRun]) -> np.ndarray:
        """The best constant with the published exponents: (seed,), NaN for a seed of which no plateau ended."""
        lasted = plateaus(runs)
        known = lasted > 0
        off = np.log(np.where(known, lasted, 1) / self.predict(runs))
        counted = known.sum(axis=1)
        total = np.sum(np.where(known, off, 0), axis=1)
        return self.constant * np.exp(np.where(counted > 0, total / np.maximum(counted, 1), np.nan))


def plateau(run: AnyRun) -> np.ndarray:
    """The first evaluation at which a run's loss, or its accuracy, has passed its threshold, NaN for never: (seed,)."""
    settings, trajectory = run
    return learnt_at(trajectory, settings.training.threshold)


def ending_at(runs: Sequence[AnyRun], level: float) -> list[AnyRun]:
    """The same runs with plateaus that end at another loss or accuracy."""
    return [(settings.changed(training={"threshold": level}), trajectory) for settings, trajectory in runs]


def plateaus(runs: Sequence[AnyRun]) -> np.ndarray:
    """When the plateau of every seed of every run ended, NaN where it did not: (seed, run)."""
    return np.stack([plateau(run) for run in runs], axis=1)


def ratio_of_ends(lasted: np.ndarray) -> np.ndarray:
    """Longest over shortest of (seed, run), NaN where one never ended or took no time: (seed,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = lasted.max(axis=1) / lasted.min(axis=1)
    return np.where(np.isfinite(ratio), ratio, np.nan)


def judge_exponent(claim: Claim, law: PublishedLaw, runs: Sequence[AnyRun], factor: str) -> Finding:
    """Whether the power of one factor is the published one."""
    place = list(law.exponents).index(factor)
    if len(runs) == 0 or len(np.unique(law.factors(runs)[:, place])) < 2:
        return claim.not_run("It needs runs with two values of this factor.")
    found = law.fit(runs)
    near = np.abs(found.exponents[:, place] - law.exponents[factor]) <= NEAR
    return claim.finding(runs, found.exponents[:, place], near, f"{_in_words(law, found)} {censored(runs)}".strip())


def judge_constant(claim: Claim, law: PublishedLaw, runs: Sequence[AnyRun]) -> Finding:
    """Whether the constant is the published one, given the published exponents."""
    if len(runs) == 0:
        return claim.not_run("No run is of the kind that the law is about.")
    found = law.constants(runs)
    with np.errstate(invalid="ignore"):
        within = np.abs(np.log(found / law.constant)) <= np.log(WITHIN)
    return claim.finding(runs, found, within, censored(runs))


LONGEST = "count as longer than all others"
"""What is done with plateaus that never ended where lengths are compared."""


def rises(runs: Sequence[AnyRun], along: str, beside: Collection[str]) -> np.ndarray | None:
    """Which seeds have strictly longer plateaus at the next larger `along`, wherever `beside` agree: (seed,).

    A plateau that never ended is longer than all that did. None where no two runs can be compared.
    """
    if len(runs) == 0:
        return None
    lasted = np.where(np.isnan(plateaus(runs)), np.inf, plateaus(runs))
    tasks = [settings.task for settings, _ in runs]
    order = sorted(range(len(runs)), key=lambda place: getattr(tasks[place], along))
    steps = []
    for sizes in {tuple(getattr(task, name) for name in beside) for task in tasks}:
        row = [place for place in order if tuple(getattr(tasks[place], name) for name in beside) == sizes]
        steps += [lasted[:, after] > lasted[:, before] for before, after in pairwise(row)]
    return np.all(steps, axis=0) if steps else None


def judge_growth(claim: Claim, runs: Sequence[AnyRun], sizes: dict[str, str], lacking: str) -> Finding:
    """Whether plateaus grow along each of two `sizes`, a field of the task -> its symbol, where the other agrees."""
    grown = {f"grows with {sizes[name]}": rises(runs, name, sizes.keys() - {name}) for name in sizes}
    parts = {part: seeds for part, seeds in grown.items() if seeds is not None}
    if len(parts) < len(grown):
        return claim.not_run(lacking)
    holds = np.all(list(parts.values()), axis=0)
    return claim.finding(runs, ratio_of_ends(plateaus(runs)), holds, censored(runs, LONGEST), parts)


def censored(runs: Sequence[AnyRun], counted: str = "are left out") -> str:
    """How many plateaus never ended, and what was done with them."""
    lasted = plateaus(runs)
    lost = int(np.sum(~np.isfinite(lasted)))
    return f"{lost} of {lasted.size} plateaus never ended and {counted}." if lost else ""


def _in_words(law: PublishedLaw, found: PowerLaws) -> str:
    words = found.in_words(list(law.exponents))
    return f"The plateau is {words} (medians over seeds)." if words else ""
