"""Records of the minimal model on the chain -> when its stages begin, cell by cell."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.analysis.seed_stages import boundary_table
from headway.claims.claim import AnyRun
from headway.forecast.question import Question
from headway.presets import MINIMALS

REACHED = 0.8
"""Share of the seeds that must get to a boundary: what most do not reach is known to be late only."""
ENOUGH = 3000
"""Samples from which on more of them make no difference to the first boundary."""


@dataclass(frozen=True)
class Chained:
    """All of a run that a boundary depends on."""

    ratio: float
    base: float
    blocks: int
    size: int
    """Lags of the first block."""
    vocab: int
    positions: int
    """N: that a model reads."""
    rate: float
    scaled: bool
    parting: float = 0.0
    """log(1/u) of scores that start within u; 0 of a start of usual size."""

    @property
    def strength(self) -> float:
        """m_1."""
        return self.base * self.ratio ** (self.blocks - 1)

    @property
    def travels(self) -> tuple[float, float]:
        """Steps that values and scores travel, by theory."""
        width = self.vocab + self.positions
        values = math.sqrt(2 / math.pi) * self.strength / math.sqrt(self.vocab) / self.rate
        return values, math.sqrt(width) * math.log(self.positions) / (4 * self.rate) if self.scaled else 0.0

    @property
    def scales(self) -> tuple[float, float]:
        """log eta and log m_1."""
        return math.log(self.rate), math.log(self.strength)

    @property
    def wide(self) -> float:
        """log(|I(1)| / 2)."""
        return math.log(self.size / 2)

    def terms(self, boundary: int) -> np.ndarray:
        """Of the sum that is t_1; or, of a later boundary, of log(t_i - t_(i-1))."""
        if boundary == 1:
            return np.array([1.0, *self.travels, self.parting])
        return np.array([1.0, math.log(1 / self.rate), math.log(self.ratio), math.log(self.size)])


@dataclass(frozen=True)
class Cells:
    """What was measured of one boundary: runs that differ in nothing that counts are one cell."""

    settings: tuple[Chained, ...]
    logs: np.ndarray
    """log steps from the start, NaN where there is none: (cell, seed)."""
    stage: np.ndarray
    """log steps from the boundary before, or from the start: (cell, seed)."""
    late: int = 0
    """Cells of which too few seeds got there."""

    def without(self, held: Collection[Chained]) -> Cells:
        rows = np.array([each not in held for each in self.settings], bool)
        kept = tuple(each for each in self.settings if each not in held)
        return Cells(kept, self.logs[rows], self.stage[rows])


Ladder = tuple[Cells, ...]
"""Boundary by boundary, from the first."""


def chained(settings: Any) -> Chained | None:
    """What counts of a run; None where it is not the minimal model by Adam on enough samples.

    Nor where blocks are equally strong and scores start small or at zero: nothing but the seed orders the blocks then,
    and the first boundary differs threefold between seeds.
    """
    model, training = getattr(settings, "model", None), getattr(settings, "training", None)
    if model is None or training is None or not hasattr(settings.task, "ratio"):
        return None
    one_hot = (model.embedding, model.positions) == ("one-hot", "one-hot")
    minimal = one_hot and not (model.residual or model.mlp or model.keys or model.output) and model.layers == 1
    usual = training.optimiser == "adamw" and training.schedule in ("constant", "plateau")
    many = training.data == "fresh" or (training.data == "finite" and training.samples >= ENOUGH)
    task = settings.task
    lags = [lag for block in task.blocks for lag in block]
    whole = sorted(lags) == lags == list(range(1, len(lags) + 1)) and task.context is None
    small = model.initialisation == "uniform"
    if not (minimal and usual and many and whole) or (small and (model.scale == 0 or task.ratio == 1)):
        return None
    return Chained(
        task.ratio,
        task.base,
        len(task.blocks),
        len(task.blocks[0]),
        task.vocab,
        task.horizon + len(lags) - 1,
        training.learning_rate,
        model.scaled_scores,
        math.log(1 / model.scale) if small else 0.0,
    )


def measured(runs: Iterable[AnyRun], boundary: int) -> Cells:
    """Every cell with this boundary in most of its seeds."""
    found: dict[Chained, list[np.ndarray]] = {}
    late = set()
    for settings, trajectory in runs:
        own = chained(settings)
        if own is None or "kl_rungs" not in trajectory or own.blocks <= boundary:
            continue
        steps = boundary_table(trajectory)[:, :boundary]
        if np.isfinite(steps[:, -1]).mean() < REACHED:
            late.add(own)
        else:
            found.setdefault(own, []).append(steps)
    keys = sorted(found, key=lambda each: (each.terms(boundary).tolist(), each.parting, each.blocks, each.base))
    tables = [np.concatenate(found[key]) for key in keys]
    logs = np.full((2, len(keys), max(map(len, tables), default=0)), np.nan)
    for place, table in enumerate(tables):
        before = table[:, -2] if boundary > 1 else 0.0
        logs[:, place, : len(table)] = np.log([table[:, -1], table[:, -1] - before])
    return Cells(tuple(keys), *logs, len(late - set(keys)))


def ladder(runs: Sequence[AnyRun], boundaries: int) -> Ladder:
    """The boundaries up to this one."""
    return tuple(measured(runs, boundary) for boundary in range(1, boundaries + 1))


def asked_for(question: Question) -> Chained:
    """The run that a question is about: all else is as the preset has it."""
    preset = MINIMALS[question.preset]()
    lags = sum(map(len, question.blocks))
    return Chained(
        float(question.ratio or 0),
        preset.task.base,
        len(question.blocks),
        len(question.blocks[0]),
        question.vocab or preset.task.vocab,
        preset.task.horizon + lags - 1,
        question.learning_rate or preset.training.learning_rate,
        preset.model.scaled_scores,
        0.0 if question.start is None else math.log(1 / question.start),
    )


def splits(cells: Ladder) -> Iterator[tuple[str, list[set[Chained]]]]:
    """Name -> folds, each the settings to hold back from all boundaries, to predict the last of them."""
    last, everything = cells[-1].settings, {each for some in cells for each in some.settings}
    yield "each cell alone", [{each} for each in last]
    part = np.random.default_rng(0).permutation(len(last)) % 3
    yield "thirds, at random", [{each for each, own in zip(last, part, strict=True) if own == n} for n in range(3)]

    def extreme(name: str, words: str, most: bool = True) -> Iterator[tuple[str, list[set[Chained]]]]:
        values = {getattr(each, name) for each in last}
        if len(values) > 1:
            value = max(values) if most else min(values)
            yield f"{words}, {value:.3g}", [{each for each in everything if getattr(each, name) == value}]

    for name, symbol in (("ratio", "m"), ("size", "|block 1|"), ("parting", "log(1/u)")):
        yield from extreme(name, f"the largest {symbol}")
    yield from extreme("rate", "the smallest rate", most=False)
    counts = [each.blocks for each in last]
    usual = max(sorted(set(counts)), key=counts.count, default=0)
    if len(set(counts)) > 1:
        yield f"blocks other than {usual}", [{each for each in everything if each.blocks != usual}]
