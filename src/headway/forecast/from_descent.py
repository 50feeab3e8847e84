"""steps = those of descent on all sequences there are, from many random starts: linear attention's drops.

Which start a seed draws is not known before it is trained, and it decides how long a plateau lasts: the forecast is the
median, and the middle 95 %, over starts. Nothing is fitted to records. Where a closed form is known (one drop of merged
heads; the first of separate ones) its median over the same starts stands beside; of merged heads it is the forecast.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from headway.analysis.calibration import COVERAGE
from headway.analysis.dwells import drop_times
from headway.analysis.linear_attention import (
    descend,
    merged_half,
    merged_start,
    noise,
    separate_drops,
    spectrum,
)
from headway.claims.claim import AnyRun
from headway.forecast.answer import Forecast, NotMeasured
from headway.forecast.question import Question

STARTS = 200
"""Random starts."""
LONGEST = 4.0
"""Descent is followed for so many times what the drop takes by its closed form, the median over starts."""
USUAL_RATE = {"separate": 0.02, "merged": 0.001}


def from_descent(question: Question) -> Forecast:
    """The drop that is asked for; `pairs` are summed, as the authors' code does."""
    rate = question.learning_rate or USUAL_RATE[question.keys]
    asked = (question.spectrum, question.pairs or 1, question.heads or 1, question.start or 1.0, rate)
    merged = question.keys == "merged"
    times, closed = _merged(*asked) if merged else _separate(*asked, question.drop)
    own, formula = times[:, question.drop - 1], closed[:, question.drop - 1]
    late = np.where(np.isnan(own), np.inf, own)
    edge = (1 - COVERAGE) / 2
    low, steps, high = np.quantile(late, [edge, 0.5, 1 - edge], method="nearest")
    if not np.isfinite(steps):
        raise NotMeasured("this drop does not come within the simulated time. Ask for an earlier one.")
    how = "a closed form" if merged else "descent on all sequences"
    return Forecast(
        question=question,
        learning_rate=rate,
        steps=float(steps),
        low=float(low),
        high=float(high),
        coverage=COVERAGE,
        ends="half of the drop is done" if merged else f"half of drop {question.drop} is done",
        source="theory",
        basis=f"{how} from {STARTS} random starts",
        cells=0,
        seeds=0,
        folders=(),
        closed_form=float(np.nanmedian(formula)),
        published=None,
        published_law="",
        warnings=("Some starts take longer than was looked: the interval has no upper end.",)
        if not np.isfinite(high)
        else (),
    )


@functools.lru_cache(64)
def _separate(
    ratios: tuple[float, ...], pairs: int, heads: int, start: float, rate: float, drop: int
) -> tuple[np.ndarray, np.ndarray]:
    """Of descent, and of the closed form: (start, drop)."""
    eigenvalues, random, size = spectrum(ratios), np.random.default_rng(0), len(ratios)
    v, k, q = (start * random.normal(size=(STARTS, heads, *more)) for more in ((), (size,), (size,)))
    closed = np.stack(
        [separate_drops(*each, eigenvalues, pairs, 1 / (2 * rate), pairs) for each in zip(v, k, q, strict=True)]
    )
    ends = np.median(closed[:, drop - 1])
    # Steps as long as the flow allows: of a head at its end, 1/2 of the way back is made in one.
    largest = eigenvalues[0]
    ended = (largest * noise(eigenvalues, pairs)[0] * pairs) ** (-1 / 3)
    longer = max(rate, 0.5 / (6 * pairs * largest**2 * ended))
    steps = int(LONGEST * ends * rate / longer)
    times = descend((v, k, q), eigenvalues, pairs, longer, steps, pairs, drop)
    return times * longer / rate, closed


@functools.lru_cache(64)
def _merged(
    ratios: tuple[float, ...], pairs: int, heads: int, start: float, rate: float
) -> tuple[np.ndarray, np.ndarray]:
    """The closed form, twice: it is the forecast."""
    eigenvalues, random, size = spectrum(ratios), np.random.default_rng(0), len(ratios)
    v, matrices = start * random.normal(size=(STARTS, heads)), start * random.normal(size=(STARTS, heads, size, size))
    found = np.array(
        [
            merged_half(merged_start(*each, eigenvalues), eigenvalues, pairs, 1 / (2 * rate), pairs)
            for each in zip(v, matrices, strict=True)
        ]
    )[:, None]
    return found, found


def measured_drops(run: AnyRun) -> np.ndarray:
    """When half of each drop was done, or of the one drop of merged heads: (seed, drop)."""
    settings, trajectory = run
    own = np.asarray(trajectory.facts["rung_loss"], float)
    own = own if settings.task.parts == "separate" else own[:, [0, -1]]
    return drop_times(trajectory.times("loss"), trajectory["loss"], own)


def asked_of(run: AnyRun, drop: int) -> Question | None:
    """The question whose answer a drop of a run is; None where it started or trained otherwise."""
    settings = run[0]
    task, training = settings.task, settings.training
    usual = task.sums and task.rank == 1 and not task.balanced and task.parts in USUAL_RATE
    if not usual:
        return None
    return Question(
        "linear-attention",
        pairs=task.pairs,
        heads=task.heads,
        start=task.start,
        spectrum=task.spectrum,
        keys=task.parts,
        drop=drop,
        learning_rate=training.learning_rate,
    )


def told_and_measured(runs: Sequence[AnyRun]) -> list[tuple[str, Forecast, np.ndarray, float]]:
    """(keys, forecast, steps of all seeds, infinite for those that did not get there, last step) of every drop."""
    found = []
    for run in runs:
        for drop, steps in enumerate(measured_drops(run).T, start=1):
            question = asked_of(run, drop)
            if question is not None and np.isfinite(steps).any():
                try:
                    told, last = from_descent(question), float(run[1].times("loss")[-1])
                    found.append((question.keys, told, np.where(np.isnan(steps), np.inf, steps), last))
                except NotMeasured:
                    continue
    return found
