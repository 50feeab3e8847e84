"""T = T_1 / c, c <= 1: the loss plateau of moving-window sums whose attention is multiplied by c.

Adam moves every number at a rate of its own, whatever the gradient is: what reaches the outputs through attention, c
times it, grows c times as fast, and takes 1/c times as long to be as large. So it is as long as attention is what
training waits for; stronger attention soon stops helping, and there is no law of it.

T_1 of a model and its training is all that is fitted, to log(c T) of every c and seed. Seeds are the same for each c,
so that they count, not runs: with S seeds, m values of c, and means over c of each seed, one more run has the variance

    s_s^2 (1 + 1/S) + s_e^2 (1 - 1/m)

s_s^2 that of the seeds' means and s_e^2 that within seeds, which holds what the law misses. The interval is Student's
with S - 1 degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headway.analysis.calibration import COVERAGE
from headway.analysis.laws import slopes
from headway.claims.claim import AnyRun
from headway.claims.loss_plateau import ended
from headway.forecast.answer import Forecast, NotMeasured
from headway.forecast.question import Question
from headway.settings.model import ModelSettings
from headway.tasks.moving_window import MovingWindow


@dataclass(frozen=True)
class Trained:
    """All of a run that its plateau depends on, but for c."""

    task: MovingWindow
    model: ModelSettings
    learning_rate: float
    batch: int
    precision: str


@dataclass(frozen=True)
class Cells:
    """One row for each c, of one way to train."""

    trained: Trained
    factors: np.ndarray
    """c: (cell,)."""
    steps: np.ndarray
    """(cell, seed): infinite where a plateau did not end."""

    def keep(self, rows: np.ndarray) -> Cells:
        return replace(self, factors=self.factors[rows], steps=self.steps[rows])

    @property
    def ended(self) -> np.ndarray:
        """Seeds whose plateau ended with every c: (seed,)."""
        return np.all(np.isfinite(self.steps), axis=0)


def measured(runs: Sequence[AnyRun]) -> list[Cells]:
    """Linear attention on sums, trained whole, c <= 1; the way to train with most c first."""
    groups: dict[tuple[Trained, tuple[int, ...]], dict[float, np.ndarray]] = {}
    for settings, trajectory in runs:
        if _counts(settings):
            own = groups.setdefault((_trained(settings), trajectory.seeds), {})
            own.setdefault(settings.model.emphasis, ended((settings, trajectory)))
    found = [
        Cells(trained, np.array(sorted(own)), np.stack([own[factor] for factor in sorted(own)]))
        for (trained, _), own in groups.items()
    ]
    return sorted(found, key=lambda cells: -len(cells.factors))


def _counts(settings: Any) -> bool:
    whole = not settings.training.frozen and settings.model.attention == "linear" and settings.task.rule == "sums"
    return whole and 0 < settings.model.emphasis <= 1


def _trained(settings: Any) -> Trained:
    plain, training = replace(settings.model, emphasis=1.0), settings.training
    return Trained(settings.task, plain, training.learning_rate, training.batch, training.precision)


def from_strength(question: Question, groups: Sequence[Cells], folders: tuple[str, ...] = ()) -> Forecast:
    """T_1 / c of the model of which most is known, and the interval of one more run."""
    if not groups:
        raise NotMeasured(
            f"there is no record of moving-window in {' and '.join(folders) or 'this folder'}, and no theory of how "
            "long its plateau is. Make some by `headway run loss-plateau --grid paper` (wants a GPU; `--grid quick` is "
            "smaller), or name the folder that has them with --from."
        )
    return told(question, groups[0], folders)


def told(question: Question, cells: Cells, folders: tuple[str, ...] = ()) -> Forecast:
    """From these cells alone."""
    from scipy.special import stdtrit  # takes long to import

    logs = np.log(cells.steps[:, cells.ended] * cells.factors[:, None])
    count, seeds = logs.shape
    if seeds < 2:
        raise NotMeasured("fewer than two seeds have a plateau that ended for every c: too few for an interval.")
    means, factor = logs.mean(axis=0), float(question.strength or 1)
    within = float(np.sum((logs - means) ** 2) / (seeds * (count - 1))) if count > 1 else 0.0
    spread = math.sqrt(float(np.var(means, ddof=1)) * (1 + 1 / seeds) + within * (1 - 1 / count))
    half = float(stdtrit(seeds - 1, (1 + COVERAGE) / 2)) * spread
    trained, rate = cells.trained, cells.trained.learning_rate
    scale = rate / (question.learning_rate or rate)
    middle = float(means.mean()) - math.log(factor)
    task = f"{trained.task.count} numbers modulo {trained.task.modulus}"
    model = f"width {trained.model.width}, Adam {rate:g}, batch {trained.batch}"
    return Forecast(
        question=question,
        learning_rate=rate / scale,
        steps=math.exp(middle) * scale,
        low=math.exp(middle - half) * scale,
        high=math.exp(middle + half) * scale,
        coverage=COVERAGE,
        ends="half of the last drop is done",
        source="law",
        basis=f"{math.exp(means.mean()):.0f} / c{_power(cells)}, of {task}, {model}",
        cells=count,
        seeds=seeds,
        folders=folders,
        closed_form=None,
        published=None,
        published_law="",
        warnings=tuple(_warnings(factor, cells, scale)),
    )


def _power(cells: Cells) -> str:
    """What the power of c would be if it were fitted, where there are two c."""
    if len(cells.factors) < 2:
        return ""
    fitted = slopes(np.log(cells.factors), np.log(cells.steps[:, cells.ended].T))
    return f" (fitted: c^{np.median(fitted):.2f})"


def _warnings(factor: float, cells: Cells, scale: float) -> Iterator[str]:
    least, lost = float(np.min(cells.factors)), int(np.sum(~cells.ended))
    if factor < least:
        yield f"c = {factor:g} was not measured (the records have {least:g} to 1): an extrapolation."
    if scale != 1:
        yield (
            f"The records were made at the learning rate {cells.trained.learning_rate:g}. That Adam's plateaus last "
            "1/rate times as long is an assumption: it was not measured, and the interval leaves it out."
        )
    if lost:
        yield f"{lost} seeds have a plateau that never ended and are left out: the truth is later than predicted."


def splits(cells: Cells) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Name -> folds, each the cells to hold back: (cell,) of bool."""
    if len(cells.factors) < 2:
        return
    yield "each c alone", list(np.eye(len(cells.factors), dtype=bool))
    if cells.factors.max() == 1:
        yield "all c below 1", [cells.factors < 1]


def held_back(cells: Cells, folds: Sequence[np.ndarray]) -> list[tuple[Forecast, np.ndarray]]:
    """(forecast from the other cells, steps of all seeds) of each cell that is held back."""
    return [
        (told(Question("moving-window", strength=float(cells.factors[place])), cells.keep(~held)), cells.steps[place])
        for held in folds
        for place in np.flatnonzero(held)
    ]
